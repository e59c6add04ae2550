//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// newDescriptors is how many descriptors may be open, by number: enough for
// the poller that the runtime may still make.
const newDescriptors = 16

// setRlimits lowers both the soft and the hard limit of what a worker needs
// little of. The number of processes is not among them: it is counted over all
// of a user's, and seccomp lets none be made.
func (o Options) setRlimits() error {
	for _, l := range []struct {
		name     string
		resource int
		most     uint64
	}{
		{"core", unix.RLIMIT_CORE, 0},
		{"fsize", unix.RLIMIT_FSIZE, uint64(max(o.File, 0))},
		{"nofile", unix.RLIMIT_NOFILE, newDescriptors},
		{"memlock", unix.RLIMIT_MEMLOCK, 0},
		{"msgqueue", unix.RLIMIT_MSGQUEUE, 0},
		{"cpu", unix.RLIMIT_CPU, o.seconds()},
	} {
		if err := lower(l.resource, l.most); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return nil
}

// lower sets soft and hard limit, but never above what the hard one is.
func lower(resource int, most uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return err
	}
	most = min(most, now.Max)
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most})
}

// seconds is the bound of the process's processor time, what it has used
// already included.
func (o Options) seconds() uint64 {
	if o.CPU <= 0 {
		return math.MaxUint64
	}
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		used = unix.Rusage{}
	}
	total := time.Duration(used.Utime.Nano()+used.Stime.Nano()) + o.CPU
	return uint64((total+time.Second-1)/time.Second) + 1
}

// boundAddressSpace lets the address space grow by the budget. It is the one
// limit that holds for a Go process: RLIMIT_DATA does not count what the
// runtime reserves and uses later.
func (o Options) boundAddressSpace() error {
	if o.Memory <= 0 {
		return errors.New("no memory budget was given")
	}
	size, err := addressSpace()
	if err != nil {
		return fmt.Errorf("%s: %w", memoryInUse, err)
	}
	return lower(unix.RLIMIT_AS, size+uint64(o.Memory))
}

const memoryInUse = "/proc/self/statm"

// addressSpace is how many bytes of it the process uses (proc_pid_statm(5)),
// read by bare system calls as openDescriptors does.
func addressSpace() (uint64, error) {
	fd, err := unix.Open(memoryInUse, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	var text [128]byte
	n, err := unix.Read(fd, text[:])
	if err != nil {
		return 0, err
	}
	pages, _, _ := bytes.Cut(text[:n], []byte(" "))
	size, err := strconv.ParseUint(string(pages), 10, 44)
	return size * uint64(unix.Getpagesize()), err
}
