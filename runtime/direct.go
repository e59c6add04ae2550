package runtime

import (
	"context"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/worker"
)

// Call calls one capability that is a tool of its own, by its id, without a
// program and without a worker. arguments are the JSON text of an object; none
// are an empty one. From there on it is an execution with one native call: it
// waits for its turn, is bound, made canonical, judged by policy, recorded and
// bounded as the same call of a program would be, and its receipt says so.
// Execution.Result is the JSON text of the result, with 64-bit integers as
// decimal strings.
//
// WithTimeout and WithWatch are the options that a call takes. A failure is an
// *Error; for arguments that do not bind it has their path.
func (s *Server) Call(ctx context.Context, subject authz.Subject, id string, arguments []byte, options ...ExecuteOption) (Execution, error) {
	entry := s.catalog.byID(id)
	if entry != nil && entry.info.Tool == nil {
		entry = nil
	}
	return s.callDirectly(ctx, subject, entry, arguments, options)
}

// callDirectly calls entry, which is nil if there is no such tool.
func (s *Server) callDirectly(ctx context.Context, subject authz.Subject, entry *entry, arguments []byte, options []ExecuteOption) (Execution, error) {
	return s.conduct(ctx, subject, options, func(x *execution) ([]byte, worker.Result, *fault.Fault) {
		return x.callDirectly(ctx, entry, arguments)
	})
}

func (x *execution) callDirectly(ctx context.Context, entry *entry, arguments []byte) (text []byte, result worker.Result, f *fault.Fault) {
	s := x.server
	if f := x.callable(entry, arguments); f != nil {
		return nil, result, f
	}
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	x.direct = true
	f = x.inTurn(ctx, func(ctx context.Context) (f *fault.Fault) {
		result.Value, f = x.await(ctx, worker.Call{Sequence: 1, Path: []uint32{1}, Capability: entry.info.ID, Arguments: arguments})
		return f
	})
	if f == nil {
		text, f = s.resultText(ctx, &result)
	}
	return text, result, f
}

// callable judges what needs no turn.
func (x *execution) callable(entry *entry, arguments []byte) *fault.Fault {
	most := x.server.limits.MaxValueBytes
	switch {
	case x.subject.IsZero():
		return nobody()
	case x.keyed || x.data != nil:
		return &fault.Fault{Class: fault.InvalidArguments, Message: "a call without a program takes no data and no idempotency key"}
	case entry == nil:
		return &fault.Fault{Class: fault.NotFound, Message: "no such tool"}
	case len(arguments) > most:
		f := fault.Reached(fault.MaxValueBytes, int64(most), "the arguments have %d bytes", len(arguments))
		f.Capability = entry.info.Name
		return f
	}
	return nil
}

// await makes the call, and goes on without it when ctx ends, as a worker that
// is killed does. Close waits for what still runs then.
func (x *execution) await(ctx context.Context, c worker.Call) ([]byte, *fault.Fault) {
	x.begin(c)
	done := make(chan worker.Reply, 1)
	late := &x.server.dispatcher.late
	late.Add()
	go func() {
		defer late.Done()
		reply := worker.Reply{Fault: &fault.Fault{Class: fault.Internal, Message: "internal failure"}}
		defer func() { done <- reply }() // also where host code ends the goroutine
		reply = x.call(ctx, c)
	}()
	select {
	case reply := <-done:
		return x.reply(ctx, reply)
	case <-ctx.Done():
		return nil, x.ended(ctx, "while the call ran")
	}
}

func (x *execution) reply(ctx context.Context, reply worker.Reply) ([]byte, *fault.Fault) {
	switch {
	case reply.Broken != "": // x.callable has seen the capability
		return nil, &fault.Fault{Class: fault.Internal, Message: "the call could not be bound"}
	case reply.Fault != nil && reply.Fault.Class == fault.Cancelled && ctx.Err() != nil:
		return nil, x.ended(ctx, "while the call ran")
	}
	return reply.Value, reply.Fault
}
