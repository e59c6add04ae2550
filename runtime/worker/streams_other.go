//go:build !unix

package worker

import "os"

// takeStreams keeps the standard streams for the protocol; what prints through
// package os goes to standard error. There is no watcher: a worker whose host
// is gone notices when it reads, writes, or has used its steps.
func takeStreams() (streams, error) {
	s := streams{in: os.Stdin, out: os.Stdout}
	os.Stdout = os.Stderr
	return s, nil
}
