package program

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
)

// capability is a binding that is ready to be called.
type capability struct {
	id, name  string
	signature string
	input     *shape // an object
	output    *shape
	value     *starlark.Builtin
	pages     *pages // nil for a capability without pagination
}

// shape is a binding.Shape with what binding looks up computed once.
type shape struct {
	name  string // of a named shape
	kind  binding.Kind
	spec  *binding.Shape
	items *shape // of an array; values of a map

	variants []*shape         // of a union
	mapKeys  *shape           // of a map
	fields   []field          // of an object, in declaration order
	byName   []int            // indexes of fields, sorted by name
	index    map[string]int   // name to index
	keys     []starlark.Value // names in declaration order

	pattern  *canon.Pattern
	minimum  *float64
	maximum  *float64
	multiple float64 // of a number; 0 for none
	step     int64   // multipleOf of an integer; 0 for none

	low, high int64 // of an integer
}

type field struct {
	name     string
	required bool
	*shape
}

// capability returns the named capability, or nil when there is none.
func (e *engine) capability(name string) (*capability, error) {
	if c, ok := e.capabilities[name]; ok {
		return c, nil
	}
	b, err := e.table.Lookup(name)
	if errors.Is(err, binding.ErrUnknown) {
		return nil, nil
	}
	if err != nil {
		return nil, &nativeFailure{e.fault(fault.Internal, "the binding of "+name+" cannot be read")}
	}
	c, err := newCapability(b)
	if err != nil {
		return nil, &nativeFailure{e.fault(fault.Internal, "the binding of "+name+" is not valid")}
	}
	c.value = starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return e.call(c, args, kwargs)
	})
	if e.capabilities == nil {
		e.capabilities = make(map[string]*capability)
	}
	e.capabilities[name] = c
	return c, nil
}

func newCapability(b *binding.Capability) (*capability, error) {
	types, err := newShapes(b.Types)
	if err != nil {
		return nil, err
	}
	input, err := types.shape(&binding.Shape{Kind: binding.Object, Fields: b.Input})
	if err != nil {
		return nil, err
	}
	output, err := types.shape(&b.Output)
	if err != nil {
		return nil, err
	}
	c := &capability{id: b.ID, name: b.Name, signature: b.Signature(), input: input, output: output}
	if b.Pages != nil {
		c.pages, err = newPages(b.Pages, output)
	}
	return c, err
}

// shapes are the named shapes of a capability.
type shapes struct {
	named map[string]*shape
	// copies wait until all named shapes are filled in.
	copies []func()
	ready  bool // they are
}

// newShapes makes them all before it fills one in: they hold each other.
func newShapes(types []binding.NamedShape) (*shapes, error) {
	all := &shapes{named: make(map[string]*shape, len(types))}
	for i := range types {
		all.named[types[i].Name] = &shape{}
	}
	for i := range types {
		s := all.named[types[i].Name]
		if types[i].Shape.Kind == binding.Ref {
			return nil, fmt.Errorf("program: shape %s is a reference", types[i].Name)
		}
		if err := all.fill(s, &types[i].Shape); err != nil {
			return nil, err
		}
		s.name = types[i].Name
	}
	for _, c := range all.copies {
		c()
	}
	all.ready = true
	return all, nil
}

func (all *shapes) shape(spec *binding.Shape) (*shape, error) {
	if spec.Kind != binding.Ref {
		s := &shape{}
		return s, all.fill(s, spec)
	}
	target := all.named[spec.Ref]
	switch {
	case target == nil:
		return nil, fmt.Errorf("program: no shape %s", spec.Ref)
	case !spec.Nullable:
		return target, nil
	}
	// The same shape, but that null is one of its values.
	s := &shape{}
	complete := func() {
		*s = *target
		own := *target.spec
		own.Nullable = true
		s.spec = &own
	}
	if all.ready {
		complete()
	} else {
		all.copies = append(all.copies, complete)
	}
	return s, nil
}

func (all *shapes) fill(s *shape, spec *binding.Shape) error {
	s.kind, s.spec = spec.Kind, spec
	var err error
	switch spec.Kind {
	case binding.String:
		if spec.Pattern != "" {
			s.pattern = &canon.Pattern{Expr: spec.Pattern}
		}
	case binding.Integer, binding.Int64:
		s.low, s.high = spec.Minimum, spec.Maximum
		if spec.Kind == binding.Int64 {
			var ok bool
			if s.low, s.high, ok = spec.Int64Range(); !ok {
				return fmt.Errorf("program: int64 without bounds")
			}
		}
		if spec.MultipleOf != "" {
			if s.step, err = strconv.ParseInt(spec.MultipleOf, 10, 64); err != nil {
				return err
			}
		}
	case binding.Number:
		err = s.number()
	case binding.Boolean, binding.Bytes, binding.Opaque, binding.Free:
	case binding.Map:
		if spec.Items == nil || spec.Keys == nil {
			return fmt.Errorf("program: map without keys or values")
		}
		if s.mapKeys, err = all.shape(spec.Keys); err != nil {
			return err
		}
		s.items, err = all.shape(spec.Items)
	case binding.Array:
		if spec.Items == nil {
			return fmt.Errorf("program: array without items")
		}
		s.items, err = all.shape(spec.Items)
	case binding.Object:
		err = s.object(all)
	case binding.Union:
		err = s.union(all)
	default:
		err = fmt.Errorf("program: unknown kind %q", spec.Kind)
	}
	return err
}

func (s *shape) number() (err error) {
	parse := func(text string) (v *float64) {
		if text == "" || err != nil {
			return nil
		}
		var f float64
		f, err = strconv.ParseFloat(text, 64)
		return &f
	}
	if r := s.spec.Range; r != nil {
		s.minimum, s.maximum = parse(r.Min), parse(r.Max)
	}
	if m := parse(s.spec.MultipleOf); m != nil {
		s.multiple = *m
	}
	return err
}

func (s *shape) object(all *shapes) error {
	s.index = make(map[string]int, len(s.spec.Fields))
	for i := range s.spec.Fields {
		f := &s.spec.Fields[i]
		inner, err := all.shape(&f.Shape)
		if err != nil {
			return err
		}
		s.fields = append(s.fields, field{name: f.Name, required: f.Required, shape: inner})
		s.byName = append(s.byName, i)
		s.index[f.Name] = i
		s.keys = append(s.keys, starlark.String(f.Name))
	}
	// Names are ASCII identifiers, for which byte order is the order of
	// RFC 8785, section 3.2.3.
	sort.Slice(s.byName, func(i, j int) bool { return s.fields[s.byName[i]].name < s.fields[s.byName[j]].name })
	return nil
}

// names of the fields, in declaration order.
func (s *shape) names() []string {
	out := make([]string, len(s.fields))
	for i := range s.fields {
		out[i] = s.fields[i].name
	}
	return out
}

// listed is the names of a small object's fields after a lead, else nothing.
func (s *shape) listed(lead string) string {
	const few = 12
	if len(s.fields) == 0 || len(s.fields) > few {
		return ""
	}
	return lead + strings.Join(s.names(), ", ")
}

// holds tells whether v is of the scalar kind of s.
func (s *shape) holds(v starlark.Value) bool {
	switch v.(type) {
	case starlark.String:
		return s.kind == binding.String
	case starlark.Bytes:
		return s.kind == binding.Bytes
	case starlark.Int:
		return s.kind == binding.Integer || s.kind == binding.Int64 || s.kind == binding.Number
	case starlark.Float:
		return s.kind == binding.Number
	case *starlark.Dict, *record:
		return s.kind == binding.Object || s.kind == binding.Free || s.kind == binding.Map
	}
	return false
}

// takesNull tells whether None is a value of its own.
func (s *shape) takesNull() bool { return s.kind == binding.Opaque || s.spec.Nullable }

// word is the shape's type as signatures write it.
func (s *shape) word() string {
	switch {
	case s.name != "" && s.spec.Nullable:
		return s.name + " | None"
	case s.name != "":
		return s.name
	}
	return s.spec.Annotation()
}
