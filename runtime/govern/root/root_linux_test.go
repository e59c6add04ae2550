package root

import (
	"context"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var soak = flag.Bool("soak", false, "flip links for a minute")

// outside is what no root may give out.
const outside = "outside"

// prepare makes a root and a directory beside it.
func prepare(t testing.TB) (d Dir, inner, outer string) {
	t.Helper()
	base := t.TempDir()
	inner, outer = filepath.Join(base, "in"), filepath.Join(base, "out")
	for _, p := range []string{inner, outer} {
		if err := os.Mkdir(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outer, "f"), []byte(outside), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := Open(inner)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, inner, outer
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestConfined(t *testing.T) {
	d, inner, outer := prepare(t)
	at := func(name string) string { return filepath.Join(inner, name) }
	must(t, os.Symlink(filepath.Join(outer, "f"), at("link")))
	must(t, os.Symlink(outer, at("dirlink")))
	must(t, os.WriteFile(at("plain"), []byte("x"), 0o644))
	must(t, os.Symlink("plain", at("inner")))
	must(t, os.Link(filepath.Join(outer, "f"), at("hard")))
	must(t, unix.Mkfifo(at("pipe"), 0o644))
	must(t, os.Mkdir(at("sub"), 0o755))
	magic := "/proc/self/cwd"
	must(t, os.Symlink(magic, at("magic")))

	for name, open := range map[string]func() (io.Closer, error){
		"a link to a file":       func() (io.Closer, error) { return d.Open("link") },
		"a link within the root": func() (io.Closer, error) { return d.Open("inner") },
		"a link to a directory":  func() (io.Closer, error) { return d.Sub("dirlink") },
		"a magic link":           func() (io.Closer, error) { return d.Sub("magic") },
		"a second name":          func() (io.Closer, error) { return d.Open("hard") },
		"a pipe":                 func() (io.Closer, error) { return d.Open("pipe") },
		"a directory as a file":  func() (io.Closer, error) { return d.Open("sub") },
		"a file as a directory":  func() (io.Closer, error) { return d.Sub("plain") },
	} {
		if c, err := open(); !errors.Is(err, ErrConfined) {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	// A link in the way of a new file is not written through.
	if _, err := d.Create("link", 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created through a link: %v", err)
	}
	if _, err := d.Make("dirlink", 0o700); !errors.Is(err, fs.ErrExist) {
		t.Errorf("made through a link: %v", err)
	}
	for _, name := range []string{"", ".", "..", "../out", "a/b", "/etc", `a\b`, "a\x00b", "e\u0301", "\u202ea", strings.Repeat("x", 256)} {
		if _, err := d.Open(name); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the name %q: %v", name, err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(outer, "f")); err != nil || string(got) != outside {
		t.Errorf("outside: %q, %v", got, err)
	}
}

func TestMountPoint(t *testing.T) {
	d, inner, outer := prepare(t)
	point := filepath.Join(inner, "mounted")
	must(t, os.Mkdir(point, 0o755))
	if err := unix.Mount(outer, point, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	defer unix.Unmount(point, unix.MNT_DETACH)
	if s, err := d.Sub("mounted"); !errors.Is(err, ErrConfined) {
		t.Errorf("%v, %v", s, err)
	}
}

// TestFlipper: a component that turns into a link and back, all the time, never
// leads outside.
func TestFlipper(t *testing.T) {
	d, inner, outer := prepare(t)
	a, b := filepath.Join(inner, "a"), filepath.Join(inner, "b")
	must(t, os.Mkdir(a, 0o755))
	must(t, os.WriteFile(filepath.Join(a, "f"), []byte("inside"), 0o644))
	must(t, os.Symlink(outer, b))
	rounds := 3_000
	if *soak {
		rounds = 1_000_000
	}
	var flips sync.WaitGroup
	stop := make(chan struct{})
	flips.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
			}
		}
	})
	inside, refused := 0, 0
	// On a busy machine one of the two may not come to its turn for a while.
	patience := time.Now().Add(20 * time.Second)
	for n := 0; n < rounds || (inside == 0 || refused == 0) && time.Now().Before(patience); n++ {
		s, err := d.Sub("a")
		if err != nil {
			refused++
			continue
		}
		if f, err := s.Open("f"); err == nil {
			content, _ := io.ReadAll(f)
			if string(content) != "inside" {
				t.Errorf("read %q", content)
			}
			inside++
			f.Close()
		}
		if f, err := s.Create("new", 0o600); err == nil {
			f.Close()
			s.Remove("new")
		}
		s.Close()
	}
	close(stop)
	flips.Wait()
	if _, err := os.Lstat(filepath.Join(outer, "new")); err == nil {
		t.Error("written outside")
	}
	if inside == 0 || refused == 0 {
		t.Errorf("the flipper met nobody: %d inside, %d refused", inside, refused)
	}
}

func TestDir(t *testing.T) {
	d, inner, _ := prepare(t)
	s, err := d.Make("s", 0o750)
	must(t, err)
	defer s.Close()
	f, err := s.Create("f", 0o600)
	must(t, err)
	_, err = f.Write([]byte("content"))
	must(t, errors.Join(err, f.SetMode(0o640), f.Sync(), f.Close(), s.Sync()))
	entries, err := s.Entries(1)
	if err != nil || len(entries) != 1 || entries[0] != (Entry{Name: "f", Kind: File, Mode: 0o640, Size: 7, Links: 1}) {
		t.Errorf("%+v, %v", entries, err)
	}
	if again, err := s.Entries(1); err != nil || len(again) != 1 {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	must(t, os.WriteFile(filepath.Join(inner, "s", "g"), nil, 0o600))
	if _, err := s.Entries(1); !errors.Is(err, ErrTooMany) {
		t.Errorf("two names of one: %v", err)
	}
	if err := s.Move("f", "g"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("moved over a name: %v", err)
	}
	must(t, s.Exchange("f", "g"))
	if e, err := s.Lookup("f"); err != nil || e.Size != 0 {
		t.Errorf("exchanged: %+v, %v", e, err)
	}
	must(t, s.Move("g", "h"))
	if err := d.Remove("s"); err == nil {
		t.Error("removed a directory that is not empty")
	}
	must(t, errors.Join(s.Remove("f"), s.Remove("h"), d.Remove("s")))
	if _, err := d.Lookup("s"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
}

func TestLock(t *testing.T) {
	d, inner, _ := prepare(t)
	other, err := Open(inner)
	must(t, err)
	defer other.Close()
	unlock, err := d.Lock(t.Context())
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := other.Lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("two hold it: %v", err)
	}
	unlock()
	unlock, err = other.Lock(t.Context())
	must(t, err)
	unlock()
}

func TestErrorsHoldNoPath(t *testing.T) {
	d, inner, _ := prepare(t)
	for _, err := range []error{
		func() error { _, err := d.Open("none"); return err }(),
		func() error { _, err := d.Sub("none"); return err }(),
		d.Remove("none"), d.Move("none", "other"),
	} {
		if err == nil || strings.Contains(err.Error(), inner) {
			t.Errorf("%v", err)
		}
	}
}

// TestLease: who has a lease on a file of its own has nobody wait for it who opens
// it.
func TestLease(t *testing.T) {
	dir := t.TempDir()
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	f, err := os.Create(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skip("no leases here: ", err)
	}
	opened := make(chan error, 1)
	go func() {
		h, err := d.Open("f")
		if err == nil {
			h.Close()
		}
		opened <- err
	}()
	select {
	case err := <-opened:
		if !errors.Is(err, unix.EAGAIN) {
			t.Errorf("%v", err)
		}
	case <-time.After(10 * time.Second):
		unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
		t.Errorf("it waits: %v", <-opened)
	}
}
