package program

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/internal/nearest"
	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/canon"
)

func (s *shape) union(all *shapes) error {
	for i := range s.spec.Variants {
		v, err := all.shape(&s.spec.Variants[i])
		if err != nil {
			return err
		}
		s.variants = append(s.variants, v)
	}
	return nil
}

// union writes v as the variant that it is.
func (e *encoder) union(s *shape, v starlark.Value, depth int) *refusal {
	if s.spec.Tag != "" {
		return e.tagged(s, v, depth)
	}
	for _, variant := range s.variants {
		if kind := jsonKind(v); kind != canon.KindInvalid && kind == variant.jsonKind() {
			return e.value(variant, v, depth)
		}
	}
	return mistyped(s, v)
}

// tagged writes a dict or a record, whose tag tells the variant.
func (e *encoder) tagged(s *shape, v starlark.Value, depth int) *refusal {
	m, ok := v.(starlark.Mapping)
	if jsonKind(v) != canon.KindObject || !ok {
		return mistyped(s, v)
	}
	tag, found, err := m.Get(starlark.String(s.spec.Tag))
	if err != nil || !found {
		return &refusal{path: segment(s.spec.Tag), message: "required field is missing: it tells the variants apart", hint: "one of " + quotedList(s.spec.Tags)}
	}
	text, ok := starlark.AsString(tag)
	if !ok {
		return &refusal{path: segment(s.spec.Tag), message: fmt.Sprintf("expected str, got %s", typeName(tag))}
	}
	for i, name := range s.spec.Tags {
		if name == text {
			return e.value(s.variants[i], v, depth)
		}
	}
	r := &refusal{path: segment(s.spec.Tag), message: "expected one of " + quotedList(s.spec.Tags) + ", got " + starlark.String(excerpt(text)).String()}
	if near := nearest.Name(text, s.spec.Tags); near != "" {
		r.message += fmt.Sprintf(" (did you mean %s?)", near)
	}
	return r
}

func quotedList(words []string) string {
	const most = 16
	out := ""
	for i, w := range words {
		switch {
		case i == most:
			return out + ", …"
		case i > 0:
			out += ", "
		}
		out += starlark.String(w).String()
	}
	return out
}

// decodeUnion reads the variant that stands there.
func decodeUnion(r *canon.Reader, s *shape) starlark.Value {
	i := -1
	if s.spec.Tag != "" {
		i = r.Tag(s.spec.Tag, s.spec.Tags...)
	} else {
		kinds := make([]canon.Kind, len(s.variants))
		for i, v := range s.variants {
			kinds[i] = v.jsonKind()
		}
		i = r.KindOf(kinds...)
	}
	if i < 0 || i >= len(s.variants) {
		return starlark.None
	}
	return decodeValue(r, s.variants[i])
}

// jsonKind is the JSON type of all values of s; KindInvalid if there are
// several.
func (s *shape) jsonKind() canon.Kind {
	switch s.kind {
	case binding.Boolean:
		return canon.KindBool
	case binding.Integer, binding.Number:
		return canon.KindNumber
	case binding.Array:
		return canon.KindArray
	case binding.Object, binding.Free, binding.Map:
		return canon.KindObject
	case binding.String:
		return canon.KindString
	}
	return canon.KindInvalid
}

// jsonKind is the JSON type that v would be.
func jsonKind(v starlark.Value) canon.Kind {
	switch v.(type) {
	case starlark.Bool:
		return canon.KindBool
	case starlark.Int, starlark.Float:
		return canon.KindNumber
	case starlark.String:
		return canon.KindString
	case *starlark.List, starlark.Tuple:
		return canon.KindArray
	case *starlark.Dict, *record:
		return canon.KindObject
	}
	return canon.KindInvalid
}
