package policyview

import (
	"errors"
	"sync"

	"github.com/capgen/capgen/runtime/canon"
)

// ErrClosed is returned by Map after the decision has been made.
var ErrClosed = errors.New("policyview: the call has been decided")

// View answers Map from a typed value until it is closed. It is safe for
// concurrent use; the value must not change before Close returns.
type View struct {
	mu       sync.Mutex
	value    canon.Encoder
	maxDepth int
}

// New returns a view of value, which encodes as an object at most maxDepth
// deep. Nothing is built yet.
func New(value canon.Encoder, maxDepth int) *View {
	return &View{value: value, maxDepth: maxDepth}
}

// Map builds the view: map[string]any, []any, string, bool, nil, int64 for
// integers and float64 for numbers. Each call builds a new one.
func (v *View) Map() (map[string]any, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.value == nil {
		return nil, ErrClosed
	}
	// The wire form keeps integers and numbers apart; canonical JSON would not.
	wire, err := canon.AppendWire(nil, v.value)
	if err != nil {
		return nil, err
	}
	r := canon.NewWireReader(wire, v.maxDepth)
	m := object(r)
	if err := r.End(); err != nil {
		return nil, err
	}
	return m, nil
}

// Close ends the view. Map answers ErrClosed from then on.
func (v *View) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.value = nil
}

func object(r *canon.Reader) map[string]any {
	m := map[string]any{}
	r.BeginObject()
	for r.NextMember() {
		key := string(r.Key())
		m[key] = anyValue(r)
	}
	return m
}

func anyValue(r *canon.Reader) any {
	switch r.Peek() {
	case canon.KindNull:
		r.Null()
		return nil
	case canon.KindBool:
		return r.Bool()
	case canon.KindInt:
		return r.Int(minInt64, maxInt64)
	case canon.KindFloat:
		return r.Float()
	case canon.KindString:
		return r.String(0, maxInt)
	case canon.KindArray:
		list := []any{}
		r.BeginArray(0, maxInt)
		for r.NextElement() {
			list = append(list, anyValue(r))
		}
		return list
	case canon.KindObject:
		return object(r)
	default:
		r.Skip() // records the syntax error
		return nil
	}
}

const (
	minInt64 = -1 << 63
	maxInt64 = 1<<63 - 1
	maxInt   = int(^uint(0) >> 1)
)
