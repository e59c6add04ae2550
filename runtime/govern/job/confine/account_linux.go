//go:build amd64 || arm64

package confine

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// account takes all capabilities from the calling thread, for ever, and gives it
// the account of its own, if there is one. Without an account tiers that do not
// confine leave all as it is.
func (s Spec) account() error {
	if s.UID == 0 && !s.confined() {
		return nil
	}
	// What a program that is executed could get back.
	for c := uintptr(0); c <= 63; c++ {
		has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0)
		if err != nil {
			break // the kernel has no more of them
		}
		if has == 0 {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop ambient capabilities: %w", err)
	}
	if s.UID != 0 {
		// The bare calls: those of the package would change all threads, of which
		// this one is the only one that lives on.
		if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
			return fmt.Errorf("leave all groups: %w", errno)
		}
		gid, uid := uintptr(s.GID), uintptr(s.UID)
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, gid, gid, gid); errno != 0 {
			return fmt.Errorf("group %d: %w", s.GID, errno)
		}
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, uid); errno != 0 {
			return fmt.Errorf("account %d: %w", s.UID, errno)
		}
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&head, &none[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return s.changed()
}

// changed makes sure of it.
func (s Spec) changed() error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have, none [2]unix.CapUserData
	if err := unix.Capget(&head, &have[0]); err != nil {
		return err
	}
	if have != none {
		return fmt.Errorf("capabilities are left: %+v", have)
	}
	if s.UID == 0 {
		return nil
	}
	if groups, err := unix.Getgroups(); err != nil || len(groups) > 0 {
		return fmt.Errorf("groups %v are left, %v", groups, err)
	}
	u1, u2, u3 := unix.Getresuid()
	g1, g2, g3 := unix.Getresgid()
	if u1 != s.UID || u2 != s.UID || u3 != s.UID || g1 != s.GID || g2 != s.GID || g3 != s.GID {
		return fmt.Errorf("it is %d %d %d, groups %d %d %d", u1, u2, u3, g1, g2, g3)
	}
	return nil
}
