package worker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program"
)

const (
	// readyTimeout bounds the start of a worker, whatever the context says.
	readyTimeout = 5 * time.Second
	// watchInterval is how often a worker is looked at while the call that it
	// waits for is answered: one that died is noticed at the second look. With
	// a shorter one, each execution's timer would wake a thread.
	watchInterval = 250 * time.Millisecond
	// exitGrace is how long a worker that closed its output has to end by
	// itself, so that its status says why.
	exitGrace = 100 * time.Millisecond
	// releaseInterval is how long a killed worker's pipes have to end.
	releaseInterval = 50 * time.Millisecond
	// largestKept is the buffer that the next session may use again.
	largestKept = 64 << 10
)

// session is the host's side of one execution: what was agreed, and what was
// already used.
//
// Until the program calls, there is one goroutine: the one that called run
// sends the program and waits for what comes first. A program that calls
// nothing needs no other. From the first call on there are two. The first one
// watches: the context, the worker's life, the Pool's end. The other one
// converses: it alone reads, and answers the calls that the program waits for.
// Calls of callables that run in parallel are answered by a goroutine each. The
// watcher never waits for the code of a call.
type session struct {
	pool    *Pool
	process *process
	job     Job
	frames  *frameReader
	calls   context.Context // of the job's function, from the first call on; ends with the execution
	done    chan conclusion // holds what converse came to

	// The conversing goroutine's own.
	sequence uint32 // of the last call
	current  Call   // that it answers

	onTheWay atomic.Int32 // calls that came and were not answered
	// answering: the conversing goroutine runs the job's function, which may
	// take for ever, and touches the process again only if over is not set.
	answering atomic.Bool

	writing  sync.Mutex           // for what follows, and the worker's input
	over     atomic.Bool          // set under writing: the process belongs to the watcher alone
	out      []byte               // scratch of the last frame sent
	received int64                // bytes of successful results
	sent     map[fault.Class]bool // classes of faults sent to the worker
	liar     error                // why a call's goroutine ended the worker; it may find that late
}

// conclusion is what an execution came to.
type conclusion struct {
	result Result
	err    error
}

func newSession(p *Pool, w *process, job Job) *session {
	s := &session{pool: p, process: w, job: job, done: make(chan conclusion, 1)}
	s.frames = p.readers.Get().(*frameReader)
	bytes, _ := job.bounds()
	s.frames.reset(w.out, bytes+slackBytes)
	return s
}

// bounds are those of the result's value.
func (j *Job) bounds() (bytes, depth int) {
	if j.Check {
		return program.MaxReportBytes, program.ReportDepth
	}
	return j.Limits.ValueBytes, j.Limits.Depth
}

// check refuses a job that no worker could hold to.
func (j *Job) check() error {
	if err := j.Limits.Check(); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	if j.Limits.ValueBytes > maxValueBytes || j.Limits.SourceBytes > maxValueBytes ||
		j.Limits.Calls > math.MaxUint32 || j.Limits.Depth > math.MaxInt32 || j.Limits.Parallel > math.MaxInt32 {
		return errors.New("worker: a limit is larger than the protocol can carry")
	}
	if j.Call == nil {
		return errors.New("worker: no function for native calls")
	}
	if n, most := len(j.Source), j.Limits.SourceBytes; n > most {
		return fault.Reached(fault.MaxSourceBytes, int64(most), "the program has %d bytes", n)
	}
	if n, most := len(j.Data), j.Limits.ValueBytes; n > most {
		return fault.Reached(fault.MaxValueBytes, int64(most), "data has %d bytes", n)
	}
	if len(j.Source)+len(j.Data) > maxValueBytes {
		return errors.New("worker: source and data together are larger than the protocol can carry")
	}
	return nil
}

// run has the program run. When it returns, its process was killed, and is
// gone but for its reaping.
func (s *session) run(ctx context.Context) (Result, error) {
	call, c := s.open(ctx)
	concluded := call == nil
	end := func() {}
	if !concluded {
		s.calls, end = context.WithCancel(ctx)
		s.pool.calls.Add()
		go s.converse(func() (Result, error) { return s.serve(call) })
		c, concluded = s.watch(ctx)
	}
	lost := errors.As(c.err, new(*lostError))
	if lost {
		s.process.await(exitGrace)
	}
	s.process.kill()
	end()
	abandoned := s.leave(concluded)
	if !abandoned && len(s.frames.buf) <= largestKept {
		s.frames.source = nil
		s.pool.readers.Put(s.frames)
	}
	if lost {
		words := s.process.words.read(maxWords)
		state := s.process.reap()
		c.err = explain(state, words, s.process.starved, s.pool.config.memory)
		s.pool.release()
		if liar := s.lied(); liar != nil {
			c.err = liar
		}
	} else {
		s.pool.retire(s.process)
	}
	return c.result, c.err
}

// lied is what a call's goroutine has found by now.
func (s *session) lied() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.liar
}

// watch waits for the conversation's end, or says why it is not waited for.
func (s *session) watch(ctx context.Context) (c conclusion, concluded bool) {
	look := time.NewTicker(watchInterval)
	defer look.Stop()
	for looks := 0; ; {
		select {
		case c := <-s.done:
			if c.err != nil && ctx.Err() != nil {
				c.err = ended(ctx)
			}
			return c, true
		case <-ctx.Done():
			return conclusion{err: ended(ctx)}, false
		case <-s.pool.ctx.Done():
			return conclusion{err: ErrClosed}, false
		case <-look.C:
			// Whoever reads sees the end by itself; whoever answers may have
			// just come back to read what the worker left behind.
			if !s.answering.Load() || !s.process.out.hungUp() {
				looks = 0
			} else if looks++; looks > 1 {
				return conclusion{err: &lostError{errHungUp}}, false
			}
		}
	}
}

// leave returns when no goroutine of the session uses the process any more, or
// will. The process was killed, so that reads and writes end. It reports
// whether the conversing goroutine was left with a call that goes on.
func (s *session) leave(concluded bool) (abandoned bool) {
	s.writing.Lock()
	s.over.Store(true)
	s.writing.Unlock()
	if concluded {
		return false
	}
	if s.answering.Load() {
		return true
	}
	again := time.NewTicker(releaseInterval)
	defer again.Stop()
	for {
		select {
		case <-s.done:
			return false
		case <-again.C:
			// Somebody else holds the worker's end, too.
			s.process.out.release()
		}
	}
}

// converse is the goroutine that reads. Code of the host may end it, and then
// another one takes over.
func (s *session) converse(speak func() (Result, error)) {
	finished := false
	defer func() {
		if !finished {
			go s.converse(s.resume)
			return
		}
		s.pool.calls.Done()
	}()
	result, err := speak()
	s.done <- conclusion{result, err}
	finished = true
}

// resume goes on after code of the host ended its goroutine.
func (s *session) resume() (Result, error) {
	if err := s.answered(failedInside()); err != nil {
		return Result{}, err
	}
	return s.listen()
}

// listen serves the calls that the worker sends from now on, until the program
// has ended.
func (s *session) listen() (Result, error) {
	m, err := receive(s.frames)
	if err != nil {
		return Result{}, err
	}
	return s.serve(m)
}

// serve serves the calls of the program, the first of which is m, until it has
// ended.
func (s *session) serve(m *message) (Result, error) {
	for m.calls() {
		err := s.call(m)
		if err == nil {
			m, err = receive(s.frames)
		}
		if err != nil {
			return Result{}, err
		}
	}
	return s.conclude(m)
}

// conclude is what m, which is no call, makes of the execution.
func (s *session) conclude(m *message) (Result, error) {
	if len(m.printed.Text) > program.MaxPrintBytes || !s.job.Prints && m.printed != (program.Prints{}) {
		return Result{}, broken("prints of %d bytes", len(m.printed.Text))
	}
	switch m.kind {
	case kindResult:
		return s.result(m)
	case kindFault:
		if err := s.last(); err != nil {
			return Result{}, err
		}
		return Result{Steps: s.counted(m.steps), Prints: m.printed}, s.failure(m.fault)
	}
	return Result{}, broken("a message of kind %d out of place", m.kind)
}

// result checks what the program returned.
func (s *session) result(m *message) (Result, error) {
	bytes, depth := s.job.bounds()
	if n := s.onTheWay.Load(); n > 0 {
		return Result{}, broken("a result while %d calls were on the way", n)
	}
	if len(m.body) > bytes {
		return Result{}, broken("a result of %d bytes", len(m.body))
	}
	r := canon.NewWireReader(m.body, depth)
	r.Skip()
	if err := r.End(); err != nil {
		return Result{}, broken("result: %v", err)
	}
	if err := s.last(); err != nil {
		return Result{}, err
	}
	if s.job.Check {
		report, err := program.ReadReport(m.body)
		if err != nil {
			return Result{}, broken("%v", err)
		}
		return Result{Report: report}, nil
	}
	return Result{Value: append([]byte(nil), m.body...), WideIntegers: m.wide, NoValue: m.noValue, Steps: s.counted(m.steps), Prints: m.printed}, nil
}

// last refuses bytes after what is the last message.
func (s *session) last() error {
	if len(s.frames.unread()) > 0 {
		return broken("bytes after its result")
	}
	return nil
}

// counted is what the worker says it used, but never more than it had.
func (s *session) counted(steps int64) int64 { return min(steps, s.job.Limits.Steps) }

// failure admits the worker's fault if a program can cause it.
func (s *session) failure(f *fault.Fault) error {
	switch f.Class {
	case fault.InvalidProgram, fault.ProgramError, fault.InvalidArguments, fault.NotFound, fault.Limit, fault.Internal:
		return f
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.sent[f.Class] {
		return f
	}
	return broken("a fault of class %s", f.Class)
}

// ended is the error of a context that ended.
func ended(ctx context.Context) error {
	cause := context.Cause(ctx)
	var f *fault.Fault
	switch {
	case errors.As(cause, &f), errors.Is(cause, ErrClosed):
		return cause
	case errors.Is(cause, context.DeadlineExceeded):
		return &fault.Fault{
			Class:   fault.Limit,
			Message: "the time for the execution is over",
			Hint:    "do less per run, or call capabilities that answer sooner",
			Limit:   fault.MaxExecutionTime,
		}
	}
	return &fault.Fault{Class: fault.Cancelled, Message: "the execution was cancelled"}
}
