package worker

import (
	"context"
	"sync"
	"time"
)

// open sends the program and waits for what the worker says first: a call,
// which it returns, or what the execution came to.
func (s *session) open(ctx context.Context) (call *message, c conclusion) {
	var interrupts sync.WaitGroup
	interrupts.Add(2)
	over := make(chan struct{})
	interrupt := func() {
		defer interrupts.Done()
		s.process.kill()
		s.free(over)
	}
	cancelled, closed := context.AfterFunc(ctx, interrupt), context.AfterFunc(s.pool.ctx, interrupt)
	m, err := s.start()
	for _, stop := range []func() bool{cancelled, closed} {
		if stop() {
			interrupts.Done()
		}
	}
	close(over)
	interrupts.Wait()
	switch {
	case err == nil && m.calls():
		return m, c
	case err == nil:
		c.result, c.err = s.conclude(m)
	default:
		c.err = err
	}
	if c.err != nil && ctx.Err() != nil {
		c.err = ended(ctx)
	} else if c.err != nil && s.pool.ctx.Err() != nil {
		c.err = ErrClosed
	}
	return nil, c
}

// start sends the program and reads the worker's first message.
func (s *session) start() (*message, error) {
	run := message{
		kind: kindRun, limits: s.job.Limits, main: s.job.RequireMain, check: s.job.Check, prints: s.job.Prints,
		body: append([]byte(s.job.Source), s.job.Data...), data: len(s.job.Data),
	}
	if err := s.send(&run); err != nil {
		return nil, err
	}
	return receive(s.frames)
}

// free has reads of a killed worker's output end, until over is closed:
// somebody else may hold its other end.
func (s *session) free(over <-chan struct{}) {
	again := time.NewTicker(releaseInterval)
	defer again.Stop()
	for {
		select {
		case <-over:
			return
		case <-again.C:
			s.process.out.release()
		}
	}
}
