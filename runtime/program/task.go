package program

import (
	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/fault"
)

// task is main, or a callable of parallel that has begun, on a goroutine of its
// own. One task of an execution runs at a time: a task that has to wait hands
// over to another (engine.park), and none waits for a lock. That is why tasks
// may share values, and the engine needs no lock either.
type task struct {
	thread *starlark.Thread
	// path leads to the callable: ordinal and index of each parallel around it.
	path    []uint32
	ordinal uint32 // of its last native call, attempt of one, or parallel
	base    int    // frames of the tasks around it
	// baton is sent when the task is to go on.
	baton chan struct{}
}

// answer is a native call on its way, and then its result.
type answer struct {
	task  *task
	call  *capability
	value starlark.Value
	err   error
}

// group are the callables of one parallel.
type group struct {
	callables []starlark.Callable
	next      int // the first that has not begun
	results   []starlark.Value
	errs      []error
	left      int // callables that have not ended
	parent    *task
	path      []uint32
	base      int
}

// schedule is which tasks can go on, and with what.
type schedule struct {
	waiting map[uint32]*answer // calls on their way, by sequence
	ready   []*task            // whose answers are there
	resumed []*task            // whose groups have ended
	groups  []*group           // with callables that have not begun, the innermost last
	active  int                // callables that have begun, and wait for no group of their own
}

// newThread is a thread of the program.
func (e *engine) newThread() *starlark.Thread {
	return &starlark.Thread{
		Name:       "program",
		Print:      func(*starlark.Thread, string) {}, // discarded
		OnMaxSteps: e.checkpoint,
	}
}

// enter makes t the task that runs. The steps of all tasks are counted in one:
// the counter goes from thread to thread.
func (e *engine) enter(t *task) {
	used := uint64(0)
	if e.thread != nil {
		used = e.thread.Steps
	}
	e.current, e.thread = t, t.thread
	t.thread.Steps = used
	e.allow(t.thread)
}

// conduct runs the callables of g to their end, and with them whatever else
// can go on. The current task goes on when they have ended.
func (e *engine) conduct(g *group) {
	t := e.current
	e.groups = append(e.groups, g)
	if !t.isMain() {
		e.active-- // it takes no part until then
	}
	e.park(t)
}

// park hands over to another task, and returns when t is to go on. When no task
// can go on, whoever runs waits for the answer to a call.
func (e *engine) park(t *task) {
	for {
		next, start := e.pick()
		switch {
		case next == t:
			e.enter(t)
			return
		case start != nil:
			e.enter(next)
			go start()
		case next != nil:
			e.enter(next)
			next.baton <- struct{}{}
		default:
			e.receive()
			continue
		}
		<-t.baton
		return // entered by who handed over
	}
}

// pick takes the task that goes on next, or begins one: then start is what its
// goroutine runs. Tasks that wait for no answer come first, the callables of
// the innermost parallel before those around it, so that few have begun.
func (e *engine) pick() (next *task, start func()) {
	if len(e.ready) > 0 {
		next, e.ready = e.ready[0], e.ready[1:]
		return next, nil
	}
	if len(e.resumed) > 0 && (e.active < e.limits.Parallel || e.fatal != nil || e.resumed[0].isMain()) {
		next, e.resumed = e.resumed[0], e.resumed[1:]
		if !next.isMain() {
			e.active++
		}
		return next, nil
	}
	if len(e.groups) == 0 || e.active >= e.limits.Parallel {
		return nil, nil
	}
	g := e.groups[len(e.groups)-1]
	i := g.next
	if g.next++; g.next == len(g.callables) {
		e.groups = e.groups[:len(e.groups)-1]
	}
	e.active++
	t := &task{
		thread: e.newThread(),
		path:   append(append(make([]uint32, 0, len(g.path)+1), g.path...), uint32(i)),
		base:   g.base,
		baton:  make(chan struct{}, 1),
	}
	return t, func() { e.begin(t, g, i) }
}

func (t *task) isMain() bool { return len(t.path) == 0 }

// begin is the goroutine of callable i of g. Its parent waits for it.
func (e *engine) begin(t *task, g *group, i int) {
	defer func() {
		if recover() != nil {
			g.errs[i] = &nativeFailure{e.fault(fault.Internal, "the interpreter failed on this program")}
			e.end(g.errs[i])
		}
		e.active--
		e.leave(g)
		e.handOver()
	}()
	g.results[i], g.errs[i] = starlark.Call(t.thread, g.callables[i], nil, nil)
	if err := g.errs[i]; err != nil && e.final(err) {
		e.end(err)
	}
}

// leave counts a callable of g as ended.
func (e *engine) leave(g *group) {
	if g.left--; g.left == 0 {
		e.resumed = append(e.resumed, g.parent)
	}
}

// handOver is park of a task that has ended.
func (e *engine) handOver() {
	for {
		next, start := e.pick()
		switch {
		case start != nil:
			e.enter(next)
			go start()
			return
		case next != nil:
			e.enter(next)
			next.baton <- struct{}{}
			return
		}
		e.receive()
	}
}

// end ends the program with err: no callable begins any more, and those that
// wait for answers go on, to fail.
func (e *engine) end(err error) {
	if e.fatal != nil {
		return
	}
	f := e.runtimeFault(err)
	e.fatal = &nativeFailure{f}
	for _, g := range e.groups {
		for ; g.next < len(g.callables); g.next++ {
			g.errs[g.next] = e.fatal
			e.leave(g)
		}
	}
	e.groups = nil
	for sequence, a := range e.waiting {
		a.err = e.fatal
		e.ready = append(e.ready, a.task)
		delete(e.waiting, sequence)
	}
}

// receive waits for the answer to one of the calls on their way.
func (e *engine) receive() {
	sequence, reply, f := e.caller.Answer()
	a := e.waiting[sequence]
	if a == nil {
		if f == nil {
			f = e.fault(fault.Internal, "an answer to no call")
		}
		e.end(&nativeFailure{f})
		return
	}
	delete(e.waiting, sequence)
	a.value, a.err = e.answered(a.call, reply, f)
	e.ready = append(e.ready, a.task)
}

// await waits for the answer to the current task's call.
func (e *engine) await(sequence uint32, c *capability) (starlark.Value, error) {
	t := e.current
	if t.isMain() { // nothing else can go on
		got, reply, f := e.caller.Answer()
		if f == nil && got != sequence {
			f = e.fault(fault.Internal, "an answer to another call")
		}
		return e.answered(c, reply, f)
	}
	a := &answer{task: t, call: c}
	if e.waiting == nil {
		e.waiting = make(map[uint32]*answer)
	}
	e.waiting[sequence] = a
	e.park(t)
	return a.value, a.err
}
