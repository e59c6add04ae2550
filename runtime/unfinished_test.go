package runtime

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/fault"
)

// Handlers and authorizers that ignore their context are few: once so many go
// on, the next call of that capability is refused, others are not, and all is
// well again when they have ended.
func TestUnfinishedCallsAreBounded(t *testing.T) {
	const bound = 2
	for name, set := range map[string]func(o *Options, stuck func()) Capability{
		"handler": func(_ *Options, stuck func()) Capability {
			return NewCapability(lookupInfo(), func(context.Context, lookupInput) (record, error) { stuck(); return record{Key: "a"}, nil })
		},
		"handler with a timeout": func(_ *Options, stuck func()) Capability {
			return withRules(CallRules{Timeout: 20 * time.Millisecond}, func(context.Context, lookupInput) (record, error) { stuck(); return record{Key: "a"}, nil })
		},
		"authorizer": func(o *Options, stuck func()) Capability {
			o.Authorizer = authz.AuthorizerFunc(func(_ context.Context, r authz.Request) error {
				if r.Name == lookupInfo().Name {
					stuck()
				}
				return nil
			})
			return NewCapability(lookupInfo(), lookup)
		},
	} {
		t.Run(name, func(t *testing.T) {
			release := make(chan struct{})
			o := Options{Limits: Limits{MaxUnfinishedCalls: bound}}
			stuck := set(&o, func() { <-release })
			s := build(t, o, stuck, named("records.quick", lookup))
			once := func() (Execution, error) {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				time.AfterFunc(500*time.Millisecond, cancel)
				return s.Execute(ctx, authz.Local(), lookupProgram)
			}
			for range bound {
				if x, err := once(); err == nil || len(x.Receipt.Calls) != 1 {
					t.Fatalf("%+v, %v", x.Receipt.Calls, err)
				}
			}
			x, err := once()
			var e *Error
			if !errors.As(err, &e) || e.Fault().Limit != fault.MaxUnfinishedCalls || e.Fault().Bound != bound || e.Fault().Capability != "records.lookup" {
				t.Fatalf("one more: %v", err)
			}
			if calls := x.Receipt.Calls; len(calls) != 1 || calls[0].State != CallNotDispatched {
				t.Errorf("calls %+v", calls)
			}
			if _, err := s.Execute(t.Context(), authz.Local(), "def main():\n    return records.quick(key = 'a').key\n"); err != nil {
				t.Errorf("another capability: %v", err)
			}
			close(release)
			for s.catalog.byID("rec-1").unfinished.Load() > 0 {
				time.Sleep(time.Millisecond)
			}
			if _, err := s.Execute(t.Context(), authz.Local(), lookupProgram); err != nil {
				t.Errorf("once they have ended: %v", err)
			}
		})
	}
}

func TestDefaultOfUnfinishedCalls(t *testing.T) {
	for _, test := range []struct {
		limits Limits
		want   int
	}{
		{Limits{}, 2 * DefaultMaxConcurrentExecutions * DefaultMaxParallelCalls},
		{Limits{MaxConcurrentExecutions: 1, MaxParallelCalls: 50}, 100},
		{Limits{MaxUnfinishedCalls: 7}, 7},
	} {
		l, err := test.limits.withDefaults()
		if err != nil || l.MaxUnfinishedCalls != test.want {
			t.Errorf("%+v: %d, %v", test.limits, l.MaxUnfinishedCalls, err)
		}
	}
}
