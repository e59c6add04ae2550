package supervise

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// drain is how long is waited, after nothing of a job runs, for the end of what it
// wrote: somebody else may have got hold of its pipes.
const drain = time.Second

// output keeps what a candidate writes to its streams, up to a bound for both
// together. What is beyond that is read and dropped.
type output struct {
	over chan struct{} // closed when there was more

	mu    sync.Mutex
	left  int64
	err   error // the first of those that kept something from being written
	ended bool  // over is closed

	readers, writers []*os.File
	copying          sync.WaitGroup
}

// capture opens the logs of both streams. The caller gives the streams' writers to
// the candidate, and calls started, and in any case finish.
func capture(dir string, most int64) (*output, error) {
	o := &output{over: make(chan struct{}), left: most}
	for _, name := range []string{Stdout, Stderr} {
		log, err := openLog(dir, name)
		if err != nil {
			o.finish()
			return nil, err
		}
		r, w, err := os.Pipe()
		if err != nil {
			log.Close()
			o.finish()
			return nil, err
		}
		o.readers, o.writers = append(o.readers, r), append(o.writers, w)
		o.copying.Go(func() { // until finish
			defer log.Close()
			io.Copy(&stream{o, log}, r) // its error is the end of the pipe, or of finish's patience
		})
	}
	return o, nil
}

// started closes what the candidate has copies of.
func (o *output) started() {
	for _, w := range o.writers {
		w.Close()
	}
	o.writers = nil
}

// finish returns when all that was written is in the logs, and what kept it from
// being so.
func (o *output) finish() error {
	o.started()
	for _, r := range o.readers {
		r.SetReadDeadline(time.Now().Add(drain)) // pipes have deadlines
	}
	o.copying.Wait()
	for _, r := range o.readers {
		r.Close()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// exceeded reports whether there was more than the bound.
func (o *output) exceeded() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended
}

// stream is one of them.
type stream struct {
	o   *output
	log *os.File
}

// Write never fails: whoever writes to the pipe is not to wait for ever.
func (s *stream) Write(p []byte) (int, error) {
	s.o.mu.Lock()
	keep := min(s.o.left, int64(len(p)))
	s.o.left -= keep
	if keep < int64(len(p)) && !s.o.ended {
		s.o.ended = true
		close(s.o.over)
	}
	s.o.mu.Unlock()
	if _, err := s.log.Write(p[:keep]); err != nil {
		s.o.mu.Lock()
		if s.o.err == nil {
			s.o.err = fmt.Errorf("a log: %w", err)
		}
		s.o.mu.Unlock()
	}
	return len(p), nil
}
