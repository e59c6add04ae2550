//go:build unix

package host

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/internal/stdoutguard"
)

// streams are the standard streams that only Main knows.
type streams struct{ in, out *os.File }

// claim moves standard input and output to descriptors of their own. What
// stays at 0 is empty and what stays at 1 is standard error, for handlers,
// dependencies and C code alike: neither can steal a message or slip one in.
func claim() (streams, error) {
	in, err := duplicate(0, "stdin")
	if err != nil {
		return streams{}, err
	}
	out, err := claimOutput()
	if err != nil {
		return streams{}, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return streams{}, err
	}
	defer null.Close()
	if err := unix.Dup2(int(null.Fd()), 0); err != nil {
		return streams{}, fmt.Errorf("replace stdin: %w", err)
	}
	os.Stdout = os.Stderr
	// A client that closes its end of standard error must not end the
	// session: without a listener, a write to a broken descriptor 1 or 2
	// kills the process (os/signal, SIGPIPE).
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return streams{in: in, out: out}, nil
}

// claimOutput takes what the guard saved before the first package could
// print, or saves it now.
func claimOutput() (*os.File, error) {
	if fd, ok := stdoutguard.Stdout(); ok {
		return os.NewFile(uintptr(fd), "stdout"), nil
	}
	out, err := duplicate(1, "stdout")
	if err != nil {
		return nil, err
	}
	if err := unix.Dup2(2, 1); err != nil {
		return nil, fmt.Errorf("replace stdout: %w", err)
	}
	return out, nil
}

// duplicate copies a descriptor to one above the standard three that children
// do not inherit.
func duplicate(fd uintptr, name string) (*os.File, error) {
	copied, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("duplicate %s: %w", name, err)
	}
	return os.NewFile(uintptr(copied), name), nil
}
