package schema

import (
	"slices"
	"strings"
)

// maxVariants is how many variants a union may have.
const maxVariants = 64

// lowerAlternatives lowers oneOf and anyOf, which are the same here: at most
// one of the schemas can ever hold, as resolveUnions makes sure. One schema
// beside {type: "null"} is nullable, and so is a union beside it.
func (l *loader) lowerAlternatives(n *node, keyword, what string, property bool) *Type {
	l.only(n, keyword, "title", "description", "default", "deprecated", "examples")
	list := n.get(keyword)
	if !l.kind(list, listNode, keyword) {
		return nil
	}
	var variants []*node
	null := false
	for _, item := range list.items {
		if !isNull(item) {
			variants = append(variants, item)
		} else if null {
			l.errorf(item.pos, ruleNullTwice, "null stands twice in %s", keyword).hint("remove one of the two")
			return nil
		} else {
			null = true
		}
	}
	switch {
	case len(variants) == 0, len(variants) == 1 && !null:
		l.errorf(list.pos, ruleBadUnion, "%s needs two schemas, or one and null", keyword).
			hint(`write the schema itself, or %s: [{$ref: "#/types/NAME"}, {type: "null"}]`, keyword)
		return nil
	case len(variants) > maxVariants:
		l.errorf(variants[maxVariants].pos, ruleLimit, "%d variants, the limit is %d", len(variants), maxVariants).
			hint("x-opaque: true takes any value, for the handler to check")
		return nil
	case len(variants) > 1 && !null:
		return l.lowerUnion(l.annotated(n, Union, property), variants, what)
	}
	out := l.annotated(n, Nullable, property)
	if len(variants) == 1 {
		out.Items = l.lower(variants[0], what, false)
	} else {
		out.Items = l.lowerUnion(&Type{Kind: Union, Pos: list.pos}, variants, what)
	}
	if out.Items == nil {
		return nil
	}
	l.nullables = append(l.nullables, out)
	return out
}

func (l *loader) lowerUnion(t *Type, variants []*node, what string) *Type {
	// Go holds a variant behind an interface: it is never part of its union.
	l.indirect++
	defer func() { l.indirect-- }()
	for _, v := range variants {
		variant := l.lower(v, "a variant of "+what, false)
		if variant == nil {
			return nil
		}
		t.Variants = append(t.Variants, variant)
	}
	l.unions = append(l.unions, t)
	return t
}

// resolveUnions finds out how the variants of each union are told apart: by
// their JSON type, or, of objects, by a required property that is another
// constant in each. Types have to be lowered.
func (l *loader) resolveUnions() {
	for _, t := range l.unions {
		if slices.ContainsFunc(t.Variants, func(v *Type) bool { return Resolve(v) == nil }) {
			continue // reported already
		}
		if l.byTag(t) || !l.byJSONType(t) {
			continue
		}
	}
}

// byTag tells whether all variants are objects, and sets the tag or reports
// that there is none.
func (l *loader) byTag(t *Type) bool {
	for _, v := range t.Variants {
		if JSONType(Resolve(v)) != string(Object) {
			return false
		}
	}
	var candidates []string
	for _, p := range Resolve(t.Variants[0]).Properties {
		values := tagValues(t, p.Name)
		if values == nil {
			continue
		}
		candidates = append(candidates, p.Name)
		if t.Tag == "" && len(slices.Compact(slices.Sorted(slices.Values(values)))) == len(values) {
			t.Tag, t.Tags = p.Name, values
		}
	}
	switch {
	case t.Tag != "":
	case len(candidates) > 0:
		l.errorf(t.Pos, ruleBadUnion, "two variants have the same constant in %s", quote(candidates[0])).
			hint("each variant needs a constant of its own")
	default:
		l.errorf(t.Pos, ruleBadUnion, "nothing tells the variants of this union of objects apart").
			hint("a property that is required and another const in each of them tells; or take x-opaque: true and check the value in the handler")
	}
	return true
}

// tagValues are the constants that the variants require of a property; nil if
// one of them does not.
func tagValues(t *Type, name string) []string {
	var values []string
	for _, v := range t.Variants {
		object := Resolve(v)
		i := slices.IndexFunc(object.Properties, func(p *Property) bool { return p.Name == name })
		if i < 0 || !object.Properties[i].Required {
			return nil
		}
		constant := Resolve(object.Properties[i].Type)
		if constant == nil || constant.Kind != String || len(constant.Enum) != 1 || constant.Open {
			return nil
		}
		values = append(values, constant.Enum[0])
	}
	return values
}

// byJSONType tells whether the variants are all of different JSON types, and
// reports if not.
func (l *loader) byJSONType(t *Type) bool {
	var seen []string
	for _, v := range t.Variants {
		name := JSONType(Resolve(v))
		if name == "" {
			l.errorf(v.Pos, ruleBadUnion, "%s cannot be a variant of a union", article(Resolve(v).Kind)).
				hint("write null beside the variants, and the variants of a union in the outer one; x-opaque: true alone takes any value")
			return false
		}
		if slices.Contains(seen, name) {
			l.errorf(v.Pos, ruleBadUnion, "two variants of this union are both of the JSON type %s", name).
				hint("variants are all objects with a const tag, or all of different JSON types (an integer is a number); or take x-opaque: true")
			return false
		}
		seen = append(seen, name)
	}
	return true
}

// Resolve follows a reference. It is nil for a type that could not be lowered.
func Resolve(t *Type) *Type {
	if t != nil && t.Kind == Ref {
		return t.Ref.Type
	}
	return t
}

// JSONType is the JSON type of all values of t: string, number, boolean, array
// or object; empty if there are several, or if it is another in programs than in JSON. t is
// no reference.
func JSONType(t *Type) string {
	switch t.Kind {
	case Boolean, Array, Number:
		return string(t.Kind)
	case Integer:
		return string(Number)
	case Object, FreeObject, Map:
		return string(Object)
	case Nullable, Opaque, Union, Ref, Int64, Bytes:
		return ""
	}
	return string(String)
}

// union writes the variants.
func (w *schemaWriter) union(t *Type) {
	w.key("oneOf")
	w.b.WriteByte('[')
	for i, v := range t.Variants {
		w.b.WriteString(strings.Repeat(",", min(i, 1)))
		w.schema(v, "")
	}
	w.b.WriteByte(']')
}
