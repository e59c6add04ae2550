package runtime

import (
	"testing"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/worker"
)

// A worker that brings what the manifest fixes does not bind, even with the
// same value.
func TestFixedIsNotTakenFromAWorker(t *testing.T) {
	info := lookupInfo()
	info.Call.Fixed = []string{"limit"}
	s := build(t, Options{}, NewCapability(info, lookup))
	call := func(write func(w *canon.Writer)) outcome {
		w := canon.NewWireWriter(nil)
		write(w)
		if err := w.End(); err != nil {
			t.Fatal(err)
		}
		return s.dispatcher.dispatch(t.Context(), authz.Local(), nil, nil, nativeCall{Call: worker.Call{Capability: "rec-1", Arguments: w.Bytes()}}, func() bool { return true })
	}
	if o := call(func(w *canon.Writer) {
		w.BeginObject(1)
		w.Key("key").String("a", 0, 9)
		w.EndObject()
	}); o.state != CallDone {
		t.Errorf("without it: %+v", o.fault)
	}
	if o := call(func(w *canon.Writer) {
		w.BeginObject(2)
		w.Key("key").String("a", 0, 9)
		w.Key("limit").Int(20, 0, 100)
		w.EndObject()
	}); o.state != CallNotDispatched || o.fault == nil || o.fault.Class != fault.Internal {
		t.Errorf("with it: %s, %+v", o.state, o.fault)
	}
}
