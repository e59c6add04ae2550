package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A file that appears after the look for conflicts is not overwritten, and not
// taken back either; a link in the folder leads nowhere else.
func TestSiteKeepsWhatOthersMade(t *testing.T) {
	dir := t.TempDir()
	outside := t.TempDir()
	for name, text := range map[string]string{"b.txt": "theirs"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	for _, c := range []struct {
		files map[string][]byte
		want  error
	}{
		{map[string][]byte{"a/a.txt": nil, "b.txt": []byte("ours")}, fs.ErrExist},
		{map[string][]byte{"a/a.txt": nil, "link/x.txt": nil}, nil},
	} {
		s, err := (&tool{dir: dir}).openSite(".")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.write(context.Background(), c.files); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("write: %v, want %v", err, c.want)
		}
		if left := s.undo(); len(left) > 0 {
			t.Errorf("left %v", left)
		}
		s.close()
	}
	if text, err := os.ReadFile(filepath.Join(dir, "b.txt")); err != nil || string(text) != "theirs" {
		t.Errorf("b.txt: %q, %v", text, err)
	}
	for d, want := range map[string]int{dir: 2, outside: 0} {
		if entries, err := os.ReadDir(d); err != nil || len(entries) != want {
			t.Errorf("%v, %v; want %d entries", entries, err, want)
		}
	}
}

// An interrupt between two files leaves none.
func TestSiteInterrupted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "deep")
	s, err := (&tool{dir: "."}).openSite(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.write(ctx, map[string][]byte{"a": nil}); !errors.Is(err, context.Canceled) || len(s.files) > 0 {
		t.Errorf("%v, made %v", err, s.files)
	}
	s.undo()
	if _, err := os.Stat(filepath.Dir(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder above is still there: %v", err)
	}
}
