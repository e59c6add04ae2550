//go:build !unix

package worker

import "os"

// hostPipe is the host's end of a pipe to or from a worker. A wait on it ends
// with the worker's death only.
type hostPipe struct{ file *os.File }

func newPipe(hostReads bool) (*hostPipe, *os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	if hostReads {
		return &hostPipe{file: r}, w, nil
	}
	return &hostPipe{file: w}, r, nil
}

func (p *hostPipe) Read(b []byte) (int, error)  { return p.file.Read(b) }
func (p *hostPipe) Write(b []byte) (int, error) { return p.file.Write(b) }
func (p *hostPipe) stirred() bool               { return false }
func (p *hostPipe) hungUp() bool                { return false }
func (p *hostPipe) stop()                       {}
func (p *hostPipe) Close() error                { return p.file.Close() }
