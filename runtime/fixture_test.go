package runtime

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/search"
)

func TestMain(m *testing.M) {
	ServeWorkerAndExit()
	os.Exit(m.Run())
}

// lookupInput and record are what the generator would emit for
// records.lookup(*, key: str, limit: int = 20).
type lookupInput struct {
	Key   string
	Limit int64
}

func (v *lookupInput) Decode(r *canon.Reader) error {
	*v = lookupInput{}
	var seen canon.Seen
	r.BeginObject()
	for r.NextMember() {
		switch string(r.Key()) {
		case "key":
			seen.Mark(r, 0)
			v.Key = r.String(0, 128)
		case "limit":
			seen.Mark(r, 1)
			v.Limit = r.Int(1, 100)
		default:
			r.UnknownMember()
		}
	}
	r.Require(&seen, 0, "key")
	if !seen.Has(1) {
		v.Limit = 20
	}
	return r.Err()
}

func (v *lookupInput) Encode(w *canon.Writer) {
	w.BeginObject(2)
	w.Key("key")
	w.String(v.Key, 0, 128)
	w.Key("limit")
	w.Int(v.Limit, 1, 100)
	w.EndObject()
}

type record struct {
	Key   string
	Count int64
	Text  string
}

func (v *record) Encode(w *canon.Writer) {
	w.BeginObject(3)
	w.Key("count")
	w.Int(v.Count, 0, 1000)
	w.Key("key")
	w.String(v.Key, 0, 128)
	w.Key("text")
	w.String(v.Text, 0, 1<<21)
	w.EndObject()
}

func lookupInfo() Info {
	return Info{
		ID: "rec-1", Name: "records.lookup", Summary: "Look up one record by key.",
		Search: search.Analyze(search.Texts{Name: "records.lookup", Summary: "Look up one record by key.", Phrases: []string{"fetch entry"},
			Parameters: []search.Parameter{{Name: "key"}, {Name: "limit"}}}), Effect: EffectRead, Idempotency: IdempotencyNatural, World: WorldClosed,
		Scopes: []string{"records:read"}, Signature: "records.lookup(*, key: str, limit: int = 20)",
		Binding: `{"id":"rec-1","name":"records.lookup","input":[` +
			`{"name":"key","kind":"string","maxLength":128,"required":true},` +
			`{"name":"limit","kind":"integer","minimum":1,"maximum":100,"default":"20"}],` +
			`"output":{"kind":"object","fields":[` +
			`{"name":"key","kind":"string","maxLength":128,"required":true},` +
			`{"name":"count","kind":"integer","minimum":0,"maximum":1000,"required":true},` +
			`{"name":"text","kind":"string","maxLength":2097152,"required":true}]}}`,
		Input:  `{"limit":{"minimum":1,"maximum":100}}`,
		Output: `"dict"`,
	}
}

type lookupFunc = func(context.Context, lookupInput) (record, error)

func lookup(_ context.Context, in lookupInput) (record, error) {
	return record{Key: in.Key, Count: in.Limit}, nil
}

// numberInput and numberOutput are the types of a capability that takes and
// returns a number.
type numberInput struct{ X float64 }

func (v *numberInput) Decode(r *canon.Reader) error {
	*v = numberInput{}
	var seen canon.Seen
	r.BeginObject()
	for r.NextMember() {
		if string(r.Key()) != "x" {
			r.UnknownMember()
			continue
		}
		seen.Mark(r, 0)
		v.X = r.Float()
	}
	r.Require(&seen, 0, "x")
	return r.Err()
}

func (v *numberInput) Encode(w *canon.Writer) {
	w.BeginObject(1)
	w.Key("x")
	w.Float(v.X)
	w.EndObject()
}

type numberOutput float64

func (v *numberOutput) Encode(w *canon.Writer) { w.Float(float64(*v)) }

// named is lookup under another name and id.
func named(name string, handle lookupFunc) Capability {
	info := lookupInfo()
	info.ID, info.Name = name, name
	info.Search = search.Analyze(search.Texts{Name: name, Summary: info.Summary})
	info.Binding = strings.ReplaceAll(info.Binding, `"id":"rec-1","name":"records.lookup"`, `"id":"`+name+`","name":"`+name+`"`)
	return NewCapability(info, handle)
}

// build makes a server. Unless told otherwise, each execution starts its worker:
// most tests run one.
func build(t testing.TB, o Options, capabilities ...Capability) *Server {
	t.Helper()
	if o.Authorizer == nil {
		o.Authorizer = authz.AllowAll()
	}
	if o.IdleWorkers == 0 {
		o.IdleWorkers = NoIdleWorkers
	}
	b := NewBuilder(o)
	for _, c := range capabilities {
		b.Register(c)
	}
	s, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
