package daemon

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// openLogFile opens or makes a file of this account's own, and locks it.
func openLogFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	if err := own(f); err != nil {
		return nil, errors.Join(fmt.Errorf("%s %w", path, err), f.Close())
	}
	return f, nil
}

func own(f *os.File) error {
	var s unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &s); err != nil {
		return err
	}
	switch {
	case s.Mode&unix.S_IFMT != unix.S_IFREG || s.Nlink != 1:
		return errors.New("is not a regular file with a single name")
	case s.Uid != uint32(os.Geteuid()) || s.Mode&0o077 != 0:
		return fmt.Errorf("is not this account's alone (account %d, mode %04o)", s.Uid, s.Mode&0o7777)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("is in use: %w", err)
	}
	// Its name outlives a loss of power, as what is written to it does.
	dir, err := os.Open(filepath.Dir(f.Name()))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// peer is the account at the other end, as the kernel knew it when it connected
// (SO_PEERCRED, unix(7)).
func peer(c *net.UnixConn) (uid uint32, pid int32, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var cred *unix.Ucred
	if control := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); control != nil {
		return 0, 0, control
	}
	if err != nil {
		return 0, 0, err
	}
	return cred.Uid, cred.Pid, nil
}
