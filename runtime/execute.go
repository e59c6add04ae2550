package runtime

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/worker"
)

// Execution is the outcome of one program. The receipt is filled on success
// and on failure.
type Execution struct {
	// Result is the JSON text of what the program returned; nil on failure.
	Result []byte
	// WideIntegers: an integer outside of ±(2^53−1) was written as a decimal
	// string, because JSON clients would round it.
	WideIntegers bool
	// NoValue: the program is a script that ends in no expression and sets no
	// variable result, so that Result is null.
	NoValue bool
	// Prints with WithPrints, on failure too; else it is zero.
	Prints  Prints
	Receipt Receipt
}

// Execute runs one program for subject in a worker process of its own. It
// returns when the program has ended, ctx has, or MaxExecutionTime has passed;
// the process was killed by then. A handler that ignores its context is not
// waited for: its call stands as unknown in the receipt. A failure is an
// *Error.
func (s *Server) Execute(ctx context.Context, subject authz.Subject, source string, options ...ExecuteOption) (Execution, error) {
	return s.conduct(ctx, subject, options, func(x *execution) ([]byte, worker.Result, *fault.Fault) { return x.run(ctx, source) })
}

// conduct has run do the work of one execution, and tells what came of it.
func (s *Server) conduct(ctx context.Context, subject authz.Subject, options []ExecuteOption, run func(*execution) ([]byte, worker.Result, *fault.Fault)) (Execution, error) {
	start := time.Now()
	x := &execution{server: s, subject: subject}
	for _, o := range options {
		o(x)
	}
	x.id = newExecutionID()
	receipt := Receipt{
		Execution:  x.id,
		Deployment: s.deployment,
		Catalog:    s.catalog.digest,
	}
	text, result, f := run(x)
	steps := result.Steps
	receipt.Calls = x.calls.snapshot()
	receipt.Steps = steps
	receipt.DurationMicros = time.Since(start).Microseconds()
	if f != nil {
		s.log.InfoContext(ctx, "execution failed", "execution", receipt.Execution, "subject", subject.String(),
			"class", string(f.Class), "calls", len(receipt.Calls), "duration_us", receipt.DurationMicros)
		return Execution{Prints: result.Prints, Receipt: receipt}, &Error{fault: *f}
	}
	if s.log.Enabled(ctx, slog.LevelDebug) {
		s.log.DebugContext(ctx, "execution done", "execution", receipt.Execution, "subject", subject.String(),
			"calls", len(receipt.Calls), "duration_us", receipt.DurationMicros)
	}
	return Execution{Result: text, WideIntegers: result.WideIntegers, NoValue: result.NoValue, Prints: result.Prints, Receipt: receipt}, nil
}

// execution is the state of one running program on the host.
type execution struct {
	server  *Server
	subject authz.Subject
	id      string
	key     string // the client's idempotency key
	keyed   bool   // whether there is one
	keys    *keyring
	data    []byte // JSON text, nil for none
	calls   recorder
	prints  bool             // whether they are returned
	timeout time.Duration    // the client's, 0 for none
	watch   func(CallRecord) // nil for none
	around  func(context.Context, ObservedCall) (context.Context, func(ObservedCall))
	// direct: a client calls without a program, and arguments are its JSON text.
	direct bool

	mu        sync.Mutex
	delivered int64          // bytes of successful results so far
	denials   int            // calls that were denied so far
	told      []*fault.Fault // what calls were answered with, as the host saw it
	over      *fault.Fault   // the limit that ended the execution, if one did
}

// run runs the program, and returns its result as JSON text too.
func (x *execution) run(ctx context.Context, source string) (text []byte, result worker.Result, f *fault.Fault) {
	s := x.server
	if f := x.admissible(source); f != nil {
		return nil, result, f
	}
	if x.keyed {
		if x.keys, f = newKeyring(s.hostKey, x.subject, x.key, source, x.data); f != nil {
			return nil, result, f
		}
	}
	result, f = x.work(ctx, worker.Job{Source: source, Prints: x.prints, Begin: x.begin, Call: x.call})
	if f != nil {
		return nil, result, f
	}
	text, f = s.resultText(ctx, &result)
	return text, result, f
}

// resultText is the JSON text of a result, within its bounds.
func (s *Server) resultText(ctx context.Context, result *worker.Result) ([]byte, *fault.Fault) {
	text, wide, err := canon.WireToJSON(nil, result.Value, s.limits.MaxValueDepth)
	if err != nil {
		s.log.ErrorContext(ctx, "worker returned a value that does not read", "error", err)
		return nil, &fault.Fault{Class: fault.Internal, Message: "the result could not be read"}
	}
	result.WideIntegers = wide || result.WideIntegers
	return text, s.checkText(len(text))
}

// admissible judges what needs no worker.
func (x *execution) admissible(source string) *fault.Fault {
	most := x.server.limits.MaxSourceBytes
	switch {
	case x.subject.IsZero():
		return nobody()
	case len(source) > most:
		return fault.Reached(fault.MaxSourceBytes, int64(most), "the program has %d bytes", len(source))
	}
	return x.checkData()
}

func nobody() *fault.Fault {
	return &fault.Fault{Class: fault.Unauthenticated, Message: "no subject"}
}

// work has a worker do the job, when it is the subject's turn.
func (x *execution) work(ctx context.Context, job worker.Job) (result worker.Result, f *fault.Fault) {
	s := x.server
	job.Data, job.RequireMain, job.Limits = x.data, s.strictMain, s.workerLimits()
	f = x.inTurn(ctx, func(ctx context.Context) (f *fault.Fault) {
		var err error
		if result, err = s.runner.Run(ctx, job); err != nil {
			f = x.explain(ctx, err)
		}
		return f
	})
	return result, f
}

// inTurn calls do when it is the subject's turn, with a context that ends when
// the execution has to.
func (x *execution) inTurn(ctx context.Context, do func(context.Context) *fault.Fault) *fault.Fault {
	s := x.server
	bound, why := s.limits.MaxExecutionTime, errExecutionTime
	if 0 < x.timeout && x.timeout < bound {
		bound, why = x.timeout, errAskedTime
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bound, why)
	defer cancel()
	who := x.subject.String()
	if err := s.admission.enter(ctx, who); err != nil {
		return x.notAdmitted(ctx, err)
	}
	defer s.admission.leave(who)
	return do(ctx)
}

// checkText bounds the JSON text of a result whose wire bytes are within
// MaxValueBytes: control characters are six times as long in it, an answer
// holds it twice, and stdio clients end a session over a message of some 10 MiB.
func (s *Server) checkText(bytes int) *fault.Fault {
	const widest = 4
	max := s.limits.MaxValueBytes
	if bytes <= widest*max {
		return nil
	}
	f := fault.Reached(fault.MaxValueBytes, int64(max), "the result has %d bytes as JSON, more than %d times MaxValueBytes", bytes, widest)
	f.Path, f.Hint = "result", "return less: a summary, a count, a page"
	return f
}

// begin notes one native call, in the program's order.
func (x *execution) begin(c worker.Call) {
	id, name := c.Capability, ""
	if entry := x.server.catalog.byID(c.Capability); entry != nil {
		name = entry.info.Name
	} else {
		id = "" // what a worker made up has no place in a receipt
	}
	x.calls.begin(id, name)
}

// call answers one native call.
func (x *execution) call(ctx context.Context, c worker.Call) worker.Reply {
	i := int(c.Sequence) - 1
	t := x.trail(i)
	var ended func(ObservedCall)
	answered := false
	defer func() {
		if !answered { // a panic outside of what dispatch contains, or runtime.Goexit
			x.server.log.ErrorContext(ctx, "a call was left by host code", "capability", c.Capability)
			o := outcome{state: x.calls.abandoned(i), fault: &fault.Fault{Class: fault.Internal}}
			t.ended(ctx, o)
			x.end(i, o, decisionOf(o), ended)
		}
	}()
	ctx, ended = x.surround(ctx, i)
	if c.BindFailure {
		if entry := x.server.catalog.byID(c.Capability); entry != nil {
			t.called(entry.info.ID)
		}
		o := refused(&fault.Fault{Class: fault.InvalidArguments})
		t.ended(ctx, o)
		answered = true
		x.end(i, o, audit.Unbound, ended)
		return worker.Reply{}
	}
	o, decision := x.admit(), audit.Refused
	if o.fault == nil {
		o = x.server.dispatcher.dispatch(ctx, x.subject, x.keys, t, nativeCall{c, x.direct}, func() bool { return x.calls.dispatched(i) })
		decision = decisionOf(o)
		t.decided(o)
		x.settle(&o)
	}
	t.ended(ctx, o)
	answered = true
	x.end(i, o, decision, ended)
	switch {
	case o.broken != "":
		return worker.Reply{Broken: o.broken}
	case o.fault != nil:
		return worker.Reply{Fault: o.fault}
	}
	return worker.Reply{Value: o.value}
}

// surround tells who surrounds calls that one begins.
func (x *execution) surround(ctx context.Context, i int) (context.Context, func(ObservedCall)) {
	if x.around == nil {
		return ctx, nil
	}
	return x.around(ctx, ObservedCall{Execution: x.id, CallRecord: x.calls.record(i)})
}

// end records how call i went, and tells whoever watches, and who surrounds it.
func (x *execution) end(i int, o outcome, d audit.Decision, ended func(ObservedCall)) {
	record := x.calls.end(i, o)
	if x.watch != nil {
		x.watch(record)
	}
	if ended != nil {
		observed := ObservedCall{Execution: x.id, CallRecord: record, Decision: d}
		if o.fault != nil {
			observed.Code = o.fault.Code
		}
		ended(observed)
	}
}

// admit refuses a call of an execution that a limit has ended.
func (x *execution) admit() outcome {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over != nil {
		return refused(x.over)
	}
	return outcome{}
}

// settle counts what came of a call against the limits of the execution. A
// limit that fires replaces the outcome, and ends the execution.
func (x *execution) settle(o *outcome) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case o.fault == nil:
		o.fault = x.deliver(o.name, len(o.value))
	case o.fault.Class == fault.Denied:
		if x.denials++; x.denials > x.server.limits.MaxDenials {
			o.fault = fault.Reached(fault.MaxDenials, int64(x.server.limits.MaxDenials), "too many calls of this program were denied")
			o.fault.Capability, o.fault.Hint = o.name, "do not repeat what was denied"
		}
	}
	if o.fault == nil {
		return
	}
	x.told = append(x.told, o.fault)
	if o.fault.Class == fault.Limit {
		x.over = o.fault
	}
}

// deliver debits a result's bytes, under mu, and refuses it when the sum is too
// large.
func (x *execution) deliver(name string, bytes int) *fault.Fault {
	max := x.server.limits.MaxIntermediateValueBytes
	if x.delivered+int64(bytes) > max {
		f := fault.Reached(fault.MaxIntermediateValueBytes, max, "the results of this program's calls would have %d bytes in all", x.delivered+int64(bytes))
		f.Capability, f.Hint = name, "ask for less: narrow the calls down, or do the work in several programs"
		return f
	}
	x.delivered += int64(bytes)
	return nil
}

// explain turns what the runner said into what the client is told. A worker is
// hostile, so classes that only the host can know are taken from the host's
// own record and not from the worker's words.
func (x *execution) explain(ctx context.Context, err error) *fault.Fault {
	if ctx.Err() != nil {
		return x.ended(ctx, "while the program ran")
	}
	if errors.Is(err, worker.ErrClosed) {
		return shuttingDown()
	}
	var f *fault.Fault
	if !errors.As(err, &f) {
		x.server.log.ErrorContext(ctx, "worker failed", "error", err)
		return &fault.Fault{Class: fault.Internal, Message: "the program could not be run"}
	}
	if !hostOnly(f.Class) {
		return f
	}
	last := x.saying(f)
	if f.Class == fault.Internal || f.Class == fault.WorkerLost {
		x.server.log.ErrorContext(ctx, "worker failed", "class", string(f.Class), "message", f.Message)
	}
	switch {
	case last != nil:
		told := *last
		told.Line, told.Column, told.Trace = f.Line, f.Column, f.Trace
		return &told
	case f.Class == fault.WorkerLost:
		return &fault.Fault{
			Class:   fault.WorkerLost,
			Message: "the worker process ended before the program did",
			Hint:    "the program may have used too much memory, or nested calls or values too deeply",
		}
	default:
		return &fault.Fault{Class: fault.Internal, Message: "the program could not be run"}
	}
}

// saying is what the host itself told the program that f, from the worker, is
// about: the same fault, with the callable of parallel that it came to, or else
// the latest of its class.
func (x *execution) saying(f *fault.Fault) (latest *fault.Fault) {
	callables, message := fault.Callables(f.Message)
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, told := range slices.Backward(x.told) {
		switch {
		case told.Class != f.Class:
		case told.Message == message && told.Capability == f.Capability && told.Code == f.Code:
			if callables == "" {
				return told
			}
			same := *told
			same.Message = callables + message
			return &same
		case latest == nil:
			latest = told
		}
	}
	return latest
}

// hostOnly reports whether only the host can know that a failure is of class c.
func hostOnly(c fault.Class) bool {
	switch c {
	case fault.InvalidProgram, fault.ProgramError, fault.InvalidArguments, fault.NotFound, fault.Limit:
		return false
	default:
		return true
	}
}

// notAdmitted says why an execution did not get a worker.
func (x *execution) notAdmitted(ctx context.Context, err error) *fault.Fault {
	var full *fault.Fault
	switch {
	case errors.As(err, &full):
		return full
	case errors.Is(err, errShut):
		return shuttingDown()
	}
	return x.ended(ctx, fmt.Sprintf("while it waited for one of %d workers (MaxConcurrentExecutions); nothing ran", x.server.limits.MaxConcurrentExecutions))
}

// ended says why ctx is over.
func (x *execution) ended(ctx context.Context, when string) *fault.Fault {
	switch context.Cause(ctx) {
	case errAskedTime:
		f := &fault.Fault{Message: "the time that was asked for was over " + when, Hint: "ask for more time, or do less in one program"}
		return f.Reached(fault.Timeout, x.timeout.Milliseconds())
	case errExecutionTime:
		max := x.server.limits.MaxExecutionTime
		return &fault.Fault{
			Class: fault.Limit, Limit: fault.MaxExecutionTime, Bound: max.Milliseconds(),
			Message: fmt.Sprintf("the time was over %s (%s is %s)", when, fault.MaxExecutionTime, max),
			Hint:    "do less in one program, or in fewer and larger calls",
		}
	}
	return &fault.Fault{Class: fault.Cancelled, Message: "cancelled " + when}
}

// errExecutionTime tells our own deadline from one that the caller brought.
var errExecutionTime = errors.New("runtime: MaxExecutionTime")

// errAskedTime tells the client's own deadline from both.
var errAskedTime = errors.New("runtime: the timeout of the request")

func shuttingDown() *fault.Fault {
	return &fault.Fault{Class: fault.Cancelled, Message: "the server is shutting down"}
}

// newExecutionID is a name that no other execution has, for logs: nothing rests
// on nobody being able to guess it.
func newExecutionID() string {
	var id [16]byte
	binary.LittleEndian.PutUint64(id[:], rand.Uint64())
	binary.LittleEndian.PutUint64(id[8:], rand.Uint64())
	return hex.EncodeToString(id[:])
}
