package worker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
)

const (
	// readyTimeout bounds the start of a worker, whatever the context says.
	readyTimeout = 5 * time.Second
	// watchInterval is how often a worker is looked at while a native call is
	// on its way: one that died frees the call.
	watchInterval = 25 * time.Millisecond
)

// session is the host's side of one execution: what was agreed, and what was
// already used. One goroutine runs it.
type session struct {
	ctx     context.Context
	spawner *Spawner
	process *process
	job     Job
	frames  *frameReader
	out     []byte // scratch of the last frame sent

	sequence uint32               // of the last call
	received int64                // bytes of successful results
	sent     map[fault.Class]bool // classes of faults sent to the worker
}

func newSession(ctx context.Context, s *Spawner, p *process, job Job) *session {
	return &session{
		ctx: ctx, spawner: s, process: p, job: job,
		frames: newFrameReader(p.out, slackBytes),
	}
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
	return nil
}

// run speaks with the worker until it has answered or is to be killed.
func (s *session) run() (Result, error) {
	result, err := s.converse()
	if err != nil && s.ctx.Err() != nil {
		// Whatever went wrong, the kill was first.
		return Result{Steps: result.Steps}, ended(s.ctx)
	}
	return result, err
}

func (s *session) converse() (Result, error) {
	if err := s.greet(); err != nil {
		return Result{}, fmt.Errorf("worker: start: %w", err)
	}
	run := message{kind: kindRun, limits: s.job.Limits, body: []byte(s.job.Source)}
	if err := s.send(&run); err != nil {
		return Result{}, err
	}
	s.frames.max = s.job.Limits.ValueBytes + slackBytes
	for {
		m, err := s.receive()
		if err != nil {
			return Result{}, err
		}
		switch m.kind {
		case kindCall, kindUnbound:
			if err := s.call(m); err != nil {
				return Result{}, err
			}
		case kindResult:
			return s.result(m)
		case kindFault:
			return Result{Steps: s.counted(m.steps)}, s.failure(m.fault)
		default:
			return Result{}, broken("a message of kind %d out of place", m.kind)
		}
	}
}

// greet sends the table and waits for ready.
func (s *session) greet() error {
	late := time.AfterFunc(readyTimeout, s.process.kill)
	defer late.Stop()
	if err := s.write(s.spawner.config.table); err != nil {
		return err
	}
	m, err := s.receive()
	if err != nil {
		return err
	}
	return checkReady(m, s.spawner.config)
}

func checkReady(m *message, c *resolved) error {
	switch {
	case m.kind != kindReady:
		return broken("a message of kind %d instead of ready", m.kind)
	case m.protocol != protocol:
		return broken("it speaks protocol %d, this host speaks %d", m.protocol, protocol)
	case m.digest != c.digest:
		return broken("it was given another binding table")
	}
	if err := unconfined(m, c.required); err != nil {
		return broken("%v", err)
	}
	return nil
}

// call hands one native call to the host and its answer to the worker.
func (s *session) call(m *message) error {
	limits := &s.job.Limits
	s.sequence++
	switch {
	case m.sequence != s.sequence:
		return broken("call %d came as call %d", s.sequence, m.sequence)
	case int64(s.sequence) > limits.Calls:
		return broken("more than %d calls", limits.Calls)
	case len(s.frames.unread()) > 0:
		return chatter()
	case m.capability == "":
		return broken("a call of no capability")
	case len(m.body) > limits.ValueBytes:
		return broken("arguments of %d bytes", len(m.body))
	}
	call := Call{Sequence: m.sequence, Capability: m.capability, Path: m.path, BindFailure: m.kind == kindUnbound}
	if !call.BindFailure {
		if err := checkValue(m.body, limits.Depth); err != nil {
			return broken("arguments: %v", err)
		}
		// The frame's buffer is read into again, perhaps while an abandoned
		// call still looks at it.
		call.Arguments = append([]byte(nil), m.body...)
	}
	reply, err := s.answer(call)
	if err != nil {
		return err
	}
	return s.send(s.replyMessage(call, reply))
}

// answer runs Job.Call on a goroutine of its own, which Spawner.Close waits
// for: the run ends without it when the context does, or the worker.
func (s *session) answer(call Call) (Reply, error) {
	replies := make(chan Reply, 1)
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	s.spawner.calls.Add()
	go func() {
		defer s.spawner.calls.Done()
		reply := failedInside()
		// Deferred, so that a function that ends its goroutine answers too.
		defer func() { replies <- reply }()
		reply = contained(ctx, s.job.Call, call)
	}()
	watch := time.NewTicker(watchInterval)
	defer watch.Stop()
	for {
		select {
		case reply := <-replies:
			return reply, nil
		case <-s.ctx.Done():
			return Reply{}, ended(s.ctx)
		case <-watch.C:
			// It must be waiting, silently.
			if s.process.out.stirred() {
				if _, err := s.frames.next(); err != nil {
					return Reply{}, s.lost(err)
				}
				return Reply{}, chatter()
			}
		}
	}
}

// contained turns a panic of the host's function into a fault.
func contained(ctx context.Context, f func(context.Context, Call) Reply, call Call) (reply Reply) {
	defer func() {
		if recover() != nil {
			reply = failedInside()
		}
	}()
	return f(ctx, call)
}

func failedInside() Reply {
	return Reply{Fault: &fault.Fault{Class: fault.Internal, Message: "the native call failed inside the host"}}
}

// replyMessage checks the host's own answer against the limits of crossing.
func (s *session) replyMessage(call Call, reply Reply) *message {
	f := reply.Fault
	if f == nil && !call.BindFailure {
		f = s.admit(reply.Value)
	}
	if f != nil {
		if s.sent == nil {
			s.sent = make(map[fault.Class]bool)
		}
		s.sent[f.Class] = true
		return &message{kind: kindRefuse, sequence: call.Sequence, fault: f}
	}
	if call.BindFailure {
		reply.Value = nil
	}
	return &message{kind: kindReply, sequence: call.Sequence, body: reply.Value}
}

// admit counts a successful result into the program.
func (s *session) admit(value []byte) *fault.Fault {
	l := &s.job.Limits
	if len(value) > l.ValueBytes {
		return fault.Reached(fault.MaxValueBytes, int64(l.ValueBytes), "the result of the call has %d bytes", len(value))
	}
	if s.received += int64(len(value)); s.received > l.ResultBytes {
		return fault.Reached(fault.MaxIntermediateValueBytes, l.ResultBytes, "the results of the native calls are too large together")
	}
	return nil
}

// result checks what the program returned.
func (s *session) result(m *message) (Result, error) {
	l := &s.job.Limits
	if len(m.body) > l.ValueBytes {
		return Result{}, broken("a result of %d bytes", len(m.body))
	}
	if err := checkValue(m.body, l.Depth); err != nil {
		return Result{}, broken("result: %v", err)
	}
	if len(s.frames.unread()) > 0 {
		return Result{}, broken("bytes after its result")
	}
	return Result{Value: append([]byte(nil), m.body...), WideIntegers: m.wide, Steps: s.counted(m.steps)}, nil
}

func checkValue(wire []byte, depth int) error {
	r := canon.NewWireReader(wire, depth)
	r.Skip()
	return r.End()
}

// counted is what the worker says it used, but never more than it had.
func (s *session) counted(steps int64) int64 { return min(steps, s.job.Limits.Steps) }

// failure admits the worker's fault if a program can cause it.
func (s *session) failure(f *fault.Fault) error {
	switch f.Class {
	case fault.InvalidProgram, fault.ProgramError, fault.InvalidArguments, fault.NotFound, fault.Limit, fault.Internal:
		return f
	}
	if s.sent[f.Class] {
		return f
	}
	return broken("a fault of class %s", f.Class)
}

func (s *session) send(m *message) error {
	var err error
	if s.out, err = appendFrame(s.out[:0], m.append); err != nil {
		return err
	}
	return s.write(s.out)
}

func (s *session) write(frame []byte) error {
	if _, err := s.process.in.Write(frame); err != nil {
		return s.lost(err)
	}
	return nil
}

func (s *session) receive() (*message, error) {
	payload, err := s.frames.next()
	if err != nil {
		return nil, s.lost(err)
	}
	m, err := decode(payload)
	if err != nil {
		return nil, broken("%v", err)
	}
	if m.kind.fromHost() {
		return nil, broken("a message of kind %d, which is the host's", m.kind)
	}
	return m, nil
}

// lost is the fault for a stream that ended or is no stream of frames.
func (s *session) lost(err error) error {
	if errors.Is(err, errEmptyFrame) || errors.Is(err, errFrameTooBig) {
		return broken("%v", err)
	}
	return &fault.Fault{
		Class:   fault.WorkerLost,
		Message: "the worker process ended before the program did",
		Hint:    "the program may have used too much memory, or nested calls or values too deeply",
	}
}

// chatter: a worker has one call on its way and then waits.
func chatter() error { return broken("a message while its call was on the way") }

// broken is the fault for a worker that broke the protocol.
func broken(format string, args ...any) *fault.Fault {
	return &fault.Fault{Class: fault.WorkerLost, Message: "the worker broke its protocol: " + fmt.Sprintf(format, args...)}
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
