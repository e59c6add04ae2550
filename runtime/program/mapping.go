package program

import (
	"fmt"
	"math"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/canon"
)

// dict writes a dict or a record as a map, in the program's order of keys; the
// host puts them in its own.
func (e *encoder) dict(s *shape, v starlark.IterableMapping, depth int) *refusal {
	if depth++; depth > e.limits.Depth {
		return tooDeep(e.limits)
	}
	e.w.BeginMap(starlark.Len(v), s.spec.MinLength, s.maxLength())
	if r := e.check(); r != nil {
		return r
	}
	for key, item := range starlark.Entries(v) {
		name, ok := starlark.AsString(key)
		if !ok {
			return &refusal{message: fmt.Sprintf("expected string keys, got a key of type %s", typeName(key))}
		}
		r := e.key(s.mapKeys, name)
		if r == nil {
			r = e.value(s.items, item, depth)
		}
		if r != nil {
			return r.within(keySegment(name))
		}
	}
	e.w.EndMap()
	return e.check()
}

// key begins the member of that name.
func (e *encoder) key(s *shape, name string) *refusal {
	if r := e.room(len(name)); r != nil {
		return r
	}
	if !utf8.ValidString(name) {
		return &refusal{message: "the key is not valid UTF-8 (Starlark strings are bytes: a slice can cut a character in half)"}
	}
	e.w.MapKey(name, s.spec.MinLength, s.maxLength())
	if s.pattern != nil {
		e.w.MatchKey(name, s.pattern)
	}
	return e.check()
}

// keySegment is a map's member in a path: quoted, whatever its key is.
func keySegment(name string) string { return "['" + excerpt(name) + "']" }

// decodeMap reads a map as a dict, in the order of the host.
func decodeMap(r *canon.Reader, s *shape) starlark.Value {
	out := new(starlark.Dict)
	r.BeginMap(0, math.MaxInt)
	for r.NextMember() {
		key := starlark.String(r.Key())
		if _, twice, _ := out.Get(key); twice {
			r.Fail(canon.CodeDuplicate, "given twice")
			break
		}
		_ = out.SetKey(key, decodeValue(r, s.items)) // a string hashes, and the dict is new
	}
	return out
}
