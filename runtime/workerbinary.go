package runtime

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"

	"github.com/capgen/capgen/runtime/worker"
)

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
