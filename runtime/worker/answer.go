package worker

import (
	"context"
	"errors"
	"slices"

	"github.com/capgen/capgen/runtime/fault"
)

// errOver ends a goroutine that the watcher has left behind.
var errOver = errors.New("worker: the execution is over")

// call hands one native call to the host. A call of main is answered before it
// returns: the program waits for nothing else. Those of callables that run in
// parallel are answered by goroutines, in the order in which they are done.
func (s *session) call(m *message) error {
	limits := &s.job.Limits
	s.sequence++
	switch {
	case m.sequence != s.sequence:
		return broken("call %d came as call %d", s.sequence, m.sequence)
	case int64(s.sequence) > limits.Calls:
		return broken("more than %d calls", limits.Calls)
	case m.capability == "":
		return broken("a call of no capability")
	case len(m.body) > limits.ValueBytes:
		return broken("arguments of %d bytes", len(m.body))
	}
	if s.onTheWay.Add(1) > int32(limits.Parallel) {
		return broken("more than %d calls on the way", limits.Parallel)
	}
	call := Call{
		Sequence: m.sequence, Capability: m.capability, Path: m.path,
		Arguments: m.body, BindFailure: m.kind == kindUnbound,
	}
	if s.job.Begin != nil {
		s.job.Begin(call)
	}
	if len(call.Path) > 1 {
		call.Arguments = slices.Clone(call.Arguments) // the buffer is read into again
		s.pool.calls.Add()
		go s.answerApart(call)
		return nil
	}
	s.current = call
	s.answering.Store(true)
	if s.over.Load() {
		return errOver
	}
	return s.answered(contained(s.calls, s.job.Call, call))
}

// answered sends the answer to the call that the conversing goroutine answers.
func (s *session) answered(reply Reply) error {
	s.answering.Store(false)
	return s.reply(&s.current, reply)
}

// answerApart is the goroutine of one call.
func (s *session) answerApart(call Call) {
	defer s.pool.calls.Done()
	reply := failedInside()
	// Deferred, so that a function that ends its goroutine answers too.
	defer func() {
		if err := s.reply(&call, reply); err != nil && !errors.As(err, new(*lostError)) && err != errOver {
			s.writing.Lock()
			s.liar = err
			s.writing.Unlock()
			s.process.kill() // which ends the conversation
		}
	}()
	reply = contained(s.calls, s.job.Call, call)
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

// reply sends the answer to one call, if the worker still waits for it.
func (s *session) reply(call *Call, r Reply) error {
	s.onTheWay.Add(-1)
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.over.Load() {
		return errOver
	}
	if r.Broken != "" {
		return broken("call %d: %s", call.Sequence, r.Broken)
	}
	m := s.replyMessage(call, r)
	return s.send(&m)
}

// replyMessage checks the host's own answer against the limits of crossing.
func (s *session) replyMessage(call *Call, reply Reply) message {
	f := reply.Fault
	if f == nil && !call.BindFailure {
		f = s.admit(reply.Value)
	}
	if f != nil {
		if s.sent == nil {
			s.sent = make(map[fault.Class]bool)
		}
		s.sent[f.Class] = true
		return message{kind: kindRefuse, sequence: call.Sequence, fault: f}
	}
	if call.BindFailure {
		reply.Value = nil
	}
	return message{kind: kindReply, sequence: call.Sequence, body: reply.Value}
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

// send writes a message to the worker, under writing.
func (s *session) send(m *message) error {
	var err error
	if s.out, err = appendFrame(s.out[:0], m.append); err != nil {
		return err
	}
	return write(s.process, s.out)
}
