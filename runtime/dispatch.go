package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/internal/gauge"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/policyview"
	"github.com/capgen/capgen/runtime/worker"
)

// dispatcher carries native calls through the order of authority: bind
// exactly, canonicalize, check scopes, authorize, run the handler, check its
// output, convert. It fails closed at each step. It is immutable, but for what
// it counts.
type dispatcher struct {
	catalog    *catalog
	authorizer authz.Authorizer
	limits     Limits
	log        *slog.Logger
	// credentials are what handlers get in their contexts, and nobody else.
	credentials []Credential

	late gauge.Gauge // handlers that have a timeout, while they run
}

// outcome is how one native call ended.
type outcome struct {
	name  string // of the capability
	value []byte // wire bytes, when fault is nil
	state CallState
	fault *fault.Fault
	// broken: what about the call no honest worker sends; fault is set too.
	broken string
	// attempts is how often the handler was called; 0 counts as once.
	attempts int
	// breaches are the checks that a delivered value fails.
	breaches int
}

// nativeCall is a call with the form of its arguments.
type nativeCall struct {
	worker.Call
	// text: Arguments are the JSON text of a client that calls without a
	// program, and not a worker's wire bytes.
	text bool
}

func (c nativeCall) reader(maxDepth int) *canon.Reader {
	if c.text {
		return canon.NewJSONReader(c.Arguments, maxDepth)
	}
	return canon.NewWireReader(c.Arguments, maxDepth)
}

func refused(f *fault.Fault) outcome {
	return outcome{name: f.Capability, state: CallNotDispatched, fault: f}
}

func failed(f *fault.Fault) outcome {
	return outcome{name: f.Capability, state: CallFailed, fault: f}
}

// lied is the outcome of a call that only a hostile worker makes.
func lied(name, what string) outcome {
	o := refused(&fault.Fault{Class: fault.Internal, Capability: name, Message: "the call could not be bound"})
	o.broken = what
	return o
}

// dispatch runs one native call of subject, whose handler gets its key in ctx
// if there are keys, and whose trail knows which call it was and whether it was
// let through. running is called whenever the handler is about to run, and
// reports whether it still may.
func (d *dispatcher) dispatch(ctx context.Context, subject authz.Subject, keys *keyring, t *trail, c nativeCall, running func() bool) outcome {
	entry := d.catalog.byID(c.Capability)
	if entry == nil {
		// The worker binds by the same table, so an honest one cannot get here.
		d.log.ErrorContext(ctx, "worker called a capability that is not in the catalog")
		return lied("", "a capability that is not in the catalog")
	}
	t.called(entry.info.ID)
	defer entry.unfinished.Add(-1)
	if n := entry.unfinished.Add(1); n > int64(d.limits.MaxUnfinishedCalls) {
		d.log.ErrorContext(ctx, "calls that should have ended still run", "capability", entry.info.ID, "calls", n-1)
		return refused(d.tooManyUnfinished(entry))
	}
	call, canonical, err := d.bind(entry, c)
	if err != nil && c.text {
		return refused(unbound(entry, err))
	}
	if err != nil {
		d.log.ErrorContext(ctx, "worker sent arguments that do not bind", "capability", entry.info.ID, "error", err)
		return lied(entry.info.Name, "arguments that do not bind")
	}
	t.with(canonical)
	if f := checkScopes(subject, entry); f != nil {
		return refused(f)
	}
	hash := keys.hash(canonical) // the authorizer may write on canonical
	if f := d.authorize(ctx, subject, entry, call, canonical); f != nil {
		return refused(f)
	}
	if ctx.Err() == nil {
		if f := t.dispatching(ctx); f != nil {
			f.Capability = entry.info.Name
			return refused(f)
		}
	}
	if ctx.Err() != nil || !running() {
		return refused(&fault.Fault{Class: fault.Cancelled, Capability: entry.info.Name, Message: "the execution ended before the call was dispatched"})
	}
	// A handler of what belongs to somebody asks the context whose it is.
	ctx = authz.WithSubject(WithCredentials(keys.with(ctx, entry.info.ID, c.Path, hash), d.credentials...), subject)
	return d.attempts(ctx, entry, c, call, running)
}

// tooManyUnfinished refuses a call of a capability whose calls do not end.
func (d *dispatcher) tooManyUnfinished(entry *entry) *fault.Fault {
	f := fault.Reached(fault.MaxUnfinishedCalls, int64(d.limits.MaxUnfinishedCalls), "too many calls of %s have not ended, although they were told to", entry.info.Name)
	f.Capability, f.Hint = entry.info.Name, "do without this capability, and tell who runs the server"
	return f
}

// unbound tells a client what is wrong with the arguments that it wrote itself.
func unbound(entry *entry, err error) *fault.Fault {
	f := &fault.Fault{Class: fault.InvalidArguments, Capability: entry.info.Name, Message: "the arguments do not bind"}
	var e *canon.Error
	if errors.As(err, &e) {
		f.Path, f.Message = e.Path, e.Message
	}
	return f
}

// bind decodes the caller's bytes with the generated decoder and writes their
// canonical form. A panic in generated code is contained.
func (d *dispatcher) bind(entry *entry, c nativeCall) (call invocation, canonical []byte, err error) {
	defer contain(&err)
	if err := notGiven(c, entry.info.Call.Fixed, d.limits.MaxValueDepth); err != nil {
		return nil, nil, err
	}
	call, err = entry.bind(c.reader(d.limits.MaxValueDepth))
	if err != nil {
		return nil, nil, err
	}
	return call, canon.AppendCanonical(nil, call), nil
}

func checkScopes(subject authz.Subject, entry *entry) *fault.Fault {
	scope := missingScope(subject, entry)
	if scope == "" {
		return nil
	}
	return &fault.Fault{
		Class:      fault.Denied,
		Capability: entry.info.Name,
		Message:    fmt.Sprintf("permission denied: the scope %s is required", scope),
	}
}

// missingScope is the first that the subject does not have.
func missingScope(subject authz.Subject, entry *entry) string {
	for _, scope := range entry.info.Scopes {
		if !subject.Scopes.Has(scope) {
			return scope
		}
	}
	return ""
}

// authorize asks the host's authorizer, which gets private copies only.
func (d *dispatcher) authorize(ctx context.Context, subject authz.Subject, entry *entry, call invocation, canonical []byte) *fault.Fault {
	denied, err := d.askOf(ctx, subject, entry, call, canonical)
	switch {
	case err == nil:
		return nil
	case denied:
		d.log.InfoContext(ctx, "call denied", "capability", entry.info.ID, "subject", subject.String(), "error", err)
		return &fault.Fault{Class: fault.Denied, Capability: entry.info.Name, Message: "permission denied"}
	default:
		d.log.ErrorContext(ctx, "policy failure", "capability", entry.info.ID, "subject", subject.String(), "error", err)
		return &fault.Fault{Class: fault.PolicyFailure, Capability: entry.info.Name, Message: "the policy could not decide"}
	}
}

// askOf asks the host's authorizer of one call, whose View ends with it.
func (d *dispatcher) askOf(ctx context.Context, subject authz.Subject, entry *entry, call invocation, canonical []byte) (denied bool, err error) {
	view := policyview.New(call, d.limits.MaxValueDepth+1)
	defer view.Close()
	return d.askAuthorizer(ctx, authz.Request{
		Subject:     subject,
		ID:          entry.info.ID,
		Name:        entry.info.Name,
		Effect:      string(entry.info.Effect),
		Idempotency: string(entry.info.Idempotency),
		World:       string(entry.info.World),
		Tags:        slices.Clone(entry.info.Tags),
		Arguments:   canonical,
		View:        view.Map,
	})
}

// askAuthorizer also reads the error, whose methods are the host's code too.
func (d *dispatcher) askAuthorizer(ctx context.Context, r authz.Request) (denied bool, err error) {
	defer contain(&err)
	err = d.authorizer.Authorize(ctx, r)
	return errors.Is(err, authz.ErrDenied), err
}

// run calls the handler, checks what it returns and converts it.
func (d *dispatcher) run(ctx context.Context, entry *entry, call invocation) outcome {
	h := d.handle(ctx, entry, call)
	if h.ending != returned {
		return d.cutOff(ctx, entry, h)
	}
	out, err := h.out, h.err
	if err != nil {
		f, defect := handlerFault(ctx, entry, err)
		level := slog.LevelWarn
		switch {
		case defect != nil:
			level, err = slog.LevelError, defect
		case f.Code != "" || f.Class == fault.Cancelled:
			level = slog.LevelInfo // the program is told, and may well have caused it
		}
		d.log.Log(ctx, level, "capability failed", "capability", entry.info.ID, "error", err)
		return failed(f)
	}
	wire, report, err := encodeOutput(out, entry.info.Result, d.limits)
	if err == nil {
		wire, err = entry.shape(wire, d.limits)
	}
	if f := d.tooLarge(entry, len(wire), err); f != nil {
		return outcome{name: entry.info.Name, state: CallDone, fault: f}
	}
	if err != nil {
		d.log.ErrorContext(ctx, "output breaks the manifest", "capability", entry.info.ID, "error", err)
		return failed(&fault.Fault{Class: fault.CapabilityFailed, Capability: entry.info.Name, Message: "the capability failed"})
	}
	if report.Breaches > 0 {
		d.log.WarnContext(ctx, "output breaks the manifest and is delivered", "capability", entry.info.ID,
			"breaches", report.Breaches, "first", report.First)
	}
	return outcome{name: entry.info.Name, state: CallDone, value: wire, breaches: report.Breaches}
}

// tooLarge is a result beyond a limit; nil for any other.
func (d *dispatcher) tooLarge(entry *entry, bytes int, err error) (f *fault.Fault) {
	var refused *canon.Error
	errors.As(err, &refused)
	switch {
	case refused != nil && refused.Code == canon.CodeDepth:
		f = fault.Reached(fault.MaxValueDepth, int64(d.limits.MaxValueDepth), "the result of %s is nested too deeply", entry.info.Name)
	case refused != nil && refused.Code == canon.CodeSize, bytes > d.limits.MaxValueBytes:
		f = fault.Reached(fault.MaxValueBytes, int64(d.limits.MaxValueBytes), "the result of %s is too large", entry.info.Name)
	default:
		return nil
	}
	f.Capability, f.Hint = entry.info.Name, "ask for less at once"
	return f
}

// encodeOutput checks what a handler returned and writes it. Depth and size are
// bounded here: opaque values and types that hold themselves have no bounds of
// their own, and a value may even hold itself.
func encodeOutput(out canon.Encoder, rules ResultRules, limits Limits) (wire []byte, report canon.Report, err error) {
	defer contain(&err)
	w := canon.NewWireWriter(nil)
	w.Limit(limits.MaxValueDepth, rules.room(limits))
	if rules.Report {
		w.Report(&report)
	}
	out.Encode(w)
	err = w.End()
	return w.Bytes(), report, err
}

// handlerFault says of a handler's error what the handler chose to disclose,
// which is nothing if a method of the error panics. A capability that declares
// errors discloses no others: what its clients were told to expect holds, and
// the defect is for the host's log.
func handlerFault(ctx context.Context, entry *entry, err error) (f *fault.Fault, defect error) {
	f = &fault.Fault{Class: fault.CapabilityFailed, Capability: entry.info.Name, Message: "the capability failed"}
	var panicked error
	defer contain(&panicked)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) { // it stopped because it was told to
		f.Class, f.Message = fault.Cancelled, "the execution ended while the call ran"
		return f, nil
	}
	code, message, ok := disclosure(err)
	if !ok {
		return f, nil
	}
	text, ok := entry.discloses(code)
	if !ok {
		return f, undeclared(code, err)
	}
	f.Code, f.Message = string(code), cmp.Or(message, text, f.Message)
	return f, nil
}

// contain turns a panic of code that the host brought into an error for the
// host's log. The panic's value never reaches a client.
func contain(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}
