package review

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestProgram reads what is there, waits for nothing, and takes nothing else.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "program")
	if err := os.WriteFile(path, []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := Program(path); got != program || err != nil {
		t.Errorf("%x, %v", got, err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, dir, "program.go", filepath.Join(dir, "none"), os.DevNull} {
		if got, err := Program(path); err == nil || got != [32]byte{} {
			t.Errorf("%s: %x, %v", path, got, err)
		}
	}
	if _, err := Program(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	large := filepath.Join(dir, "large")
	if err := errors.Join(os.WriteFile(large, nil, 0o600), os.Truncate(large, MaxProgramBytes+1)); err != nil {
		t.Fatal(err)
	}
	if _, err := Program(large); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
}
