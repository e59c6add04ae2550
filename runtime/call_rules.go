package runtime

import (
	"slices"
	"time"

	"github.com/capgen/capgen/runtime/fault"
)

// CallRules bound and repeat the calls of one capability's handler. The zero
// CallRules calls it once, for as long as the execution lasts.
type CallRules struct {
	// Timeout of one attempt, at most MaxTimeout: the handler's context ends
	// then, and its caller goes on with a failure of the code TimeoutCode.
	Timeout time.Duration
	// RetryOn are codes after which the handler is called again, at most
	// RetryMax times, which is at most MaxRetries.
	RetryOn  []string
	RetryMax int
	// Fixed are the parameters that the manifest sets: the generated decoder
	// fills them in, and a call that brings one does not bind.
	Fixed []string
}

// Bounds of CallRules.
const (
	MaxTimeout = 10 * time.Minute
	MaxRetries = 5
)

// TimeoutCode is the code of a call that its capability's timeout ended.
const TimeoutCode = "timeout"

// check says what is wrong with the rules.
func (r CallRules) check(info Info) string {
	switch {
	case r.Timeout < 0 || r.Timeout > MaxTimeout:
		return "a timeout is at most " + MaxTimeout.String()
	case r.RetryMax < 0 || r.RetryMax > MaxRetries || (r.RetryMax == 0) != (len(r.RetryOn) == 0):
		return "a handler is called again after one code or more, and at most 5 times"
	case r.RetryMax > 0 && info.Effect != EffectRead && info.Idempotency != IdempotencyNatural && info.Idempotency != IdempotencyKey:
		return "a handler that has another effect each time is not called again"
	}
	return ""
}

// again tells whether f is a failure after which the handler is called again.
func (r CallRules) again(f *fault.Fault) bool {
	return f != nil && f.Class == fault.CapabilityFailed && f.Code != "" && slices.Contains(r.RetryOn, f.Code)
}

// notGiven refuses arguments that bring one of the names. An honest worker's
// binding table does not know them.
func notGiven(c nativeCall, names []string, maxDepth int) error {
	if len(names) == 0 {
		return nil
	}
	r := c.reader(maxDepth)
	r.BeginObject()
	for r.NextMember() {
		if slices.Contains(names, string(r.Key())) {
			r.UnknownMember() // as to whoever reads the description
			continue
		}
		r.Skip()
	}
	return r.End()
}
