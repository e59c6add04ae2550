package program

import (
	"fmt"
	"math"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/canon"
)

// opaque writes any data as an argument. What JSON readers would round is
// refused where it stands: the host's decoder would refuse it too.
func (e *encoder) opaque(v starlark.Value, depth int) *refusal {
	switch v := v.(type) {
	case starlark.NoneType:
		e.w.Null()
	case starlark.Bool:
		e.w.Bool(bool(v))
	case starlark.Int:
		n, ok := v.Int64()
		if !ok || n < -canon.MaxInteger || n > canon.MaxInteger {
			return &refusal{
				message: fmt.Sprintf("expected an integer from %d to %d, as JSON keeps exactly", int64(-canon.MaxInteger), int64(canon.MaxInteger)),
				hint:    "pass it as a string: str(…)",
			}
		}
		e.w.Int(n, -canon.MaxInteger, canon.MaxInteger)
	case starlark.Float:
		f := float64(v)
		if a := math.Abs(f); a > canon.MaxInteger && a < 1e21 {
			return &refusal{message: "JSON would write the float as an integer outside ±(2^53−1)", hint: "pass it as a string: str(…)"}
		}
		e.w.Float(f)
	case starlark.String:
		if r := e.text(string(v)); r != nil {
			return r
		}
		e.w.String(string(v), 0, math.MaxInt)
	case *starlark.List:
		return e.opaqueArray(v, depth+1)
	case starlark.Tuple:
		return e.opaqueArray(v, depth+1)
	case starlark.IterableMapping:
		return e.opaqueObject(v, depth+1)
	default:
		r := notData(v)
		return &refusal{message: "expected JSON data, got " + r.message}
	}
	return e.check()
}

func (e *encoder) opaqueArray(v starlark.Indexable, depth int) *refusal {
	if depth > e.limits.Depth {
		return tooDeep(e.limits)
	}
	if r := e.room(v.Len()); r != nil {
		return r
	}
	e.w.BeginArray(v.Len(), 0, math.MaxInt)
	for i := range v.Len() {
		e.w.Element(i)
		if r := e.opaque(v.Index(i), depth); r != nil {
			return r.within(fmt.Sprintf("[%d]", i))
		}
	}
	e.w.EndArray()
	return e.check()
}

// free writes an object of any members.
func (e *encoder) free(v starlark.IterableMapping, depth int) *refusal {
	if n := starlark.Len(v); n > canon.MaxFreeMembers {
		return &refusal{message: fmt.Sprintf("expected at most %d members, got %d", canon.MaxFreeMembers, n)}
	}
	return e.opaqueObject(v, depth+1)
}

// opaqueObject keeps the program's order of keys; the host puts them in its own.
func (e *encoder) opaqueObject(v starlark.IterableMapping, depth int) *refusal {
	if depth > e.limits.Depth {
		return tooDeep(e.limits)
	}
	n := max(0, starlark.Len(v))
	if r := e.room(n); r != nil {
		return r
	}
	e.w.BeginObject(n)
	for key, item := range starlark.Entries(v) {
		name, ok := starlark.AsString(key)
		if !ok {
			return &refusal{message: fmt.Sprintf("expected string keys, got a key of type %s", typeName(key))}
		}
		if r := e.room(len(name)); r != nil {
			return r
		}
		e.w.Key(name)
		if r := e.check(); r != nil {
			return r
		}
		if r := e.opaque(item, depth); r != nil {
			return r.within(segment(name))
		}
	}
	e.w.EndObject()
	return e.check()
}

// decodeOpaque reads any value: what reads as an object is a dict.
func decodeOpaque(r *canon.Reader) starlark.Value {
	switch r.Peek() {
	case canon.KindBool:
		return starlark.Bool(r.Bool())
	case canon.KindInt:
		return starlark.MakeInt64(r.Int(math.MinInt64, math.MaxInt64))
	case canon.KindFloat:
		return starlark.Float(r.SignedFloat())
	case canon.KindString:
		return starlark.String(r.String(0, math.MaxInt))
	case canon.KindArray:
		var items []starlark.Value
		r.BeginArray(0, math.MaxInt)
		for r.NextElement() {
			items = append(items, decodeOpaque(r))
		}
		return starlark.NewList(items)
	case canon.KindObject:
		return decodeDict(r)
	}
	if !r.Null() {
		r.Skip() // no value: says why
	}
	return starlark.None
}

func decodeDict(r *canon.Reader) *starlark.Dict {
	out := new(starlark.Dict)
	r.BeginObject()
	for r.NextMember() {
		key := starlark.String(r.Key())
		if _, twice, _ := out.Get(key); twice {
			r.Fail(canon.CodeDuplicate, "given twice")
			break
		}
		_ = out.SetKey(key, decodeOpaque(r)) // a string hashes, and the dict is new
	}
	return out
}
