package runtime

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
)

// Pauses before a handler is called again: the first, doubled each time, and
// the longest. Up to half of one is left out by chance, so that callers that
// failed together do not come back together.
const (
	firstPause = 50 * time.Millisecond
	maxPause   = time.Second
)

// settleTime is how long a handler whose timeout has ended has to say so, which
// tells it from one that still runs.
const settleTime = 20 * time.Millisecond

// errTimeout tells a capability's own deadline from the execution's.
var errTimeout = errors.New("runtime: capability timeout")

// ending is how a call of a handler came to an end.
type ending int

const (
	returned ending = iota // by itself
	late                   // with an error that its timeout most likely caused
	running                // not: it still runs, although its timeout has ended
	left                   // not: it still runs, although the execution has ended
)

// attempts calls the handler until it succeeds, fails in a way that is not to
// be repeated, or has been called often enough. It was authorized once, for
// all: they are one native call.
func (d *dispatcher) attempts(ctx context.Context, entry *entry, c nativeCall, call invocation, running func() bool) outcome {
	rules := entry.info.Call
	for n := 1; ; n++ {
		o := d.run(ctx, entry, call)
		o.attempts = n
		if n > rules.RetryMax || !rules.again(o.fault) || !pause(ctx, n) {
			return o
		}
		// The arguments are read anew: what one attempt does to its own, or
		// still does beyond its time, the next does not see.
		again, _, err := d.bind(entry, c)
		if err != nil || !running() {
			return o
		}
		call = again
	}
}

// pause waits before attempt n+1. It is false when the execution ends before
// the attempt could begin: then what failed last is told at once.
func pause(ctx context.Context, n int) bool {
	wait := min(firstPause<<(n-1), maxPause)
	wait -= rand.N(wait / 2)
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// handled is what a handler returned, if it did.
type handled struct {
	out    canon.Encoder
	err    error
	ending ending
}

// handle calls the handler. One with a timeout runs on a goroutine of its own,
// which Server.Close waits for: if it ignores its context, its caller goes on
// without it, and what it returns is dropped.
func (d *dispatcher) handle(ctx context.Context, entry *entry, call invocation) handled {
	limit := entry.info.Call.Timeout
	if limit == 0 {
		return runHandler(ctx, call)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	done := make(chan handled, 1)
	d.late.Add()
	var over atomic.Bool // set by whoever is over with the call first
	go func() {
		defer d.late.Done()
		defer func() {
			if !over.CompareAndSwap(false, true) {
				entry.unfinished.Add(-1) // its caller went on without it
			}
		}()
		h := handled{err: errors.New("the handler ended its goroutine")}
		defer func() { done <- h }()
		h = runHandler(ctx, call)
	}()
	select {
	case h := <-done:
		return classified(ctx, h)
	case <-ctx.Done():
	}
	timer := time.NewTimer(settleTime)
	defer timer.Stop()
	select {
	case h := <-done:
		return classified(ctx, h)
	case <-timer.C:
	}
	entry.unfinished.Add(1)
	if !over.CompareAndSwap(false, true) {
		entry.unfinished.Add(-1) // it has ended after all
	}
	if context.Cause(ctx) == errTimeout {
		return handled{ending: running}
	}
	return handled{ending: left}
}

// classified makes the timeout, if it has ended, the reason of a failure that
// the handler does not mean the program to see.
func classified(ctx context.Context, h handled) handled {
	if h.err != nil && context.Cause(ctx) == errTimeout && !disclosedIn(h.err) {
		h.ending = late
	}
	return h
}

// runHandler contains a panic of the handler.
func runHandler(ctx context.Context, call invocation) (h handled) {
	defer contain(&h.err)
	h.out, h.err = call.call(ctx)
	return h
}

// disclosedIn tells whether the handler means the program to see err, whose
// methods are the host's code too.
func disclosedIn(err error) (found bool) {
	var panicked error
	defer contain(&panicked)
	var told *disclosed
	return errors.As(err, &told)
}

// cutOff is the outcome of a call that did not end by itself.
func (d *dispatcher) cutOff(ctx context.Context, entry *entry, h handled) outcome {
	if h.ending == left {
		return outcome{state: CallUnknown, fault: &fault.Fault{Class: fault.Cancelled, Capability: entry.info.Name, Message: "the execution ended while the call ran"}}
	}
	d.log.WarnContext(ctx, "capability timed out", "capability", entry.info.ID,
		"timeout", entry.info.Call.Timeout, "running", h.ending == running, "error", h.err)
	o := failed(&fault.Fault{
		Class: fault.CapabilityFailed, Code: TimeoutCode, Capability: entry.info.Name,
		Message: fmt.Sprintf("the capability did not answer within its timeout of %s", entry.info.Call.Timeout),
		Hint:    "ask for less at once",
	})
	if h.ending == running {
		o.state = CallUnknown
	}
	return o
}
