package worker

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/worker/cgroup"
)

// Config is what a Pool needs. It is only read.
type Config struct {
	// Binary is run as the worker. Nil means Executable.
	Binary *Binary
	// Executable is the path of what is run as the worker, which the caller
	// trusts. Empty means this process's own, which on Linux stays the one
	// that is running when its file is replaced.
	Executable string
	// Table is the binding table of the enabled capabilities, as
	// binding.EncodeTable writes it.
	Table []byte
	// Sandbox says what workers must be confined by; the zero value is Auto.
	Sandbox Sandbox
	// Layers are those that every worker must report, beside what Sandbox
	// asks: a host sets those that Probe found, so that none is served by a
	// worker that holds less. Unknown ones are never reported.
	Layers []string
	// Memory is the budget of a worker in bytes, over its address space when
	// it enters the sandbox. Zero means DefaultMemory; less than MinMemory is
	// an error.
	Memory int64
	// Cgroup is the absolute path of a control group (version 2) that was
	// delegated to this process's user, with the controllers memory and pids
	// and without a process in it. Each worker then lives in a group of its
	// own below it. Empty uses none. Linux only.
	Cgroup string
	// CPU is the processor time that a worker may use before the kernel ends
	// it, a net under the deadline; zero sets none.
	CPU time.Duration
	// Processes bounds the workers that live and the attempts to start one,
	// idle ones included. It is positive.
	Processes int
	// Idle is how many workers wait, ready, for a program: from 0, for none, to
	// Processes.
	Idle int
	// Failed is told of each attempt to start an idle worker that failed; nil
	// is told nothing.
	Failed func(error)
}

// Bounds of Config.Memory, in bytes.
const (
	DefaultMemory = 256 << 20
	// MinMemory is what honest programs need: with less, the garbage of one
	// that is far below its own limits ends it.
	MinMemory = 128 << 20
)

const (
	// groupSlack is what a worker's group may have beyond the budget: what the
	// process had before, and what the kernel keeps for it. A worker is to meet
	// the bound of its address space first, which it can tell of.
	groupSlack = 64 << 20
	// groupThreads bounds a worker's threads; it has about six.
	groupThreads = 64
)

// resolved is a Config that was checked.
type resolved struct {
	executable string
	binary     *Binary // what executable leads to; nil for a path
	table      []byte  // the whole frame
	digest     string
	required   []string       // layers that each worker must report
	memory     int64          // what a worker may have
	groups     *cgroup.Parent // nil without one
	bounds     cgroup.Limits  // of each worker's group
	processes  int
	idle       int
	failed     func(error)
}

var errInWorker = errors.New("worker: a worker cannot start workers: main must call ServeWorkerAndExit before it builds a server")

func (c Config) resolve() (*resolved, error) {
	if IsWorker() {
		return nil, errInWorker
	}
	r := &resolved{processes: c.Processes, idle: c.Idle, failed: c.Failed}
	if r.failed == nil {
		r.failed = func(error) {}
	}
	table, err := binding.ParseTable(c.Table)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	if len(c.Table) > maxTableBytes {
		return nil, fmt.Errorf("worker: the binding table takes %d bytes, at most %d are allowed", len(c.Table), maxTableBytes)
	}
	r.digest = table.Digest()
	if r.required, err = c.required(); err != nil {
		return nil, err
	}
	r.memory = cmp.Or(c.Memory, DefaultMemory)
	if r.memory < MinMemory {
		return nil, fmt.Errorf("worker: a memory budget of %d bytes, at least %d are needed", r.memory, MinMemory)
	}
	if c.Cgroup != "" {
		if r.groups, err = cgroup.Open(c.Cgroup, cgroup.ForMemory, cgroup.ForProcesses); err != nil {
			return nil, fmt.Errorf("worker: %w", err)
		}
		r.bounds = cgroup.Limits{Memory: r.memory + groupSlack, Processes: groupThreads}
	}
	if c.CPU < 0 || c.CPU.Milliseconds() > maxCPUMillis {
		return nil, fmt.Errorf("worker: a processor time of %v", c.CPU)
	}
	message := message{
		kind: kindTable, protocol: protocol, digest: r.digest, body: c.Table,
		memory: r.memory, cpuMillis: c.CPU.Milliseconds(), sandbox: c.Sandbox != SandboxOff,
	}
	if r.table, err = appendFrame(nil, message.append); err != nil {
		return nil, err
	}
	if r.binary = c.Binary; r.binary != nil {
		r.executable = fmt.Sprintf("/proc/self/fd/%d", binaryDescriptor)
	} else if r.executable, err = executable(c.Executable); err != nil {
		return nil, err
	}
	return r, nil
}

func executable(given string) (string, error) {
	if given != "" {
		path, err := filepath.Abs(given)
		if err != nil {
			return "", fmt.Errorf("worker: executable: %w", err)
		}
		return path, nil
	}
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("worker: executable: %w", err)
	}
	return path, nil
}
