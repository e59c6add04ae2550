//go:build amd64 || arm64

package confine

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/internal/landlock"
)

// layer is one thing that confines a process.
type layer string

const (
	layerRoot     layer = "root" // and the other namespaces
	layerAccount  layer = "account"
	layerNoNew    layer = "no_new_privs"
	layerLandlock layer = "landlock"
	layerSeccomp  layer = "seccomp"
)

// layers are what a tier is made of, in the order in which they are entered.
func (s Spec) layers() []layer {
	switch s.Tier {
	case Namespaces:
		return []layer{layerRoot, layerAccount, layerNoNew, layerLandlock, layerSeccomp}
	case Landlock:
		return []layer{layerAccount, layerNoNew, layerLandlock, layerSeccomp}
	case Worker:
		return []layer{layerAccount, layerNoNew}
	}
	return []layer{layerAccount}
}

// Attributes adds to sys what the process needs from its start that will call
// Enter. For who is not root that is a namespace of users of its own, in which it
// stays who it is, and in which no process counts as its account's but its own; not
// even a keeper's, whose threads count too. It makes that by itself, since its
// number may be another one in /proc of who starts it, who has to be dumpable then.
func (s Spec) Attributes(sys *syscall.SysProcAttr) {
	if s.Tier != Namespaces {
		return
	}
	const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	uid, gid := os.Geteuid(), os.Getegid()
	if uid == 0 {
		sys.Cloneflags |= namespaces
		return
	}
	sys.Unshareflags |= namespaces | unix.CLONE_NEWUSER
	sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	sys.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP} // until Enter returns
}

// leastLandlock is the first version of Landlock's interface that keeps files from
// being truncated (Linux 6.2). No filter can do that: open does it too.
const leastLandlock = 3

// suffices refuses a version of Landlock that does not keep a candidate from files
// where nothing else does.
func (s Spec) suffices(version int) error {
	if s.Tier == Landlock && version < leastLandlock {
		return fmt.Errorf("%w: files outside of the box could be truncated: Landlock is version %d here, not %d (Linux 6.2)", ErrUnsupported, version, leastLandlock)
	}
	return nil
}

// Enter confines the calling thread for good, and what it becomes: the goroutine
// is locked to it, and has to execute the candidate from there, or to end the
// process. The current directory is the box then. After an error the process is
// fit for nothing but saying so.
func (s Spec) Enter() error { return s.enter(s.layers()) }

func (s Spec) enter(layers []layer) error {
	runtime.LockOSThread() // for ever
	if err := s.valid(os.Geteuid()); err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	var places []place
	if s.confined() {
		var err error
		if places, err = s.places(); err != nil {
			return fmt.Errorf("confine: %w", err)
		}
	}
	has := func(l layer) bool { return slices.Contains(layers, l) }
	if has(layerRoot) {
		if err := pivot(places, s.Box); err != nil {
			return fmt.Errorf("confine: a root of its own: %w", err)
		}
	}
	unix.Umask(0o077)
	// While this is still somebody who can open them.
	var allowed *landlock.Ruleset
	if version := landlock.ABI(); has(layerLandlock) && (s.Tier == Landlock || version > 0) {
		if err := s.suffices(version); err != nil {
			return err
		}
		var err error
		if allowed, err = rules(places); err != nil {
			return fmt.Errorf("confine: landlock: %w", err)
		}
		defer allowed.Close()
	}
	if has(layerAccount) {
		if err := s.account(); err != nil {
			return fmt.Errorf("confine: account: %w", err)
		}
	}
	if has(layerNoNew) {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("confine: no_new_privs: %w", err)
		}
	}
	if allowed != nil {
		if err := allowed.RestrictThread(); err != nil {
			return fmt.Errorf("confine: landlock: %w", err)
		}
	}
	if has(layerSeccomp) {
		if err := installFilter(); err != nil {
			return fmt.Errorf("confine: seccomp: %w", err)
		}
	}
	return nil
}
