//go:build amd64 || arm64

package sandbox

import (
	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/internal/landlock"
)

// LandlockABI returns the version of Landlock's interface in this kernel, or 0
// where there is none.
func LandlockABI() int { return landlock.ABI() }

// enterLandlock enters a ruleset without a rule, which refuses all that it can.
func enterLandlock() error {
	rules, err := landlock.New()
	if err != nil {
		return err
	}
	defer rules.Close()
	return onAllThreads(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules.FD()), 0, 0)
}
