package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// members of one line that are the same in each run.
func without(line string, from ...string) string {
	for _, name := range from {
		at := strings.Index(line, `"`+name+`":"`)
		if at < 0 {
			continue
		}
		end := at + len(name) + 4 + strings.IndexByte(line[at+len(name)+4:], '"')
		line = line[:at+len(name)+4] + "…" + line[end:]
	}
	return line
}

func TestRecords(t *testing.T) {
	o := options(t.TempDir())
	o.Values = func(capability string) bool { return capability == "notes.find" }
	l := opened(t, o)
	for _, e := range []Event{
		{Execution: "e1", Call: 1, Subject: "oidc:https://id.example#a\nb\xff", Capability: "files.read", Decision: Allowed, Arguments: []byte(`{"path":"x"}`)},
		{Execution: "e1", Call: 1, Subject: "local", Capability: "files.read", Decision: Allowed, Arguments: []byte(`{"path":"x"}`), Outcome: Failed, Error: "capability_failed", Duration: 1500 * time.Microsecond},
		{Execution: "e1", Call: 2, Subject: "local", Decision: Unbound, Error: "invalid_arguments"},
		{Execution: "e1", Call: 3, Subject: "local", Capability: "notes.find", Decision: Allowed, Arguments: []byte(`{"text":"y"}`)},
	} {
		if err := l.Record(context.Background(), e); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, l)
	if err := l.Record(context.Background(), Event{}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	var got []string
	for line := range strings.Lines(text(t, o.Dir)) {
		got = append(got, strings.TrimSuffix(without(line, "time", "log", "prev", "hash"), "\n"))
	}
	k := o.Key.Fingerprint
	if diff := cmp.Diff([]string{
		`{"v":1,"seq":1,"time":"…","event":"open","log":"…","key":"k1","prev":"…","hash":"…"}`,
		`{"v":1,"seq":2,"time":"…","event":"call","execution":"e1","call":1,"subject":"oidc:https://id.example#a\nb` + "\uFFFD" + `","capability":"files.read","decision":"allowed","fingerprint":"` + k("files.read", []byte(`{"path":"x"}`)) + `","prev":"…","hash":"…"}`,
		`{"v":1,"seq":3,"time":"…","event":"outcome","execution":"e1","call":1,"subject":"local","capability":"files.read","decision":"allowed","outcome":"failed","error":"capability_failed","duration_us":1500,"fingerprint":"` + k("files.read", []byte(`{"path":"x"}`)) + `","prev":"…","hash":"…"}`,
		`{"v":1,"seq":4,"time":"…","event":"call","execution":"e1","call":2,"subject":"local","decision":"unbound","error":"invalid_arguments","prev":"…","hash":"…"}`,
		`{"v":1,"seq":5,"time":"…","event":"call","execution":"e1","call":3,"subject":"local","capability":"notes.find","decision":"allowed","fingerprint":"` + k("notes.find", []byte(`{"text":"y"}`)) + `","arguments":{"text":"y"},"prev":"…","hash":"…"}`,
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r, err := verified(t, o.Dir, VerifyOptions{}); err != nil || r.Last != 5 || r.Log != l.ID() {
		t.Errorf("%+v, %v", r, err)
	}
}

// The value is of OpenSSL: printf 'capgen audit fingerprint 1\n10\nfiles.read\n{"path":"x"}'
// | openssl dgst -sha256 -hmac ssssssssssssssssssssssssssssssss.
func TestFingerprint(t *testing.T) {
	k := options("").Key
	if got, want := k.Fingerprint("files.read", []byte(`{"path":"x"}`)), "k1:3e355818c6f5f67c32e72470bf5a7ff4b0492d1db6b7bde4fc093e5f48e16dd3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if k.Fingerprint("files.rea", []byte(`d{"path":"x"}`)) == k.Fingerprint("files.read", []byte(`{"path":"x"}`)) {
		t.Error("id and arguments are not told apart")
	}
}

// No value of an argument is in the files, whatever it is, unless asked for.
func TestNoValueIsWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	value := func() string {
		b := make([]byte, 8+random.IntN(40))
		for i := range b {
			b[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 +-/@."[random.IntN(68)]
		}
		return string(b)
	}
	var values []string
	quiet, open := options(t.TempDir()), options(t.TempDir())
	open.Values = func(string) bool { return true }
	for _, o := range []Options{quiet, open} {
		l := opened(t, o)
		for i := range 300 {
			v, n := value(), fmt.Sprint(1_000_000_000+random.IntN(1_000_000_000))
			values = append(values, v, n)
			e := Event{Execution: "e", Call: i, Subject: "local", Capability: "x.y", Decision: Allowed, Arguments: fmt.Appendf(nil, `{"a":{"b":[%q]},"n":%s}`, v, n)}
			if err := l.Record(context.Background(), e); err != nil {
				t.Fatal(err)
			}
			e.Outcome, e.Error = Failed, "capability_failed"
			if err := l.Record(context.Background(), e); err != nil {
				t.Fatal(err)
			}
		}
		closed(t, l)
	}
	without, with := text(t, quiet.Dir), text(t, open.Dir)
	for i, v := range values {
		if strings.Contains(without, v) {
			t.Errorf("the value %q is in the log", v)
		}
		if i >= 600 && !strings.Contains(with, v) {
			t.Errorf("the value %q is not in the log that asks for it: does this test look?", v)
		}
	}
	long := opened(t, func() Options { o := options(t.TempDir()); o.Values = open.Values; return o }())
	if err := long.Record(context.Background(), Event{Decision: Allowed, Arguments: fmt.Appendf(nil, "%q", strings.Repeat("x", maxArguments))}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text(t, long.options.Dir), "xxxx") {
		t.Error("arguments beyond the bound are written")
	}
}

// A line that a crash has cut anywhere is cut off, and the chain goes on.
func TestTornTail(t *testing.T) {
	whole, _ := written(t, 2)
	kept := len(whole) - 1
	last := whole[kept]
	before := strings.Join(whole[:kept], "")
	for cut := 0; cut < len(last); cut += 1 + len(last)/40 {
		o := options(t.TempDir())
		if err := os.WriteFile(filepath.Join(o.Dir, fileName(1)), []byte(before+last[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		l := opened(t, o)
		calls(t, l, 1, 1)
		closed(t, l)
		got := text(t, o.Dir)
		records := kept + 2 // open, call
		if cut > 0 {
			records++
		}
		if r, err := verified(t, o.Dir, VerifyOptions{}); err != nil || int(r.Last) != records {
			t.Fatalf("cut at %d: %+v, %v", cut, r, err)
		}
		if told := strings.Contains(got, fmt.Sprintf(`"event":"torn","bytes":%d,`, cut)); told != (cut > 0) || !strings.HasPrefix(got, before) {
			t.Errorf("cut at %d: %s", cut, got)
		}
	}
}

// The same in the first line of a file: of the only one, and of a later one.
func TestTornFile(t *testing.T) {
	for _, torn := range []string{"", `{"v":1,"seq"`} {
		o := options(t.TempDir())
		if err := os.WriteFile(filepath.Join(o.Dir, fileName(1)), []byte(torn), 0o600); err != nil {
			t.Fatal(err)
		}
		l := opened(t, o)
		calls(t, l, 1, 1)
		closed(t, l)
		if r, err := verified(t, o.Dir, VerifyOptions{}); err != nil || r.Last != 2 {
			t.Errorf("%q: %+v, %v", torn, r, err)
		}
		if err := os.WriteFile(filepath.Join(o.Dir, fileName(3)), []byte(torn), 0o600); err != nil {
			t.Fatal(err)
		}
		again := opened(t, o)
		calls(t, again, 2, 1)
		closed(t, again)
		if r, err := verified(t, o.Dir, VerifyOptions{}); err != nil || again.ID() != l.ID() || int(r.Last) != 4+min(1, len(torn)) {
			t.Errorf("%q: %+v, %v", torn, r, err)
		}
	}
}

// A log that somebody has changed at its end is not gone on with.
func TestOpenRefuses(t *testing.T) {
	lines, _ := written(t, 2)
	for name, c := range map[string]struct{ text, want string }{
		"a changed record":  {lines[0] + lines[1] + strings.Replace(lines[2], `"call":2`, `"call":3`, 1), "its hash is not of what it says"},
		"no record":         {"hello\n", "it is not a record"},
		"no opening record": {lines[1], "its first record"},
		"one long line":     {strings.Repeat("x", 2*maxLine+1), "it is not a record"},
	} {
		o := options(t.TempDir())
		if err := os.WriteFile(filepath.Join(o.Dir, fileName(1)), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := options(t.TempDir())
	opened(t, o)
	if _, err := Open(o); err == nil || !strings.Contains(err.Error(), "another process writes to") {
		t.Errorf("two at a time: %v", err)
	}
	bad := Options{Dir: "x", Key: Key{ID: "a b"}, MaxFileBytes: 1, SigningKey: "PRIVATE+KEY+secret"}
	_, err := Open(bad)
	for _, want := range []string{"no absolute path", "a key's ID", "MaxFileBytes below", "set both"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: does not say %s", err, want)
		}
	}
	bad = options(t.TempDir())
	bad.SigningKey, bad.Heads = "PRIVATE+KEY+secret", new(signing)
	if _, err := Open(bad); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a wrong key: %v", err)
	}
	bad = options(t.TempDir())
	bad.Key.Secret = bad.Key.Secret[1:]
	if _, err := Open(bad); err == nil || !strings.Contains(err.Error(), "31 bytes") {
		t.Errorf("a short secret: %v", err)
	}
}

func TestConcurrentWriters(t *testing.T) {
	o := options(t.TempDir())
	o.MaxFileBytes = 8 << 10
	s := newSigning(t, "example.com/audit")
	o.SigningKey, o.Heads, o.HeadEvery = s.signer, s, 10
	l := opened(t, o)
	const writers, each = 8, 50
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() { calls(t, l, 1+w*each, each) })
	}
	wait.Wait()
	closed(t, l)
	r, err := verified(t, o.Dir, s.with())
	if err != nil || r.Signed != r.Last {
		t.Fatalf("%+v, %v", r, err)
	}
	all := text(t, o.Dir)
	for i := 1; i <= writers*each; i++ {
		if n := strings.Count(all, fmt.Sprintf(`"call":%d,`, i)); n != 1 {
			t.Errorf("call %d is there %d times", i, n)
		}
	}
}

// The chain goes on across files, and a file that is missing is named.
func TestRotation(t *testing.T) {
	for name, bound := range map[string]func(*Options){
		"by size": func(o *Options) { o.MaxFileBytes = minFileBytes },
		"by age":  func(o *Options) { o.MaxFileAge = 1 },
	} {
		o := options(t.TempDir())
		bound(&o)
		s := newSigning(t, "example.com/audit")
		o.SigningKey, o.Heads = s.signer, s
		o.HeadEvery = 1
		l := opened(t, o)
		calls(t, l, 1, 20)
		closed(t, l)
		files, err := Files(o.Dir)
		if err != nil || len(files) < 4 {
			t.Fatalf("%s: %d files, %v", name, len(files), err)
		}
		if r, err := verified(t, o.Dir, s.with()); err != nil || r.Signed != r.Last {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		var first uint64
		fmt.Sscanf(filepath.Base(files[1]), namePrefix+"%d", &first)
		if err := os.Remove(files[0]); err != nil {
			t.Fatal(err)
		}
		var bad *BadRecord
		if _, err := verified(t, o.Dir, VerifyOptions{}); !errors.As(err, &bad) || bad.Seq != 1 {
			t.Errorf("%s: without the first file: %v", name, err)
		}
		after := s.with()
		after.From = first
		if r, err := verified(t, o.Dir, after); err != nil || r.First != first || r.Signed != r.Last {
			t.Errorf("%s: from the second file: %+v, %v", name, r, err)
		}
		var second uint64
		fmt.Sscanf(filepath.Base(files[2]), namePrefix+"%d", &second)
		if err := os.Remove(files[2]); err != nil {
			t.Fatal(err)
		}
		if _, err := verified(t, o.Dir, VerifyOptions{From: first}); !errors.As(err, &bad) || bad.Seq != second {
			t.Errorf("%s: without the third file: %v", name, err)
		}
	}
}

// Keys change between two starts. Heads of the old one still count for whoever
// has its verifier key.
func TestKeyRotation(t *testing.T) {
	o := options(t.TempDir())
	before, after := newSigning(t, "example.com/before"), newSigning(t, "example.com/after")
	o.SigningKey, o.Heads = before.signer, before
	l := opened(t, o)
	calls(t, l, 1, 3)
	closed(t, l)
	o.Key = Key{ID: "k2", Secret: bytes.Repeat([]byte("z"), 40)}
	o.SigningKey, o.Heads = after.signer, after
	l = opened(t, o)
	calls(t, l, 4, 3)
	closed(t, l)
	all := text(t, o.Dir)
	if strings.Count(all, `"fingerprint":"k1:`) != 3 || strings.Count(all, `"fingerprint":"k2:`) != 3 {
		t.Error(all)
	}
	heads := before.heads.String() + after.heads.String()
	for name, c := range map[string]struct {
		keys               []string
		signed, unreadable int
	}{
		"both keys":     {[]string{before.verifier, after.verifier}, 8, 0},
		"the new one":   {[]string{after.verifier}, 8, 1},
		"the old one":   {[]string{before.verifier}, 4, 1},
		"and a foreign": {[]string{newSigning(t, "example.com/x").verifier, before.verifier}, 4, 1},
	} {
		r, err := verified(t, o.Dir, VerifyOptions{Heads: strings.NewReader(heads), Keys: c.keys})
		if err != nil || r.Last != 8 || int(r.Signed) != c.signed || r.Unreadable != c.unreadable {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// A head comes after HeadEvery records and, where there are new ones, after
// HeadInterval; one that its sink has lost is made up for by the next.
func TestHeads(t *testing.T) {
	for name, c := range map[string]func(*Options){
		"after so many": func(o *Options) { o.HeadEvery = 3 },
		"after a time":  func(o *Options) { o.HeadInterval = time.Millisecond },
	} {
		o := options(t.TempDir())
		s := newSigning(t, "example.com/audit")
		failing := &failingHeads{to: s}
		o.SigningKey, o.Heads = s.signer, failing
		c(&o)
		l := opened(t, o)
		calls(t, l, 1, 3)
		eventually(t, name+": a head that fails", func() bool { return failing.failed() })
		calls(t, l, 4, 3)
		eventually(t, name+": a head", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.heads.Len() > 0 })
		if r, err := verified(t, o.Dir, s.with()); err != nil || r.Signed < 5 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// failingHeads loses the first head.
type failingHeads struct {
	to   HeadSink
	mu   sync.Mutex
	lost bool
}

func (f *failingHeads) failed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lost
}

func (f *failingHeads) Head(ctx context.Context, signed []byte) error {
	if !f.failed() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.lost = true
		return errors.New("the place is not there")
	}
	return f.to.Head(ctx, signed)
}

func TestHeadFile(t *testing.T) {
	o := options(t.TempDir())
	s := newSigning(t, "example.com/audit")
	path := filepath.Join(t.TempDir(), "heads")
	o.SigningKey, o.Heads = s.signer, HeadFile(path)
	for i := range 3 {
		l := opened(t, o)
		calls(t, l, i, 1)
		closed(t, l)
	}
	heads, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer heads.Close()
	if r, err := verified(t, o.Dir, VerifyOptions{Heads: heads, Keys: []string{s.verifier}}); err != nil || r.Signed != 6 || r.Unreadable != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// brittle is a file on a disk that may be full, or worse.
type brittle struct {
	file
	room                 int // bytes that still fit; negative is any number
	truncateErr, syncErr error
}

func (b *brittle) Write(p []byte) (int, error) {
	if b.room < 0 || len(p) <= b.room {
		b.room -= min(max(b.room, 0), len(p))
		return b.file.Write(p)
	}
	n, err := b.file.Write(p[:b.room])
	b.room = 0
	return n, errors.Join(err, syscall.ENOSPC)
}

func (b *brittle) Truncate(size int64) error {
	if b.truncateErr != nil {
		return b.truncateErr
	}
	return b.file.Truncate(size)
}

func (b *brittle) Sync() error {
	if b.syncErr != nil {
		return b.syncErr
	}
	return b.file.Sync()
}

func onBrittle(t *testing.T, o Options) (*Log, *brittle) {
	t.Helper()
	b := &brittle{room: -1}
	l, err := openWith(o, func(path string, isNew bool) (file, error) {
		f, err := openFile(path, isNew)
		b.file = f
		return b, err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, b
}

// On a full disk nothing is recorded and nothing is allowed, however much of a
// line still fits; when there is room again, the chain goes on.
func TestFullDisk(t *testing.T) {
	for _, room := range []int{0, 1, 100, 300} {
		o := options(t.TempDir())
		l, disk := onBrittle(t, o)
		calls(t, l, 1, 2)
		disk.room = room
		for range 3 {
			if err := l.Record(context.Background(), Event{Execution: strings.Repeat("e", 200), Decision: Allowed}); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("room for %d bytes: %v", room, err)
			}
		}
		if r, err := verified(t, o.Dir, VerifyOptions{}); err != nil || r.Last != 3 {
			t.Errorf("room for %d bytes: %+v, %v", room, r, err)
		}
		disk.room = -1
		calls(t, l, 3, 2)
		closed(t, l)
		if r, err := verified(t, o.Dir, VerifyOptions{}); err != nil || r.Last != 5 || strings.Contains(text(t, o.Dir), eventLost) {
			t.Errorf("room for %d bytes: %+v, %v", room, r, err)
		}
	}
}

// When the clock steps, the times of records do, and nothing else: order,
// files and check are of the numbers, over a restart too.
func TestClockSteps(t *testing.T) {
	o := options(t.TempDir())
	o.MaxFileBytes = 2000
	first := 1
	for _, steps := range [][]time.Duration{{0, time.Hour}, {-48 * time.Hour, 1000 * time.Hour}} {
		l := opened(t, o)
		for _, step := range steps {
			l.mu.Lock()
			l.now = func() time.Time { return time.Now().Add(step) }
			l.mu.Unlock()
			calls(t, l, first, 10)
			first += 10
		}
		closed(t, l)
	}
	files, err := Files(o.Dir)
	if err != nil || len(files) < 3 {
		t.Errorf("%d files, %v", len(files), err)
	}
	r, err := verified(t, o.Dir, VerifyOptions{})
	if err != nil || r.Last < 41 {
		t.Errorf("%+v, %v", r, err)
	}
	back, before := 0, ""
	for line := range strings.Lines(text(t, o.Dir)) {
		_, rest, _ := strings.Cut(line, `"time":"`)
		at, _, _ := strings.Cut(rest, `"`)
		if at < before {
			back++
		}
		before = at
	}
	if back == 0 {
		t.Error("no record has an earlier time than the one before: the clock did not step")
	}
}

// A host that would rather go on is told how many events are missing.
func TestFullDiskAndContinue(t *testing.T) {
	o := options(t.TempDir())
	o.Continue = true
	l, disk := onBrittle(t, o)
	calls(t, l, 1, 1)
	disk.room = 10
	calls(t, l, 2, 5)
	disk.room = -1
	calls(t, l, 7, 1)
	closed(t, l)
	if r, err := verified(t, o.Dir, VerifyOptions{}); err != nil || r.Last != 4 || !strings.Contains(text(t, o.Dir), `"seq":3,`) || !strings.Contains(text(t, o.Dir), `"event":"lost","events":5,`) {
		t.Errorf("%+v, %v: %s", r, err, text(t, o.Dir))
	}
}

// A disk that cannot take a line back, or says that it has lost some, gets no
// more records.
func TestBrokenDisk(t *testing.T) {
	broken := errors.New("input/output error")
	o := options(t.TempDir())
	l, disk := onBrittle(t, o)
	disk.room, disk.truncateErr = 10, broken
	for range 2 {
		if err := l.Record(context.Background(), Event{Decision: Allowed}); !errors.Is(err, broken) {
			t.Error(err)
		}
		disk.room, disk.truncateErr = -1, nil
	}
	if err := l.Close(); !errors.Is(err, broken) {
		t.Error(err)
	}
	again := opened(t, o) // it knows what to do with the rest of a line
	calls(t, again, 1, 1)

	o = options(t.TempDir())
	o.SyncEach = true
	l, disk = onBrittle(t, o)
	calls(t, l, 1, 1)
	disk.syncErr = broken
	for range 2 {
		if err := l.Record(context.Background(), Event{Decision: Allowed}); !errors.Is(err, broken) {
			t.Error(err)
		}
		disk.syncErr = nil
	}
}
