//go:build amd64 || arm64

package confine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/worker/sandbox"
)

const (
	// probePrefix begins the value of Mark in a process that tries a tier; the rest
	// is a spec as JSON.
	probePrefix = "probe "
	// holds is what it says when the tier does what it has to; else it says why not.
	holds = "holds"
	// maxWord bounds what is read of it.
	maxWord = 1 << 10

	defaultPatience = 3 * time.Second
)

// try enters a tier with a process of its own.
func try(ctx context.Context, t Tier, o Options) error {
	s := Spec{Tier: t, UID: o.UID, GID: o.GID}
	if err := s.valid(os.Geteuid()); err != nil {
		return fmt.Errorf("%w: tier %s: %w", ErrUnsupported, t, err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, cmp.Or(o.Patience, defaultPatience))
	defer stop()
	var word limited
	c := exec.CommandContext(ctx, "/proc/self/exe")
	c.Args = []string{"confine"}
	c.Dir = "/"
	c.Env = []string{Mark + "=" + probePrefix + string(text), "GOMAXPROCS=1"}
	c.Stderr = &word
	c.WaitDelay = time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	s.Attributes(c.SysProcAttr)
	err = c.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("confine: tier %s was not entered in time: %w", t, ctx.Err())
	}
	if said := word.String(); err == nil && said == holds {
		return nil
	} else if said != "" {
		err = errors.New(said)
	} else if err == nil {
		err = errors.New("it has said nothing")
	}
	return fmt.Errorf("%w: tier %s: %w", ErrUnsupported, t, err)
}

// limited keeps the first bytes of what is written to it.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	l.Buffer.Write(p[:min(len(p), max(0, maxWord-l.Len()))])
	return len(p), nil
}

// ServeProbeAndExit returns at once in a process that no Probe has started, as the
// value of Mark in its environment tells. In one it tries a tier, and ends the
// process. Scope's entry calls it.
func ServeProbeAndExit(mark string) {
	text, ok := strings.CutPrefix(mark, probePrefix)
	if !ok {
		return
	}
	word := holds
	if err := serveProbe(text); err != nil {
		word = err.Error()
	}
	unix.Write(2, []byte(word)) // standard output is the protocol's, in a host
	unix.Exit(0)
}

func serveProbe(text string) error {
	var s Spec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	// As a control: what is refused later is there.
	own, err := os.Executable()
	if err != nil {
		return err
	}
	if err := opens(own, unix.O_RDONLY); err != nil {
		return fmt.Errorf("%s: %w", own, err)
	}
	file := nameless()
	tasks, err := os.Open("/proc/self/task")
	if err != nil {
		return err
	}
	defer tasks.Close()
	parent := unix.Getppid()
	if err := s.Enter(); err != nil {
		return err
	}
	switch {
	case s.Tier == Worker:
		if _, missing := sandbox.Enter(sandbox.Options{Memory: 64 << 20}, sandbox.Layers()...); len(missing) > 0 {
			return fmt.Errorf("layer %s: %w", missing[0].Layer, missing[0].Err)
		}
	case s.Tier == Namespaces && s.UID == 0:
		return cmp.Or(check(own, parent, file), countedApart(tasks))
	case s.confined():
		return check(own, parent, file)
	}
	return nil
}

// check tries what both tiers for native code have to refuse, with the thread
// that has entered one. It leaves nothing behind where something is not refused.
func check(own string, parent, file int) error {
	if err := opens(os.DevNull, unix.O_RDWR); err != nil {
		return fmt.Errorf("%s: %w", os.DevNull, err)
	}
	for _, act := range []struct {
		name string
		err  error
	}{
		{"reading a file", opens(own, unix.O_RDONLY)},
		{"reading /proc", opens("/proc/self/stat", unix.O_RDONLY)},
		{"writing a file", opens("/tmp", unix.O_WRONLY|unix.O_TMPFILE)},
		{"truncating a file", truncates(file)},
		{"a signal to another process", unix.Kill(parent, 0)},
		{"a socket of IPv4", socket(unix.AF_INET)},
		{"a socket of IPv6", socket(unix.AF_INET6)},
		{"a socket of this machine", socket(unix.AF_UNIX)},
		{"a socket of netlink", socket(unix.AF_NETLINK)},
		{"a namespace", unix.Unshare(unix.CLONE_NEWUSER)},
		{"becoming root", becomeRoot()},
		{"a keyring", keyring()},
		{"an executable that gives it rights", privileged()},
	} {
		if act.err == nil {
			return fmt.Errorf("%s is not refused", act.name)
		}
	}
	return nil
}

func opens(path string, flags int) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o600)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func socket(family int) error {
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// nameless is a file that everybody may write and that ends with this process, or -1
// where there is none to be had.
func nameless() int {
	fd, err := unix.Open("/tmp", unix.O_RDWR|unix.O_TMPFILE|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return -1
	}
	if err := unix.Fchmod(fd, 0o666); err != nil {
		unix.Close(fd)
		return -1
	}
	return fd
}

// truncates truncates what a descriptor is of, as who comes by a path: what opened it
// could do is no matter.
func truncates(fd int) error { return unix.Truncate(fmt.Sprintf("/proc/self/fd/%d", fd), 0) }

// becomeRoot is the bare call: that of the package would change all threads.
func becomeRoot() error {
	if _, _, errno := unix.RawSyscall(unix.SYS_SETUID, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

func keyring() error {
	_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false)
	return err
}

// privileged fails where no executable gives rights any more.
func privileged() error {
	set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	if err == nil && set == 1 {
		return unix.EPERM
	}
	return err
}
