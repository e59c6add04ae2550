package main

import (
	"context"
	"time"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
)

// pauseInput and pauseOutput are what the generator would emit for
// bench.pause(*, ms: int = 0) -> int.
type pauseInput struct{ MS int64 }

func (v *pauseInput) Decode(r *canon.Reader) error {
	*v = pauseInput{}
	var seen canon.Seen
	r.BeginObject()
	for r.NextMember() {
		if string(r.Key()) != "ms" {
			r.UnknownMember()
			continue
		}
		seen.Mark(r, 0)
		v.MS = r.Int(0, 1000)
	}
	return r.Err()
}

func (v *pauseInput) Encode(w *canon.Writer) {
	w.BeginObject(1)
	w.Key("ms")
	w.Int(v.MS, 0, 1000)
	w.EndObject()
}

type pauseOutput int64

func (v *pauseOutput) Encode(w *canon.Writer) { w.Int(int64(*v), 0, 1000) }

// pause waits, and answers how long.
func pause(ctx context.Context, in pauseInput) (pauseOutput, error) {
	if in.MS > 0 {
		timer := time.NewTimer(time.Duration(in.MS) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return pauseOutput(in.MS), nil
}

func pauseCapability() runtime.Capability {
	return runtime.NewCapability(runtime.Info{
		ID: "bench.pause", Name: "bench.pause", Summary: "Wait for some milliseconds.",
		Effect: runtime.EffectRead, Idempotency: runtime.IdempotencyNatural, World: runtime.WorldClosed,
		Signature: "bench.pause(*, ms: int = 0)",
		Binding: `{"id":"bench.pause","name":"bench.pause","input":[` +
			`{"name":"ms","kind":"integer","minimum":0,"maximum":1000,"default":"0"}],` +
			`"output":{"kind":"integer","minimum":0,"maximum":1000}}`,
		Input: `{}`, Output: `"int"`,
	}, pause)
}
