//go:build unix

package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openFile opens a file, without following a link in the last place and without
// waiting for whoever writes a FIFO.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// owned refuses a file that somebody else than root and this account can write.
func owned(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return errors.New("its owner is not known")
	case stat.Uid != 0 && int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("it belongs to user %d, neither to root nor to this account", stat.Uid)
	case info.Mode()&0o022 != 0:
		return fmt.Errorf("its mode %04o lets others than its owner write", info.Mode().Perm())
	case info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0:
		return errors.New("its mode gives it another account's rights")
	}
	return nil
}
