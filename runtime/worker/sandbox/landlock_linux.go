//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// LandlockABI returns the version of Landlock's interface in this kernel, or 0
// where there is none.
func LandlockABI() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}

// everything is all that a version of the interface can refuse
// (Documentation/userspace-api/landlock.rst, "Compatibility").
func everything(abi int) (a unix.LandlockRulesetAttr) {
	a.Handled_access_fs = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1 // the first version's thirteen
	if abi >= 2 {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 4 {
		a.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= 5 {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 6 {
		a.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return a
}

// landlock enters a ruleset without a rule, which refuses all that it can.
func landlock() error {
	abi := LandlockABI()
	if abi == 0 {
		return fmt.Errorf("the kernel has none: %w", unix.ENOSYS)
	}
	attributes := everything(abi)
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attributes)), unsafe.Sizeof(attributes), 0)
	if errno != 0 {
		return fmt.Errorf("create a ruleset: %w", errno)
	}
	defer unix.Close(int(fd))
	return onAllThreads(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0)
}
