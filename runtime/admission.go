package runtime

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/capgen/capgen/runtime/fault"
)

// admission decides which execution is next. A bounded number run at once;
// more wait, each in its subject's line. A place that becomes free goes to the
// subject of whom the fewest run, and among equals to the one that was served,
// or came, longest ago, so that nobody gets ahead by asking more often, nor by
// leaving and coming back.
type admission struct {
	closed chan struct{}

	mu         sync.Mutex
	shut       bool
	free       int // places
	waiting    int // in all lines
	mostInLine int
	mostInAll  int
	turn       uint64
	lines      map[string]*line // by subject: those who run or wait
}

// line is one subject's executions.
type line struct {
	running int
	turn    uint64          // in which it last got a place, or came
	waiting []chan struct{} // closed when admitted, the oldest first
}

func newAdmission(l Limits) *admission {
	return &admission{
		closed:     make(chan struct{}),
		free:       l.MaxConcurrentExecutions,
		mostInLine: l.MaxQueuedPerSubject,
		mostInAll:  l.MaxQueuedExecutions,
		lines:      make(map[string]*line),
	}
}

// errShut is enter's error once the server closes.
var errShut = errors.New("runtime: the server closes")

// close ends all waiting. It may be called again.
func (a *admission) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.shut {
		a.shut = true
		close(a.closed)
	}
}

// enter returns nil when an execution of subject may run, which then must
// leave. It returns a *fault.Fault at once when too many wait, errShut when the
// server closes, and the error of ctx when that ends first.
func (a *admission) enter(ctx context.Context, subject string) error {
	a.mu.Lock()
	if a.shut {
		a.mu.Unlock()
		return errShut
	}
	l := a.lines[subject]
	if l == nil {
		l = new(line)
		a.lines[subject] = l
		a.stamp(l)
	}
	if a.free > 0 { // then nobody waits
		a.free--
		a.admit(l)
		a.mu.Unlock()
		return nil
	}
	if full := a.full(l); full != nil {
		a.forget(subject, l)
		a.mu.Unlock()
		return full
	}
	place := make(chan struct{})
	l.waiting = append(l.waiting, place)
	a.waiting++
	a.mu.Unlock()

	var err error
	select {
	case <-place:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-a.closed:
		err = errShut
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.Index(l.waiting, place); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		a.waiting--
		a.forget(subject, l)
		return err
	}
	a.pass(subject, l) // it was admitted at the last moment
	return err
}

// full is the fault of an execution that cannot wait. A line gets no longer
// than what it would leave for others to wait in (Choudhury and Hahne, dynamic
// queue length thresholds): n subjects that ask for more than they get fill n
// of n+1 parts, and whoever has nothing there finds a place.
func (a *admission) full(l *line) (f *fault.Fault) {
	switch {
	case len(l.waiting) >= a.mostInLine:
		f = fault.Reached(fault.MaxQueuedPerSubject, int64(a.mostInLine), "too many of your executions wait already; nothing ran")
	case len(l.waiting) >= a.mostInAll-a.waiting:
		f = fault.Reached(fault.MaxQueuedExecutions, int64(a.mostInAll), "too many executions wait already; nothing ran")
	default:
		return nil
	}
	f.Hint = "try again in a second, or do more in one program"
	return f
}

// leave gives a place back.
func (a *admission) leave(subject string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pass(subject, a.lines[subject])
}

// pass takes l's place and gives it to the next who waits.
func (a *admission) pass(subject string, l *line) {
	l.running--
	a.forget(subject, l)
	var next *line
	for _, l := range a.lines {
		if len(l.waiting) > 0 && (next == nil || l.running < next.running ||
			l.running == next.running && l.turn < next.turn) {
			next = l
		}
	}
	if next == nil {
		a.free++
		return
	}
	close(next.waiting[0])
	next.waiting = slices.Delete(next.waiting, 0, 1)
	a.waiting--
	a.admit(next)
}

func (a *admission) admit(l *line) {
	l.running++
	a.stamp(l)
}

// stamp puts l behind all others.
func (a *admission) stamp(l *line) {
	a.turn++
	l.turn = a.turn
}

// forget drops a line in which nobody is.
func (a *admission) forget(subject string, l *line) {
	if l.running == 0 && len(l.waiting) == 0 {
		delete(a.lines, subject)
	}
}
