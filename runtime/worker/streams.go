package worker

import "io"

// streams are the worker's ends of the two pipes.
type streams struct {
	in  io.Reader
	out io.Writer
	// keep are their descriptors, where they are ones.
	keep []int
	// hangup returns when the host is gone; it is nil where nobody can watch
	// for that.
	hangup func()
}
