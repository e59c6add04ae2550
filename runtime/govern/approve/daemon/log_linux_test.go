package daemon

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/plan"
)

// entries are one of each kind.
func entries(t *testing.T) []entry {
	p, body := aPlan(1)
	other, _ := aPlan(2)
	envelope, err := approve.Sign(bg, memoryKey(1), statement(p, body))
	must(t, err)
	return []entry{
		{at: noon.Wall, uid: 7, envelope: envelope},
		{at: noon.Wall, uid: 8, nonce: [16]byte{9}, plan: other.ID},
		{at: noon.Wall, uid: 8, plan: other.ID, landing: begun},
		{at: noon.Wall, uid: 8, plan: other.ID, landing: ended},
	}
}

func open(t *testing.T, path string) *Log {
	t.Helper()
	l, err := OpenLog(path)
	must(t, err)
	return l
}

// Wherever a crash cuts the last entry off, those before stay, and more can
// follow.
func TestTornEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	p, _ := aPlan(1)
	l := open(t, path)
	es := entries(t)
	must(t, l.keep(es[0], p.ID, noon.Wall))
	whole := l.size
	must(t, l.spend(es[1]))
	must(t, l.Close())
	text, err := os.ReadFile(path)
	must(t, err)
	for cut := whole; cut < int64(len(text)); cut++ {
		must(t, os.WriteFile(path, text[:cut], 0o600))
		l := open(t, path)
		if len(l.envelopes(p.ID)) != 1 || len(l.spent) != 0 {
			t.Fatalf("cut at %d, it has %d and %d", cut, len(l.envelopes(p.ID)), len(l.spent))
		}
		must(t, l.spend(es[1]))
		must(t, l.Close())
		if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, text) {
			t.Fatalf("cut at %d and gone on, it is %q, %v", cut, again, err)
		}
	}
}

// What is not an entry, and is not the end, is not passed over: an entry that was
// lost would arm an approval again.
func TestAlteredLogsDoNotOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	p, _ := aPlan(1)
	l := open(t, path)
	es := entries(t)
	must(t, l.keep(es[0], p.ID, noon.Wall))
	must(t, l.spend(es[1]))
	must(t, l.Close())
	text, err := os.ReadFile(path)
	must(t, err)
	first, second, _ := strings.Cut(string(text), "\n")
	for name, bad := range map[string]string{
		"junk":      "junk\n" + string(text),
		"empty":     "\n" + string(text),
		"space":     first + " \n" + second,
		"cut":       first[:len(first)-1] + "\n" + second,
		"envelope":  strings.Replace(first, `"envelope":"ey`, `"envelope":"fy`, 1) + "\n" + second,
		"neither":   first + "\n" + strings.Replace(second, `"plan":"plan_`, `"plan":"x`, 1),
		"both":      first + "\n" + strings.Replace(second, `"nonce"`, `"envelope":"e30=","nonce"`, 1),
		"unknown":   first + "\n" + strings.Replace(second, `"uid"`, `"u":1,"uid"`, 1),
		"long":      strings.Repeat("x", maxLine+1) + "\n" + string(text),
		"long, end": string(text) + strings.Repeat("x", maxLine+1),
	} {
		must(t, os.WriteFile(path, []byte(bad), 0o600))
		if l, err := OpenLog(path); err == nil {
			l.Close()
			t.Errorf("%s: it opens", name)
		}
	}
}

func TestOpenLogRefuses(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string) string{
		"read by others": func(t *testing.T, path string) string { must(t, os.Chmod(path, 0o640)); return path },
		"link":           func(t *testing.T, path string) string { must(t, os.Symlink(path, path+"l")); return path + "l" },
		"second name":    func(t *testing.T, path string) string { must(t, os.Link(path, path+"l")); return path },
		"directory":      func(t *testing.T, path string) string { return filepath.Dir(path) },
		"in use": func(t *testing.T, path string) string {
			l := open(t, path)
			t.Cleanup(func() { l.Close() })
			return path
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			must(t, open(t, path).Close())
			if l, err := OpenLog(spoil(t, path)); err == nil {
				l.Close()
				t.Error("it opens")
			}
		})
	}
}

// failing is a file that fails where told to, by name and number of calls.
type failing struct {
	file
	at    string
	after int
	part  int // of what is written, in bytes
}

var errDisk = errors.New("disk")

func (f *failing) fails(what string) bool {
	if f.at != what {
		return false
	}
	f.after--
	return f.after < 0
}

func (f *failing) Write(b []byte) (int, error) {
	if f.fails("write") {
		n, _ := f.file.Write(b[:f.part])
		return n, errDisk
	}
	return f.file.Write(b)
}

func (f *failing) Sync() error {
	if f.fails("sync") {
		return errDisk
	}
	return f.file.Sync()
}

func (f *failing) Truncate(size int64) error {
	if f.fails("truncate") {
		return errDisk
	}
	return f.file.Truncate(size)
}

// Nothing counts that is not durable: an approval that could not be recorded as
// spent is not spent, and an envelope not made.
func TestDisksFail(t *testing.T) {
	for _, at := range []string{"write", "sync"} {
		path := filepath.Join(t.TempDir(), "log")
		p, _ := aPlan(1)
		l := open(t, path)
		es := entries(t)
		l.file = &failing{file: l.file, at: at, part: 10}
		if err := l.spend(es[1]); !errors.Is(err, errDisk) {
			t.Errorf("%s: spent: %v", at, err)
		}
		if err := l.keep(es[0], p.ID, noon.Wall); !errors.Is(err, errDisk) && !errors.Is(err, errBroken) {
			t.Errorf("%s: kept: %v", at, err)
		}
		if len(l.spent) != 0 || l.envelopes(p.ID) != nil {
			t.Errorf("%s: it counts", at)
		}
		must(t, l.Close())
		// The disk has recovered.
		l = open(t, path)
		if len(l.spent) != 0 || l.envelopes(p.ID) != nil || l.size != 0 {
			t.Errorf("%s: it counts after a start", at)
		}
		must(t, l.spend(es[1]))
		must(t, l.Close())
	}
}

func TestLogIsBounded(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "log"))
	defer l.Close()
	p, _ := aPlan(1)
	e := entries(t)[0]
	for range MaxOfOnePlan {
		must(t, l.take(e))
	}
	if err := l.keep(e, p.ID, noon.Wall); !errors.Is(err, errFull) {
		t.Errorf("one more of a plan: %v", err)
	}
	for range MaxKept - MaxOfOnePlan {
		must(t, l.take(e))
	}
	other, _ := aPlan(3)
	if err := l.keep(e, other.ID, noon.Wall); !errors.Is(err, errFull) {
		t.Errorf("one more of another plan: %v", err)
	}
	if err := l.keep(e, other.ID, noon.Wall.Add(plan.MaxTTL+time.Hour)); err != nil || l.keeps != 1 {
		t.Errorf("when those are long over: %v, it keeps %d", err, l.keeps)
	}
	l.size = MaxLogBytes
	if err := l.spend(entries(t)[1]); !errors.Is(err, errFull) {
		t.Errorf("in a long file: %v", err)
	}
}

// Once the landing of a plan has begun nothing is spent on it any more, on what
// has ended it does not begin again, and the next daemon knows as much.
func TestLandings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	es := entries(t)
	spend, begin, end := es[1], es[2], es[3]
	refused := func(l *Log, spending, beginning bool) {
		t.Helper()
		other := spend
		other.nonce = [16]byte{10}
		for _, e := range []entry{spend, other} {
			if err := l.spend(e); errors.Is(err, approve.ErrSpent) != spending {
				t.Errorf("spend: %v", err)
			}
		}
		if beginning {
			if err := l.mark(begin); !errors.Is(err, approve.ErrSpent) {
				t.Errorf("begin: %v", err)
			}
		}
		if err := l.keep(es[0], spend.plan, noon.Wall); !errors.Is(err, approve.ErrSpent) {
			t.Errorf("it is approved again: %v", err)
		}
	}
	l := open(t, path)
	if err := l.mark(begin); !errors.Is(err, approve.ErrUnspent) {
		t.Errorf("begin, with nothing spent: %v", err)
	}
	known, _ := aPlan(4)
	must(t, l.mark(entry{at: noon.Wall, uid: 8, plan: known.ID, landing: ended})) // of a landing that is older than the log
	refused(l, false, false)
	must(t, l.Close())
	l = open(t, path)
	for range 2 {
		must(t, l.mark(begin))
	}
	refused(l, true, false)
	must(t, l.Close())
	l = open(t, path)
	refused(l, true, false)
	must(t, l.mark(begin))
	for range 2 {
		must(t, l.mark(end))
	}
	refused(l, true, true)
	must(t, l.Close())
	l = open(t, path)
	refused(l, true, true)
	must(t, l.Close())
	text, err := os.ReadFile(path)
	must(t, err)
	for old, bad := range map[string]string{"begun": "began", `"landing":"ended","plan"`: `"landing":"ended","nonce":"` + strings.Repeat("0", 32) + `","plan"`, `"landing":"begun","plan":"p`: `"landing":"begun","plan":"q`} {
		must(t, os.WriteFile(path, []byte(strings.Replace(string(text), old, bad, 1)), 0o600))
		if l, err := OpenLog(path); err == nil {
			l.Close()
			t.Errorf("%s is an entry", bad)
		}
	}
}
