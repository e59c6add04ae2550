package worker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/capgen/capgen/runtime/binding"
)

// Config is what a Spawner needs. It is only read.
type Config struct {
	// Executable is run as the worker. Empty means this process's own, which
	// on Linux stays the one that is running when its file is replaced.
	Executable string
	// Table is the binding table of the enabled capabilities, as
	// binding.EncodeTable writes it.
	Table []byte
	// Stderr receives what workers write to standard error, which is their
	// runtime's last words; nil discards it. The Spawner does not close it.
	Stderr *os.File
}

// resolved is a Config that was checked.
type resolved struct {
	executable string
	table      []byte // the whole frame
	digest     string
	stderr     *os.File
	opened     bool // stderr is ours to close
}

var errInWorker = errors.New("worker: a worker cannot start workers: main must call ServeWorkerAndExit before it builds a server")

func (c Config) resolve() (*resolved, error) {
	if IsWorker() {
		return nil, errInWorker
	}
	r := &resolved{executable: c.Executable, stderr: c.Stderr}
	table, err := binding.ParseTable(c.Table)
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	if len(c.Table) > maxTableBytes {
		return nil, fmt.Errorf("worker: the binding table takes %d bytes, at most %d are allowed", len(c.Table), maxTableBytes)
	}
	r.digest = table.Digest()
	message := message{kind: kindTable, protocol: protocol, digest: r.digest, body: c.Table}
	if r.table, err = appendFrame(nil, message.append); err != nil {
		return nil, err
	}
	if r.executable, err = executable(c.Executable); err != nil {
		return nil, err
	}
	if r.stderr == nil {
		if r.stderr, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
			return nil, fmt.Errorf("worker: %w", err)
		}
		r.opened = true
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

func (r *resolved) close() {
	if r.opened {
		r.stderr.Close()
	}
}
