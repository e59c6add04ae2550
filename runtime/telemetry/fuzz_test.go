package telemetry

import (
	"testing"
)

// Whatever text a client sends as its context is read or dropped, within its
// bounds.
func FuzzParent(f *testing.F) {
	const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	f.Add(good, "a=1,b=2", "k=v;p,l=%20")
	f.Add("01"+good[2:]+"-more", "@", ",=;")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, parent, state, bag string) {
		observed := &Telemetry{}
		remote, read := observed.parent(map[string]any{"traceparent": parent, "tracestate": state, "baggage": bag})
		if remote.IsValid() && (len(parent) < len(good) || len(parent) > maxTraceparent || !remote.IsRemote()) {
			t.Errorf("%q is %v", parent, remote)
		}
		if remote.TraceState().Len() > 32 || remote.TraceState().Len() > 0 && !remote.IsValid() {
			t.Errorf("%q has %d members", state, remote.TraceState().Len())
		}
		if read.Len() > 64 || len(bag) > maxBaggage && read.Len() > 0 {
			t.Errorf("%d members of baggage", read.Len())
		}
	})
}
