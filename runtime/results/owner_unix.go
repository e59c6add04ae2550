//go:build unix

package results

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// belongs checks that nobody else can look into the directory.
func belongs(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) != os.Geteuid() {
		return errors.New("the directory belongs to another user")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return errors.New("others may use the directory: chmod 700")
	}
	return nil
}
