package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/capgen/capgen/internal/gauge"
)

// closeGrace is how long Close waits for native calls that ignore their
// context.
const closeGrace = 5 * time.Second

// Pool is a Runner that keeps workers ready: processes that have started, read
// the binding table and wait for a program. Each serves one execution and is
// then killed and reaped; only then is another one started in its place, by
// one goroutine, one at a time. An execution that finds none ready starts its
// own.
//
// There are never more than Config.Processes processes and attempts to start
// one. A Run beyond that waits, in no order: who is next is the caller's to
// say, by how many Runs it makes at once.
type Pool struct {
	config  *resolved
	ctx     context.Context // ends when Close begins
	cancel  context.CancelFunc
	wake    chan struct{}  // holds one token: the keeper has something to do
	kept    chan struct{}  // closed when the keeper has ended
	reaps   sync.WaitGroup // of killed processes; Add only within a Run
	readers sync.Pool      // of *frameReader, as large as they are made

	mu        sync.Mutex
	closed    bool
	processes int            // that live, or are being started
	waiting   int            // Runs that wait for a process
	idle      []*process     // ready, the oldest first
	changed   chan struct{}  // closed at the next change of the above; nil while nobody waits
	runs      sync.WaitGroup // Add only under mu, while not closed
	calls     gauge.Gauge    // goroutines that serve sessions, abandoned ones included
}

var _ Runner = (*Pool)(nil)

// ErrClosed is the error of Run after Close.
var ErrClosed = errors.New("worker: closed")

// NewPool checks the configuration and begins to start the idle workers. Use
// Probe to learn whether the executable is a worker at all.
func NewPool(c Config) (*Pool, error) {
	r, err := c.resolve()
	switch {
	case err != nil:
		return nil, err
	case r.processes <= 0:
		return nil, fmt.Errorf("worker: %d processes, at least one is needed", r.processes)
	case r.idle < 0 || r.idle > r.processes:
		return nil, fmt.Errorf("worker: %d idle workers of %d processes", r.idle, r.processes)
	}
	p := &Pool{config: r, wake: make(chan struct{}, 1), kept: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.readers.New = func() any { return newFrameReader(nil, 0) }
	if r.idle == 0 {
		close(p.kept)
	} else {
		go p.keep()
	}
	return p, nil
}

// Run implements Runner.
func (p *Pool) Run(ctx context.Context, job Job) (Result, error) {
	if err := job.check(); err != nil {
		return Result{}, err
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return Result{}, ErrClosed
	}
	p.runs.Add(1)
	p.mu.Unlock()
	defer p.runs.Done()

	w, err := p.take(ctx)
	if err != nil {
		return Result{}, err
	}
	return newSession(p, w, job).run(ctx)
}

// retire reaps a killed process without having its Run wait: the end of one
// takes as long as a short program.
func (p *Pool) retire(w *process) {
	p.reaps.Go(func() {
		w.reap()
		p.release()
	})
}

// Idle is how many workers are ready.
func (p *Pool) Idle() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}

// Close implements Runner. It ends all runs, kills the idle workers and waits
// for both, then for native calls that were abandoned, but for those not longer
// than five seconds: its error says how many are left, and they go on to hold
// what they hold.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.announce()
	p.mu.Unlock()
	p.cancel()
	for _, w := range idle {
		w.end()
		p.release()
	}
	<-p.kept
	p.runs.Wait()
	p.reaps.Wait()
	if left := p.calls.Drain(closeGrace); left > 0 {
		return fmt.Errorf("worker: %d native calls ignore their context and still run", left)
	}
	return nil
}

// take returns a worker that is ready, from those that wait or else by starting
// one, and counts it. Whoever has taken it ends it and calls release.
func (p *Pool) take(ctx context.Context) (*process, error) {
	p.mu.Lock()
	for {
		switch {
		case p.closed:
			p.mu.Unlock()
			return nil, ErrClosed
		case len(p.idle) > 0:
			w := p.idle[0]
			p.idle = slices.Delete(p.idle, 0, 1)
			p.mu.Unlock()
			if !w.out.stirred() {
				return w, nil
			}
			// It died, or speaks out of turn.
			w.end()
			p.release()
			p.mu.Lock()
		case p.processes < p.config.processes:
			p.processes++
			p.mu.Unlock()
			w, err := p.start(ctx)
			if err != nil {
				p.release()
			}
			return w, err
		default:
			if err := p.wait(ctx); err != nil {
				p.mu.Unlock()
				return nil, err
			}
		}
	}
}

// wait returns at the next change. It is called, and returns, under mu.
func (p *Pool) wait(ctx context.Context) error {
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	changed := p.changed
	p.waiting++
	p.mu.Unlock()
	var err error
	select {
	case <-changed:
	case <-ctx.Done():
		err = ended(ctx)
	}
	p.mu.Lock()
	p.waiting--
	return err
}

// announce lets those who wait look again. It is called under mu.
func (p *Pool) announce() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// release gives the place of a process back that was reaped, or that could not
// be started.
func (p *Pool) release() {
	p.mu.Lock()
	p.processes--
	p.announce()
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// start starts a worker and waits until it is ready.
func (p *Pool) start(ctx context.Context) (*process, error) {
	if ctx.Err() != nil {
		return nil, ended(ctx)
	}
	w, err := start(p.config, nil)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, w.kill)()
	defer context.AfterFunc(p.ctx, w.kill)()
	if err := p.greet(w); err != nil {
		w.end()
		switch {
		case ctx.Err() != nil:
			return nil, ended(ctx)
		case p.ctx.Err() != nil:
			return nil, ErrClosed
		}
		return nil, fmt.Errorf("worker: start: %w", err)
	}
	return w, nil
}
