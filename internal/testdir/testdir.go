// Package testdir gives tests directories that go with them, whatever has been
// left there. It must never be linked by anything else.
package testdir

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Open is t.TempDir for what a test fills with directories that their owner may
// not write: only root could remove those, so at the end their owner may again.
func Open(t testing.TB) string {
	dir := t.TempDir()
	t.Cleanup(func() {
		filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if d != nil && d.IsDir() {
				os.Chmod(path, 0o700)
			}
			return nil
		})
	})
	return dir
}
