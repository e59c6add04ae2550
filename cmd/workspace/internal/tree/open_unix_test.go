//go:build unix

package tree

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestOpenChecked opens a FIFO and a directory as if they had just taken the
// place of a regular file.
func TestOpenChecked(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Skipf("FIFOs cannot be made here: %v", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	done := make(chan error, 3)
	go func() {
		for _, name := range []string{"fifo", "."} {
			_, _, err := openChecked(root, name)
			done <- err
		}
		_, err := root.OpenFile("fifo", openFlags|directoryFlag, 0)
		done <- err
	}()
	for _, what := range []string{"a FIFO", "a directory", "a FIFO as a directory"} {
		select {
		case err := <-done:
			var own *Error
			if refused := errors.As(err, &own) && own.Code == NotFile; !refused && !errors.Is(err, syscall.ENOTDIR) {
				t.Errorf("%s is opened: %v", what, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("opening %s blocks", what)
		}
	}
}
