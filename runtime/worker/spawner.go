package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/capgen/capgen/internal/gauge"
)

// closeGrace is how long Close waits for native calls that ignore their
// context.
const closeGrace = 5 * time.Second

// Spawner is a Runner that starts a process for every Run. Concurrency is the
// caller's to bound: each Run is a process, and up to one more thread and
// goroutine of the host while it waits.
type Spawner struct {
	config *resolved
	ctx    context.Context // ends when Close begins
	cancel context.CancelFunc

	mu     sync.Mutex
	closed bool
	runs   sync.WaitGroup // Add only under mu, while not closed
	calls  gauge.Gauge    // native calls on their way, abandoned ones included
}

var _ Runner = (*Spawner)(nil)

// ErrClosed is the error of Run after Close.
var ErrClosed = errors.New("worker: closed")

// NewSpawner checks the configuration and starts nothing. Use Probe to learn
// whether the executable is a worker at all.
func NewSpawner(c Config) (*Spawner, error) {
	r, err := c.resolve()
	if err != nil {
		return nil, err
	}
	s := &Spawner{config: r}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// Run implements Runner.
func (s *Spawner) Run(ctx context.Context, job Job) (Result, error) {
	if err := job.check(); err != nil {
		return Result{}, err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return Result{}, ErrClosed
	}
	s.runs.Add(1)
	s.mu.Unlock()
	defer s.runs.Done()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(ErrClosed) })()
	if ctx.Err() != nil {
		return Result{}, ended(ctx)
	}
	p, err := start(s.config.executable, s.config.stderr)
	if err != nil {
		return Result{}, err
	}
	defer p.end()
	defer context.AfterFunc(ctx, p.kill)()
	return newSession(ctx, s, p, job).run()
}

// Close implements Runner. It ends all runs and waits for them, then for
// native calls that were abandoned, but for those not longer than five
// seconds: its error says how many are left, and they go on to hold what they
// hold.
func (s *Spawner) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.runs.Wait()
	if first {
		s.config.close()
	}
	if left := s.calls.Drain(closeGrace); left > 0 {
		return fmt.Errorf("worker: %d native calls ignore their context and still run", left)
	}
	return nil
}
