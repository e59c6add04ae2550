// Command capgen-worker is a worker and nothing else: the binary that a host
// starts for each program where it is installed beside the host, or named by
// runtime.Options.WorkerExecutable. It starts faster than the host's own,
// which a host starts otherwise, and initializes none of the host's packages.
// It must never know what a host is made of: a test pins what it links.
//
//	$ ls -l /usr/local/bin
//	-rwxr-xr-x 1 root root  4012345 capgen-worker
//	-rwxr-xr-x 1 root root 23456789 workspace
package main

import (
	"os"

	"github.com/capgen/capgen/runtime/worker"
)

func main() {
	worker.ServeWorkerAndExit()
	os.Stderr.WriteString("capgen-worker runs programs for a host, which starts it: there is nothing to call it for\n")
	os.Exit(2)
}
