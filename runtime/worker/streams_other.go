//go:build !unix

package worker

import (
	"io"
	"os"
)

// takeStreams keeps the standard streams for the protocol; what prints through
// package os goes to standard error. There is no watcher: a worker whose host
// is gone notices when it reads, writes, or has used its steps.
func takeStreams() (in io.Reader, out io.Writer, hangup func(), err error) {
	in, out = os.Stdin, os.Stdout
	os.Stdout = os.Stderr
	return in, out, nil, nil
}
