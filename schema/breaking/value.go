package breaking

import (
	"cmp"
	"slices"
	"strings"

	"github.com/capgen/capgen/schema"
)

// direction is which way a value goes.
type direction string

const (
	// An input that takes less breaks callers.
	input direction = "input"
	// An output that may be more breaks those who read it.
	output direction = "output"
)

func (d direction) rule(id string) string { return string(d) + "-" + id }

// value compares what stands at a place.
func (c *comparer) value(p place, b, h *schema.Type, d direction) {
	p = p.in(b.Pos, h.Pos)
	if b.Kind == schema.Ref || h.Kind == schema.Ref {
		c.named(p, b, h, d)
		return
	}
	c.shown(p, b, h)
	null := b.Kind == schema.Nullable
	if null != (h.Kind == schema.Nullable) {
		if null {
			c.add(p, d.rule("nullable-removed"), kindOf(b), kindOf(h))
			c.value(p, b.Items, h, d)
		} else {
			c.add(p, d.rule("nullable-added"), kindOf(b), kindOf(h))
			c.value(p, b, h.Items, d)
		}
		return
	}
	if null {
		c.value(p, b.Items, h.Items, d)
		return
	}
	if b.Kind != h.Kind {
		c.kinds(p, b, h, d)
		return
	}
	switch b.Kind {
	case schema.String:
		c.strings(p, b, h, d)
	case schema.Bytes:
		c.lengths(p, b, h, d)
	case schema.Integer, schema.Int64, schema.Number:
		c.numbers(p, b, h, d)
	case schema.Boolean:
		c.constant(p.at("const"), b.Const, h.Const, d)
	case schema.Array:
		c.counts(p, "Items", b, h, d)
		c.unique(p, b, h, d)
		c.value(p.at("items"), b.Items, h.Items, d)
	case schema.Map:
		c.counts(p, "Properties", b, h, d)
		c.strings(p.at("propertyNames"), b.Keys, h.Keys, d)
		c.value(p.at("additionalProperties"), b.Items, h.Items, d)
	case schema.Object:
		c.object(p, b, h, d)
	case schema.Union:
		c.union(p, b, h, d)
	}
}

// named compares values of which one at least is of a named type. Two of one
// name are compared where the type stands, once for a direction, however many
// places refer to it.
func (c *comparer) named(p place, b, h *schema.Type, d direction) {
	before, after := typeName(b), typeName(h)
	if before != after && !c.shaped {
		c.add(p, "go-type-changed", cmp.Or(before, "in place"), cmp.Or(after, "in place"))
	}
	// Types may hold themselves, in step or out of it: each pair once.
	w := walk{schema.Resolve(b), schema.Resolve(h), d}
	if before != "" && after != "" {
		c.shown(p, b, h)
		if before == after && b.Ref.Boxed != h.Ref.Boxed {
			c.add(place{}.at("types", after).in(b.Ref.Pos, h.Ref.Pos), "go-type-changed", boxed(b.Ref), boxed(h.Ref))
		}
		p = place{}.at("types", after).in(b.Ref.Pos, h.Ref.Pos)
		b, h = w.base, w.head
	} else {
		b, h = withOwnTexts(b), withOwnTexts(h)
	}
	if c.walked[w] {
		return
	}
	c.walked[w] = true
	c.value(p, b, h, d)
}

// withOwnTexts is what a reference leads to, with the texts that the reference
// says instead.
func withOwnTexts(t *schema.Type) *schema.Type {
	if t.Kind != schema.Ref {
		return t
	}
	out := *schema.Resolve(t)
	if t.Title != "" {
		out.Title = t.Title
	}
	if t.Description != "" {
		out.Description = t.Description
	}
	return &out
}

func typeName(t *schema.Type) string {
	if t.Kind != schema.Ref {
		return ""
	}
	return t.Ref.Name
}

func boxed(t *schema.NamedType) string {
	if t.Boxed {
		return "*types." + t.Name
	}
	return "types." + t.Name
}

// shown compares what a schema says in words.
func (c *comparer) shown(p place, b, h *schema.Type) {
	c.differs(p.at("title"), "schema-title-changed", b.Title, h.Title)
	c.differs(p.at("description").in(b.DescriptionAt, h.DescriptionAt), "schema-description-changed", b.Description, h.Description)
	c.differs(p.at("examples"), "schema-examples-changed", strings.Join(b.Examples, ", "), strings.Join(h.Examples, ", "))
}

// kinds reports a value of another type. Neither is null or a reference.
func (c *comparer) kinds(p place, b, h *schema.Type, d direction) {
	is := func(x, y schema.Kind) bool { return b.Kind == x && h.Kind == y }
	object := func(k schema.Kind) bool { return k == schema.Object || k == schema.Map }
	id := "kind-changed"
	switch {
	case is(schema.Integer, schema.Int64), is(schema.Int64, schema.Integer):
		id = "int64-changed"
	case is(schema.String, schema.Bytes), is(schema.Bytes, schema.String):
		id = "base64-changed"
	case is(schema.Integer, schema.Number):
		id = "integer-widened"
	case is(schema.Number, schema.Integer):
		id = "number-narrowed"
	case h.Kind == schema.Opaque:
		id = "opaque-added"
	case b.Kind == schema.Opaque:
		id = "opaque-removed"
	case object(b.Kind) && h.Kind == schema.FreeObject:
		id = "free-added"
	case b.Kind == schema.FreeObject && object(h.Kind):
		id = "free-removed"
	}
	c.add(p, d.rule(id), kindOf(b), kindOf(h))
	switch id {
	case "int64-changed", "integer-widened", "number-narrowed":
		// Whether one takes the other's values is a matter of bounds as well.
		c.numbers(p, b, h, d)
	}
}

// kindOf names the type of a value as a manifest does.
func kindOf(t *schema.Type) string {
	switch t.Kind {
	case schema.Nullable:
		return kindOf(t.Items) + " or null"
	case schema.Ref:
		return t.Ref.Name
	case schema.Opaque:
		return "opaque"
	case schema.FreeObject:
		return "free object"
	}
	return string(t.Kind)
}

// union compares variants, which are told apart by their tags or, without one,
// by their JSON types.
func (c *comparer) union(p place, b, h *schema.Type, d direction) {
	if b.Tag != h.Tag {
		c.add(p.at("oneOf"), d.rule("union-tag-changed"), cmp.Or(b.Tag, "JSON type"), cmp.Or(h.Tag, "JSON type"))
		return
	}
	before, after := variants(b), variants(h)
	var kept, stay []string
	for i, name := range before {
		if j := slices.Index(after, name); j >= 0 {
			kept = append(kept, name)
			c.value(p.at("oneOf", name), b.Variants[i], h.Variants[j], d)
			continue
		}
		c.add(p.at("oneOf", name).in(b.Variants[i].Pos, schema.Position{}), d.rule("variant-removed"), kindOf(b.Variants[i]), "")
	}
	for i, name := range after {
		if slices.Contains(before, name) {
			stay = append(stay, name)
			continue
		}
		c.add(p.at("oneOf", name).in(schema.Position{}, h.Variants[i].Pos), d.rule("variant-added"), "", kindOf(h.Variants[i]))
	}
	if !slices.Equal(kept, stay) {
		c.add(p.at("oneOf"), "variants-reordered", strings.Join(kept, ", "), strings.Join(stay, ", "))
	}
}

// variants names the variants of a union.
func variants(t *schema.Type) []string {
	if t.Tag != "" {
		return t.Tags
	}
	var out []string
	for _, v := range t.Variants {
		out = append(out, schema.JSONType(schema.Resolve(v)))
	}
	return out
}

// result compares what programs get. What only the handler sees of a result
// that is shaped breaks Go code and nothing else; its words change all the same.
func (c *comparer) result(p place, b, h *schema.Capability) {
	if !b.IsShaped() && !h.IsShaped() {
		c.value(p, b.Output, h.Output, output)
		return
	}
	c.shaped = true
	c.value(p, b.Result(), h.Result(), output)
	c.shaped = false
	whole := newComparer(c.rules)
	whole.value(p, b.Output, h.Output, output)
	for _, f := range whole.report.Findings {
		at := place{f.Capability, f.Pointer, f.Position, f.Base}
		switch {
		case f.Category == Prompt:
			c.add(at, f.ID, f.Before, f.After)
		case !c.found[key{f.ID, f.Target()}]:
			c.add(at, "handler-output-changed", f.Before, f.After)
		}
	}
}
