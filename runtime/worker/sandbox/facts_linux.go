//go:build amd64 || arm64

package sandbox

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Facts looks at this system. It changes nothing.
func Facts() []Fact {
	facts := []Fact{{"kernel", release()}}
	landlock := "not in this kernel, or not switched on at boot"
	if abi := LandlockABI(); abi > 0 {
		landlock = "version " + strconv.Itoa(abi) + " of its interface"
	}
	seccomp := "no filters in this kernel"
	if text, err := os.ReadFile("/proc/sys/kernel/seccomp/actions_avail"); err == nil {
		seccomp = "actions " + strings.TrimSpace(string(text))
	}
	linked := "none, so that every layer can reach every thread"
	if LinksC() {
		linked = "linked into this executable, whose workers therefore have no Landlock: build with CGO_ENABLED=0, or install capgen-worker"
	}
	return append(facts, Fact{"Landlock", landlock}, Fact{"seccomp", seccomp}, Fact{"C code", linked})
}

func release() string {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return err.Error()
	}
	return unix.ByteSliceToString(name.Release[:])
}
