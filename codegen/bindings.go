package codegen

import (
	"strconv"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/schema"
)

// bindingJSON is what a worker knows of c.
func bindingJSON(c *schema.Capability) string {
	input, output := resolved(c.Parameters()), c.Result()
	b := binding.Capability{ID: c.ID, Name: c.Name, Input: bindingFields(input), Output: shape(output)}
	switch p := c.Pagination; {
	case p == nil:
	case c.Limits != nil:
		b.Pages = &binding.Pages{In: p.CursorIn, Items: "items", Out: "next", Truncated: "truncated"}
	default:
		b.Pages = &binding.Pages{In: p.CursorIn, Items: p.Items, Out: p.CursorOut}
	}
	for _, t := range recursiveTypes(append(propertyTypes(input), output)...) {
		b.Types = append(b.Types, binding.NamedShape{Name: t.Name, Shape: namedShape(t.Type)})
	}
	return string(b.AppendJSON(nil))
}

func bindingFields(t *schema.Type) []binding.Field {
	var out []binding.Field
	for _, p := range t.Properties {
		out = append(out, binding.Field{Name: p.Name, Shape: shape(p.Type), Required: p.Required, Default: p.Default})
	}
	return out
}

func propertyTypes(t *schema.Type) []*schema.Type {
	var out []*schema.Type
	for _, p := range t.Properties {
		out = append(out, p.Type)
	}
	return out
}

// shape writes references out, except those to types that hold themselves: a
// worker has no other table of types.
func shape(ref *schema.Type) binding.Shape {
	if isRecursive(ref) {
		return binding.Shape{Kind: binding.Ref, Ref: ref.Ref.Name, Nullable: ref.Ref.Type.Kind == schema.Nullable}
	}
	return shapeOf(resolved(ref))
}

// namedShape is the shape of a named type, which is never a reference.
func namedShape(t *schema.Type) binding.Shape {
	if t.Kind != schema.Nullable {
		return shapeOf(t)
	}
	s := shapeOf(resolved(t.Items))
	s.Nullable = true
	return s
}

func shapeOf(t *schema.Type) binding.Shape {
	if t.Kind == schema.Nullable {
		s := shape(t.Items)
		s.Nullable = true
		return s
	}
	s := binding.Shape{Kind: binding.Kind(t.Kind), Enum: t.Enum, Pattern: t.Pattern, Format: t.Format, Const: t.Const, MultipleOf: t.MultipleOf}
	if t.Open {
		s.Enum = nil // any word is one
	}
	switch t.Kind {
	case schema.String, schema.Bytes:
		s.MinLength, s.MaxLength = t.MinLength, t.MaxLength
	case schema.Integer:
		s.Minimum, s.Maximum = t.Minimum, t.Maximum
	case schema.Int64:
		s.Range = &binding.Range{Min: strconv.FormatInt(t.Minimum, 10), Max: strconv.FormatInt(t.Maximum, 10)}
	case schema.Number:
		if t.NumberMin != "" || t.NumberMax != "" {
			s.Range = &binding.Range{Min: t.NumberMin, Max: t.NumberMax, ExclusiveMin: t.ExclusiveMin, ExclusiveMax: t.ExclusiveMax}
		}
	case schema.Map:
		s.MinLength, s.MaxLength = t.MinItems, t.MaxItems
		keys, items := shape(t.Keys), shape(t.Items)
		s.Keys, s.Items = &keys, &items
	case schema.Array:
		s.MinLength, s.MaxLength, s.Unique = t.MinItems, t.MaxItems, t.Unique
		items := shape(t.Items)
		s.Items = &items
	case schema.Union:
		s.Tag, s.Tags = t.Tag, t.Tags
		for _, v := range t.Variants {
			s.Variants = append(s.Variants, shape(v))
		}
	case schema.Object:
		s.Fields = bindingFields(t)
	}
	return s
}
