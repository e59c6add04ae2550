package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"sync"

	"github.com/capgen/capgen/runtime/worker"
)

// Workers is what a server's workers are: what Build found out with its probe.
// It holds for every worker, or the worker is not used.
type Workers struct {
	Binary WorkerBinary
	// Sandbox is the mode that the server was built with, Confinement what
	// came of it.
	Sandbox     Sandbox
	Confinement Confinement
	// Memory is the budget of each, in bytes; it is not bounded where the
	// layer address_space is missing.
	Memory int64
	// Cgroup is the control group below which each has one; empty without.
	Cgroup string
}

// WorkerBinary is what workers run.
type WorkerBinary struct {
	// Path of a binary of its own, as it was opened; empty when workers run
	// this process's executable.
	Path string
	// SHA256 of that binary, in hexadecimal.
	SHA256 string
	// Passed is why a binary that stands beside this executable is not used;
	// nil when there is none, or it is used.
	Passed error
}

// String names the path, or says that it is this executable.
func (w WorkerBinary) String() string {
	if w.Path == "" {
		return "this executable"
	}
	return w.Path
}

// openWorker opens the binary that the options name, or else one that stands
// beside this executable. A named one that cannot be trusted is an error; one
// that just stands there is passed over, for this executable can always do.
func openWorker(o Options) (*worker.Binary, WorkerBinary, error) {
	path := o.WorkerExecutable
	if path == "" {
		self, err := os.Executable()
		if err != nil || goruntime.GOOS != "linux" {
			return nil, WorkerBinary{}, nil
		}
		path = filepath.Join(filepath.Dir(self), worker.BinaryName)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, WorkerBinary{}, nil
		}
	}
	b, err := worker.OpenBinary(path, o.WorkerSHA256)
	if err == nil {
		return b, WorkerBinary{Path: b.Path(), SHA256: b.SHA256()}, nil
	}
	if o.WorkerExecutable != "" {
		return nil, WorkerBinary{}, err
	}
	return nil, WorkerBinary{Passed: err}, nil
}

// newWorkers probes one worker and starts the pool. release lets go of what
// the pool needs, and is called after the pool was closed.
func newWorkers(ctx context.Context, o Options, limits Limits, c *catalog, idle int) (pool *worker.Pool, w Workers, release func() error, err error) {
	binary, about, err := openWorker(o)
	if err != nil {
		return nil, w, nil, fmt.Errorf("runtime: Options.WorkerExecutable: %w", err)
	}
	release = sync.OnceValue(func() error {
		if binary == nil {
			return nil
		}
		return binary.Close()
	})
	defer func() {
		if err != nil {
			release()
		}
	}()
	config := worker.Config{
		Binary:    binary,
		Table:     c.table,
		Sandbox:   o.Sandbox,
		Memory:    limits.WorkerMemory,
		Cgroup:    o.Cgroup,
		CPU:       limits.MaxExecutionTime,
		Processes: limits.MaxConcurrentExecutions,
		Idle:      idle,
	}
	w = Workers{Binary: about, Sandbox: o.Sandbox, Memory: limits.WorkerMemory, Cgroup: o.Cgroup}
	w.Confinement, err = worker.Probe(ctx, config)
	if err != nil && binary != nil && o.WorkerExecutable == "" && ctx.Err() == nil {
		// Of another version, perhaps; this executable is of its own.
		config.Binary, w.Binary = nil, WorkerBinary{Passed: fmt.Errorf("%s: %w", about.Path, err)}
		w.Confinement, err = worker.Probe(ctx, config)
	}
	if err != nil {
		return nil, w, release, fmt.Errorf("runtime: worker probe: %w", err)
	}
	// What holds once holds always: a worker with less is not used.
	config.Layers = w.Confinement.Layers
	if log := o.Logger; log != nil {
		config.Failed = func(err error) { log.Error("a worker could not be started ahead of time", "error", err) }
	}
	if pool, err = worker.NewPool(config); err != nil {
		return nil, w, release, fmt.Errorf("runtime: %w", err)
	}
	return pool, w, release, nil
}
