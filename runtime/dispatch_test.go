package runtime

import (
	"context"
	"errors"
	"testing"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/worker"
)

// A handler that stops because it was told to has not failed by itself, and no
// receipt or log should say so.
func TestAHandlerThatStopsWhenToldIsCancelled(t *testing.T) {
	for name, test := range map[string]struct {
		stop  bool
		err   error
		class fault.Class
	}{
		"told":            {true, context.Canceled, fault.Cancelled},
		"told, by itself": {true, errors.New("broken"), fault.CapabilityFailed},
		"its own":         {false, context.Canceled, fault.CapabilityFailed},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := build(t, Options{}, NewCapability(lookupInfo(), func(context.Context, lookupInput) (record, error) {
				if test.stop {
					cancel()
				}
				return record{}, test.err
			}))
			arguments, err := canon.AppendWire(nil, &lookupInput{Key: "a", Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			o := s.dispatcher.dispatch(ctx, authz.Local(), nil, nil, nativeCall{Call: worker.Call{Capability: "rec-1", Arguments: arguments}}, func() bool { return true })
			if o.state != CallFailed || o.fault == nil || o.fault.Class != test.class {
				t.Errorf("state %s, fault %+v; want %s", o.state, o.fault, test.class)
			}
		})
	}
}
