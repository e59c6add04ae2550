package program

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/internal/nearest"
	"github.com/capgen/capgen/runtime/binding"
)

// record is an object in the result of a native call. It reads like a dict and
// like a struct, keeps the declaration order of its shape, and cannot be
// changed. A declared field that the handler left out is None as an attribute
// and is not in the record otherwise.
type record struct {
	shape  *shape
	values []starlark.Value // by field; nil when absent
	length int
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
func (r *record) Truth() starlark.Bool  { return r.length > 0 }
func (r *record) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable type: record") }
func (r *record) Len() int              { return r.length }

// Freeze makes the lists inside immutable; the record itself always is.
func (r *record) Freeze() {
	for _, v := range r.values {
		if v != nil {
			v.Freeze()
		}
	}
}

// String prints like a dict. Records come from the wire, so they are no deeper
// than MaxValueDepth and hold no cycle.
func (r *record) String() string {
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

// recordMethods are found as attributes unless a field has that name.
var recordMethods = [...]string{"get", "items", "keys", "values"}

func (r *record) Attr(name string) (starlark.Value, error) {
	if i, ok := r.shape.index[name]; ok {
		if r.values[i] == nil {
			return starlark.None, nil
		}
		return r.values[i], nil
	}
	switch name {
	case "get":
		return starlark.NewBuiltin("get", r.get), nil
	case "items":
		return starlark.NewBuiltin("items", r.list(func(i int) starlark.Value {
			return starlark.Tuple{r.shape.keys[i], r.values[i]}
		})), nil
	case "keys":
		return starlark.NewBuiltin("keys", r.list(func(i int) starlark.Value { return r.shape.keys[i] })), nil
	case "values":
		return starlark.NewBuiltin("values", r.list(func(i int) starlark.Value { return r.values[i] })), nil
	}
	return nil, raise("AttributeError", "%s", r.noField(name))
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
	for _, method := range recordMethods {
		if _, ok := r.shape.index[method]; !ok {
			names = append(names, method)
		}
	}
	return names
}

// SetField and SetKey refuse with a message that says what to do.
func (r *record) SetField(string, starlark.Value) error { return errImmutable }
func (r *record) SetKey(_, _ starlark.Value) error      { return errImmutable }

var errImmutable = fmt.Errorf("a record cannot be changed: make a dict of it with dict(…)")

// Get is r[key] and `key in r`.
func (r *record) Get(key starlark.Value) (starlark.Value, bool, error) {
	name, ok := starlark.AsString(key)
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

func (r *record) get(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var key, fallback starlark.Value = nil, starlark.None
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &key, &fallback); err != nil {
		return nil, err
	}
	if v, ok, _ := r.Get(key); ok {
		return v, nil
	}
	return fallback, nil
}

// list is a method that collects at of every present field.
func (r *record) list(at func(i int) starlark.Value) func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	return func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 0); err != nil {
			return nil, err
		}
		out := make([]starlark.Value, 0, r.length)
		for i := range r.values {
			if r.values[i] != nil {
				out = append(out, at(i))
			}
		}
		return starlark.NewList(out), nil
	}
}

// Items and Iterate go over the fields that are present.
func (r *record) Items() []starlark.Tuple {
	out := make([]starlark.Tuple, 0, r.length)
	for i, v := range r.values {
		if v != nil {
			out = append(out, starlark.Tuple{r.shape.keys[i], v})
		}
	}
	return out
}

func (r *record) Iterate() starlark.Iterator { return &recordIterator{record: r} }

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
	if r.length != other.length {
		return false, nil
	}
	for i, v := range r.values {
		if v == nil {
			continue
		}
		w, ok, _ := other.Get(r.shape.keys[i])
		if !ok {
			return false, nil
		}
		if same, err := starlark.EqualDepth(v, w, depth-1); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}
