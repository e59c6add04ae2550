package cas_test

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/fault"
	"github.com/capgen/capgen/runtime/govern/root"
)

func TestPutGet(t *testing.T) {
	s := cas.New(fault.NewDisk().Root())
	d, err := s.Put([]byte("content"))
	if err != nil || d != cas.Of([]byte("content")) {
		t.Fatal(d, err)
	}
	if again, err := s.Put([]byte("content")); err != nil || again != d {
		t.Error(again, err)
	}
	if got, err := s.Get(d, 7); err != nil || string(got) != "content" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := s.Get(d, 6); err == nil {
		t.Error("longer than was asked for")
	}
	if _, err := s.Get(cas.Of(nil), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if empty, err := s.Put(nil); err != nil {
		t.Error(err)
	} else if got, err := s.Get(empty, 0); err != nil || len(got) != 0 {
		t.Errorf("%q, %v", got, err)
	}
}

// TestPowerLoss: what Put gave a digest for is there after any loss of power,
// and what is there has its digest or is found out.
func TestPowerLoss(t *testing.T) {
	content := []byte("content of some length")
	for n := 1; ; n++ {
		disk := fault.NewDisk()
		disk.StopAt(n)
		d, err := cas.New(disk.Root()).Put(content)
		for after := range disk.Crashes() {
			s := cas.New(after.Root())
			got, gone := s.Get(cas.Of(content), 100)
			if err == nil && gone != nil {
				t.Fatalf("put %s, and then: %v", d, gone)
			}
			if gone == nil && !bytes.Equal(got, content) {
				t.Fatalf("stopped at step %d: %q", n, got)
			}
			if _, err := s.Put(content); err != nil {
				t.Fatalf("stopped at step %d, once more: %v", n, err)
			}
		}
		if err == nil {
			if n < 5 {
				t.Errorf("%d steps", n)
			}
			return
		}
	}
}

// TestEverySyncIsNeeded: without any one of its syncs an object does not survive.
func TestEverySyncIsNeeded(t *testing.T) {
	for lie := 1; lie <= 2; lie++ {
		disk := fault.NewDisk()
		disk.LieAt(lie)
		s := cas.New(disk.Root())
		d, err := s.Put([]byte("content"))
		if err != nil || disk.Syncs() != 2 {
			t.Fatal(disk.Syncs(), err)
		}
		survives := true
		for after := range disk.Crashes() {
			_, err := cas.New(after.Root()).Get(d, 100)
			survives = survives && err == nil
		}
		if survives {
			t.Errorf("sync %d may as well be left out", lie)
		}
	}
}

func TestCorrupt(t *testing.T) {
	dir := fault.NewDisk().Root()
	s := cas.New(dir)
	d, err := s.Put([]byte("content"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(d, 6); !errors.Is(err, cas.ErrLarge) {
		t.Error(err)
	}
	spoil(t, dir, d.String(), "contemt")
	if _, err := s.Get(d, 100); !errors.Is(err, cas.ErrCorrupt) {
		t.Fatal(err)
	}
	// Putting it again mends it.
	if _, err := s.Put([]byte("content")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(d, 100); err != nil {
		t.Error(err)
	}
}

func spoil(t *testing.T, dir root.Dir, name, content string) {
	t.Helper()
	if err := dir.Remove(name); err != nil {
		t.Fatal(err)
	}
	f, err := dir.Create(name, 0o600)
	if err == nil {
		_, err = f.Write([]byte(content))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestSweep(t *testing.T) {
	dir := fault.NewDisk().Root()
	s := cas.New(dir)
	kept, _ := s.Put([]byte("kept"))
	gone, _ := s.Put([]byte("gone"))
	for _, name := range []string{"begun-left", "not an object"} {
		if _, err := dir.Create(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := s.Sweep(func(d cas.Digest) bool { return d == kept })
	if err != nil || removed != 2 {
		t.Fatal(removed, err)
	}
	if _, err := s.Get(kept, 100); err != nil {
		t.Error(err)
	}
	if _, err := s.Get(gone, 100); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := dir.Lookup("not an object"); err != nil {
		t.Error("removed what is no object:", err)
	}
}

func TestParseDigest(t *testing.T) {
	d := cas.Of([]byte("x"))
	if got, err := cas.ParseDigest(d.String()); err != nil || got != d {
		t.Error(got, err)
	}
	for _, s := range []string{"", "00", strings.ToUpper(d.String()), d.String() + "00", "../" + d.String()[3:], strings.Repeat("g", 64)} {
		if _, err := cas.ParseDigest(s); err == nil {
			t.Errorf("taken: %q", s)
		}
	}
}
