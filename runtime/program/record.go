package program

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/internal/nearest"
	"github.com/capgen/capgen/runtime/binding"
)

// record is an object in the result of a native call. It is a dict that reads
// like a struct, too, and keeps the declaration order of its shape. A declared
// field that the handler left out is None as an attribute and is not in the
// record otherwise.
type record struct {
	shape  *shape
	values []starlark.Value // by field; nil when absent
	length int
	// own is what the record holds since it was changed, or since somebody
	// asked for a view of it; nil before.
	own    *starlark.Dict
	frozen bool
}

// recordShape is the shape of records that are no results of a capability.
func recordShape(names ...string) *shape {
	s := &shape{kind: binding.Object, spec: &binding.Shape{Kind: binding.Object}, index: make(map[string]int, len(names))}
	for i, name := range names {
		s.index[name] = i
		s.keys = append(s.keys, starlark.String(name))
		s.fields = append(s.fields, field{name: name, required: true, shape: &shape{spec: &binding.Shape{}}})
	}
	return s
}

// newRecord is a record that has all fields of s.
func newRecord(s *shape, values ...starlark.Value) *record {
	return &record{shape: s, values: values, length: len(values)}
}

var (
	_ starlark.IterableMapping = (*record)(nil)
	_ starlark.HasAttrs        = (*record)(nil)
	_ starlark.Sequence        = (*record)(nil)
	_ starlark.Comparable      = (*record)(nil)
)

func (r *record) Type() string          { return "record" }
func (r *record) Truth() starlark.Bool  { return r.Len() > 0 }
func (r *record) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable type: record") }

// Len implements starlark.Sequence.
func (r *record) Len() int {
	if r.own != nil {
		return r.own.Len()
	}
	return r.length
}

// dict is what the record holds, to be looked at or changed: from now on it
// holds that.
func (r *record) dict() *starlark.Dict {
	if r.own != nil {
		return r.own
	}
	r.own = starlark.NewDict(r.length)
	for i, v := range r.values {
		if v != nil {
			_ = r.own.SetKey(r.shape.keys[i], v) // a string hashes, and the dict is new
		}
	}
	if r.frozen {
		r.own.Freeze()
	}
	return r.own
}

// Freeze makes the record and what is inside immutable.
func (r *record) Freeze() {
	if r.frozen {
		return
	}
	r.frozen = true
	if r.own != nil {
		r.own.Freeze()
		return
	}
	for _, v := range r.values {
		if v != nil {
			v.Freeze()
		}
	}
}

// String prints like a dict. Records from the wire are no deeper than
// MaxValueDepth and hold no cycle; one that was changed may hold itself, and
// says no more than how much it holds. What programs see is written by
// textWriter.
func (r *record) String() string {
	if r.own != nil {
		return fmt.Sprintf("{… %d items …}", r.own.Len())
	}
	var out strings.Builder
	out.WriteByte('{')
	separator := ""
	for i, v := range r.values {
		if v == nil {
			continue
		}
		out.WriteString(separator + r.shape.keys[i].String() + ": " + v.String())
		separator = ", "
	}
	out.WriteByte('}')
	return out.String()
}

// hasField tells whether name is a field, or an item that the program added.
func (r *record) hasField(name string) bool {
	if _, ok := r.shape.index[name]; ok || r.own == nil {
		return ok
	}
	_, ok, _ := r.own.Get(starlark.String(name))
	return ok
}

// Attr is a field; the methods of dict are found before, where they are called.
func (r *record) Attr(name string) (starlark.Value, error) {
	i, declared := r.shape.index[name]
	if r.own != nil {
		if v, ok, _ := r.own.Get(starlark.String(name)); ok {
			return v, nil
		}
		declared = declared && r.values[i] == nil
	}
	switch {
	case !declared:
		return nil, raise("AttributeError", "%s", r.noField(name))
	case r.values[i] == nil:
		return starlark.None, nil
	}
	return r.values[i], nil
}

func (r *record) noField(name string) string {
	return fmt.Sprintf("the record has no field %s%s", excerpt(name), r.suggest(name))
}

// suggest names the field that has one of this name inside, or the nearest one,
// else all of a small record.
func (r *record) suggest(name string) string {
	for i := range r.shape.fields {
		f := &r.shape.fields[i]
		if f.items != nil {
			if _, ok := f.items.index[name]; ok {
				return fmt.Sprintf("; each item of the list %s has one", f.name)
			}
		}
		if _, ok := f.index[name]; ok {
			return fmt.Sprintf("; its field %s has one", f.name)
		}
	}
	if near := nearest.Name(name, r.shape.names()); near != "" {
		return fmt.Sprintf(" (did you mean %s?)", near)
	}
	return r.shape.listed("; its fields are ")
}

// AttrNames lists the fields in declaration order, then the methods.
func (r *record) AttrNames() []string {
	names := r.shape.names()
	for _, method := range methodNames(&starlark.Dict{}) {
		if !r.hasField(method) {
			names = append(names, method)
		}
	}
	return names
}

// Get is r[key] and `key in r`.
func (r *record) Get(key starlark.Value) (starlark.Value, bool, error) {
	name, ok := starlark.AsString(key)
	if r.own != nil {
		v, found, err := r.own.Get(key)
		switch {
		case err != nil || found:
			return v, found, err
		case !ok:
			return nil, false, raiseKey(key)
		}
		if i, declared := r.shape.index[name]; declared && r.values[i] != nil {
			return nil, false, raiseKey(key) // the program removed it
		}
	}
	if !ok {
		return nil, false, noKey(key, fmt.Sprintf("a record's keys are strings, got %s%s", className(key), r.shape.listed("; its fields are ")))
	}
	i, ok := r.shape.index[name]
	if !ok {
		return nil, false, noKey(key, r.noField(name))
	}
	if r.values[i] == nil {
		return nil, false, noKey(key, fmt.Sprintf("the optional field %s is absent here: read it with .get(%q)", name, name))
	}
	return r.values[i], true, nil
}

// noKey is KeyError(key) that says more to the author.
func noKey(key starlark.Value, hint string) error {
	return &raised{class: "KeyError", message: "a key", argument: key, hint: hint}
}

// get is r.get(key, fallback) of a record that was not changed, which needs no
// dict of its own for it.
func (r *record) get(args starlark.Tuple) (starlark.Value, error) {
	if name, ok := starlark.AsString(args[0]); ok {
		if i, declared := r.shape.index[name]; declared && r.values[i] != nil {
			return r.values[i], nil
		}
	} else if _, err := args[0].Hash(); err != nil {
		return nil, err
	}
	if len(args) > 1 {
		return args[1], nil
	}
	return starlark.None, nil
}

// Items and Iterate go over the fields that are present.
func (r *record) Items() []starlark.Tuple {
	if r.own != nil {
		return r.own.Items()
	}
	out := make([]starlark.Tuple, 0, r.length)
	for i, v := range r.values {
		if v != nil {
			out = append(out, starlark.Tuple{r.shape.keys[i], v})
		}
	}
	return out
}

func (r *record) Iterate() starlark.Iterator {
	if r.own != nil {
		return r.own.Iterate()
	}
	return &recordIterator{record: r}
}

type recordIterator struct {
	record *record
	next   int
}

func (it *recordIterator) Next(p *starlark.Value) bool {
	for it.next < len(it.record.values) {
		i := it.next
		it.next++
		if it.record.values[i] != nil {
			*p = it.record.shape.keys[i]
			return true
		}
	}
	return false
}

func (it *recordIterator) Done() {}

// CompareSameType compares two records field by field, whatever their order.
func (r *record) CompareSameType(op syntax.Token, other starlark.Value, depth int) (bool, error) {
	if op != syntax.EQL && op != syntax.NEQ {
		return false, fmt.Errorf("record %s record not implemented", op)
	}
	equal, err := r.equal(other.(*record), depth)
	return equal == (op == syntax.EQL), err
}

func (r *record) equal(other *record, depth int) (bool, error) {
	if r.Len() != other.Len() {
		return false, nil
	}
	for _, item := range r.Items() {
		w, ok, _ := other.Get(item[0])
		if !ok {
			return false, nil
		}
		if same, err := starlark.EqualDepth(item[1], w, depth-1); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}
