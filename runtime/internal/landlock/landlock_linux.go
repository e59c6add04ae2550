package landlock

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ABI returns the version of Landlock's interface in this kernel, or 0 where
// there is none.
func ABI() int {
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

// onFiles are the rights that a rule for what is no directory can give.
const onFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
	unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

// Ruleset refuses all that this kernel can refuse but for what its rules allow.
type Ruleset struct {
	fd      int
	handled uint64
}

// New makes a ruleset without a rule. The caller closes it.
func New() (*Ruleset, error) {
	abi := ABI()
	if abi == 0 {
		return nil, fmt.Errorf("the kernel has none: %w", unix.ENOSYS)
	}
	attributes := everything(abi)
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attributes)), unsafe.Sizeof(attributes), 0)
	if errno != 0 {
		return nil, fmt.Errorf("create a ruleset: %w", errno)
	}
	return &Ruleset{int(fd), attributes.Handled_access_fs}, nil
}

// Allow allows what a descriptor refers to, a file or all below a directory, for
// the given rights (LANDLOCK_ACCESS_FS_…). Those that the kernel does not know,
// or a file cannot have, are left out.
func (r *Ruleset) Allow(fd int, rights uint64) error {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return fmt.Errorf("%w", err)
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= onFiles
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & r.handled, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("add a rule: %w", errno)
	}
	return nil
}

// RestrictThread enters the ruleset with the calling thread, which the goroutine
// has to be locked to, and what it starts or becomes. It needs no_new_privs.
func (r *Ruleset) RestrictThread() error {
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		return fmt.Errorf("enter the ruleset: %w", errno)
	}
	return nil
}

// FD is the ruleset's descriptor.
func (r *Ruleset) FD() int { return r.fd }

// Close closes the ruleset, which does not undo that somebody has entered it.
func (r *Ruleset) Close() error { return unix.Close(r.fd) }
