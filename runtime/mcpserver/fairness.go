package mcpserver

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/capgen/capgen/runtime/fault"
)

// Limits bound how much one subject may ask for, where a transport serves more
// than one. Zero means the default, a negative value is an error, and nothing
// means unlimited. The runtime shares workers out among subjects by itself.
type Limits struct {
	// MaxCallsPerSubject are the tool calls of one subject at once. Default 256.
	MaxCallsPerSubject int
	// MaxCallsPerSecond of one subject, over time; twice as many may come at
	// once. Default 500.
	MaxCallsPerSecond int
}

// The default limits.
const (
	DefaultMaxCallsPerSubject = 256
	DefaultMaxCallsPerSecond  = 500
)

func (l Limits) withDefaults() (Limits, error) {
	var problems []error
	for _, f := range []struct {
		name  string
		value *int
		def   int
	}{
		{"MaxCallsPerSubject", &l.MaxCallsPerSubject, DefaultMaxCallsPerSubject},
		{"MaxCallsPerSecond", &l.MaxCallsPerSecond, DefaultMaxCallsPerSecond},
	} {
		switch {
		case *f.value < 0:
			problems = append(problems, fmt.Errorf("mcpserver: limit %s is negative (%d)", f.name, *f.value))
		case *f.value == 0:
			*f.value = f.def
		}
	}
	return l, errors.Join(problems...)
}

// fairness holds each subject to its limits. A nil fairness lets all through.
type fairness struct {
	limits Limits
	now    func() time.Time

	mu       sync.Mutex
	subjects map[string]*usage
	swept    time.Time
}

// usage is what one subject does.
type usage struct {
	running int
	rate    *rate.Limiter
}

func newFairness(l Limits) (*fairness, error) {
	l, err := l.withDefaults()
	if err != nil {
		return nil, err
	}
	return &fairness{limits: l, now: time.Now, subjects: map[string]*usage{}}, nil
}

// enter takes a place for a call of subject, or refuses at once.
func (f *fairness) enter(subject string) *fault.Fault {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	f.sweep(now)
	u := f.subjects[subject]
	if u == nil {
		u = &usage{rate: rate.NewLimiter(rate.Limit(f.limits.MaxCallsPerSecond), 2*f.limits.MaxCallsPerSecond)}
		f.subjects[subject] = u
	}
	var refused *fault.Fault
	switch {
	case u.running >= f.limits.MaxCallsPerSubject:
		refused = fault.Reached(fault.MaxCallsPerSubject, int64(f.limits.MaxCallsPerSubject), "too many of your calls run already; nothing ran")
	case !u.rate.AllowN(now, 1):
		refused = fault.Reached(fault.MaxCallsPerSecond, int64(f.limits.MaxCallsPerSecond), "your calls come too fast; nothing ran")
	default:
		u.running++
		return nil
	}
	refused.Hint = "try again in a second, or do more in one program"
	return refused
}

func (f *fairness) leave(subject string) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subjects[subject].running--
}

// sweep forgets, now and then, who does nothing and has all of its rate back.
func (f *fairness) sweep(now time.Time) {
	const every = time.Minute
	if now.Sub(f.swept) < every {
		return
	}
	f.swept = now
	for subject, u := range f.subjects {
		if u.running == 0 && u.rate.TokensAt(now) >= float64(u.rate.Burst()) {
			delete(f.subjects, subject)
		}
	}
}
