package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/store/storetest"
)

// nobody is the account that may only read.
const nobody = 65534

// TestReaderLeavesNothing: another account, whose group may read the directory,
// lists plans; nothing in the directory is another byte, name or time then.
func TestReaderLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	asNobody := func(do func()) { do() }
	if os.Getuid() == 0 {
		if err := errors.Join(os.Chown(dir, -1, nobody), os.Chmod(dir, 0o750|fs.ModeSetgid), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
			t.Fatal(err)
		}
		asNobody = func(do func()) { filesAs(t, do) }
	} else {
		t.Log("not root: the reader is the same account")
	}
	s, err := Open(t.Context(), dir, store.Options{AuditKey: storetest.Key()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := add(t.Context(), s, 1); err != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	asNobody(func() {
		if os.Getuid() == 0 {
			if f, err := os.OpenFile(filepath.Join(dir, FileName), os.O_RDWR, 0); !errors.Is(err, fs.ErrPermission) {
				t.Errorf("the reader opened the store to write: %v", err)
				f.Close()
			}
			if _, err := Open(t.Context(), dir, store.Options{AuditKey: storetest.Key()}); err == nil {
				t.Error("the reader opened the store as its owner does")
			}
		}
		r, err := OpenReadOnly(t.Context(), dir)
		if err != nil {
			t.Errorf("the reader: %v", err)
			return
		}
		defer r.Close()
		if err := r.View(t.Context(), func(tx *store.Tx) error {
			list, err := tx.Plans(store.Filter{Everyone: true})
			if len(list) != 1 {
				t.Errorf("the reader sees %d plans", len(list))
			}
			return err
		}); err != nil {
			t.Errorf("the reader: %v", err)
		}
		if err := add(t.Context(), r, 2); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("the reader writes: %v", err)
		}
	})
	if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
		t.Errorf("the reader changed (-before +after):\n%s", diff)
	}
}

// filesAs runs do on a thread whose access to files is nobody's.
func filesAs(t *testing.T, do func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its goroutine
		err := errors.Join(unix.Setfsgid(nobody), unix.Setfsuid(nobody))
		if err == nil {
			do()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// listing is all there is to see of a directory: names, modes, owners, times of
// change, and content.
func listing(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		st := info.Sys().(*syscall.Stat_t)
		out = append(out, fmt.Sprintf("%s %v %d:%d %v %v %x", e.Name(), info.Mode(), st.Uid, st.Gid, st.Mtim, st.Ctim, content))
	}
	return out
}
