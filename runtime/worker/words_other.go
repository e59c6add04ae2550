//go:build !unix

package worker

import "os"

// lastWords are dropped here: a pipe that nobody reads would stop the worker.
type lastWords struct{ child *os.File }

func newLastWords() (*lastWords, error) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	return &lastWords{null}, err
}

func (*lastWords) await(*hostPipe) {}
func (*lastWords) settle()         {}
func (*lastWords) read(int) []byte { return nil }
func (w *lastWords) close()        { w.child.Close() }
