package runtime

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/worker"
)

// ExecuteOption is something more to say of one execution or check.
type ExecuteOption func(*execution)

// WithIdempotencyKey gives an execution a key, 1 to MaxIdempotencyKeyBytes of
// UTF-8, by which its client marks repetitions of what it means to do once.
func WithIdempotencyKey(key string) ExecuteOption {
	return func(x *execution) { x.key, x.keyed = key, true }
}

// WithData gives a program the JSON object that it reads as data, a dict that
// nothing can change. The text is strict JSON (RFC 8259, with no member twice),
// at most MaxValueBytes long and MaxValueDepth deep; integers of any size that
// a float reaches stay exact. It is part of what CallKey.Key is made of, as it
// is written.
func WithData(json []byte) ExecuteOption {
	return func(x *execution) { x.data = append([]byte{}, bytes.TrimSpace(json)...) }
}

// WithTimeout ends an execution after d, queueing included, if that is sooner
// than MaxExecutionTime, which bounds it in any case. It takes no d of 0 or less.
func WithTimeout(d time.Duration) ExecuteOption {
	return func(x *execution) {
		if d > 0 {
			x.timeout = d
		}
	}
}

// MaxPrintBytes bounds Prints.Text.
const MaxPrintBytes = worker.MaxPrintBytes

// Prints is what a program has printed, as its worker says: valid UTF-8 of at
// most MaxPrintBytes, and whether there was more.
type Prints = worker.Prints

// WithPrints has an execution return what its program prints. Nothing is
// known of that where the worker is ended from outside, by time or a cancel.
func WithPrints() ExecuteOption {
	return func(x *execution) { x.prints = true }
}

// WithWatch has watch told of each native call when it has ended, as the
// receipt will have it. Calls of parallel end at once in any order, so watch
// must be safe for concurrent use, and it must not block: the program waits
// for it. It may still be called when Execute has returned, for a handler
// that ignored its context.
func WithWatch(watch func(CallRecord)) ExecuteOption {
	return func(x *execution) { x.watch = watch }
}

// ObservedCall is a native call as who surrounds it sees it: which, and in the
// end what came of it. It holds no value.
type ObservedCall struct {
	// Execution is the id on the receipt.
	Execution string
	// CallRecord has its number and names when the call begins, and all that
	// the receipt will have when it has ended.
	CallRecord
	// Decision says whether the call was let through, once it has ended.
	Decision audit.Decision
	// Code is of the error that the handler disclosed, if it did.
	Code string
}

// WithAround has around called as each native call begins, in the goroutine
// that answers it. The authorizer and the handler get the context that it
// returns, and what it returns beside that, unless nil, is called when the call
// has ended. What holds for WithWatch holds for both.
func WithAround(around func(context.Context, ObservedCall) (context.Context, func(ObservedCall))) ExecuteOption {
	return func(x *execution) { x.around = around }
}

// checkData reads the data as strictly as a value that crosses, and keeps
// nothing of it: the worker makes the program's value of the text.
func (x *execution) checkData() *fault.Fault {
	if x.data == nil {
		return nil
	}
	limits := x.server.limits
	if n := len(x.data); n > limits.MaxValueBytes {
		f := fault.Reached(fault.MaxValueBytes, int64(limits.MaxValueBytes), "data has %d bytes", n)
		f.Path = "data"
		return f
	}
	r := canon.NewJSONReader(x.data, limits.MaxValueDepth)
	if r.Peek() != canon.KindObject {
		return &fault.Fault{Class: fault.InvalidArguments, Path: "data", Message: "expected a JSON object"}
	}
	r.Skip()
	var refused *canon.Error
	if !errors.As(r.End(), &refused) {
		return nil
	}
	if refused.Code == canon.CodeDepth {
		f := fault.Reached(fault.MaxValueDepth, int64(limits.MaxValueDepth), "data is nested too deeply")
		f.Path = "data"
		return f
	}
	return &fault.Fault{Class: fault.InvalidArguments, Path: within("data", refused.Path), Message: refused.Message}
}

// within is the path of a member of what stands at root.
func within(root, path string) string {
	switch {
	case path == "":
		return root
	case path[0] == '[':
		return root + path
	}
	return root + "." + path
}
