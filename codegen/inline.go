package codegen

import (
	"github.com/capgen/capgen/schema"
)

// InlineSchema is the JSON Schema of t with references written out, except
// those to types that hold themselves, which stand under $defs: it stands alone, and changes whenever anything that t means does. t is of a
// manifest that Generate accepts, which bounds its size.
func InlineSchema(t *schema.Type) []byte {
	var defs []*schema.NamedType
	for _, d := range recursiveTypes(t) {
		defs = append(defs, &schema.NamedType{Name: d.Name, Type: inline(d.Type)})
	}
	return schema.EffectiveDocument(inline(t), defs)
}

// inline is a copy of t without references but those to types that hold
// themselves. What a reference says of itself
// stands instead of what its type says.
func inline(t *schema.Type) *schema.Type {
	if isRecursive(t) {
		return t
	}
	if t.Kind == schema.Ref {
		c := inline(t.Ref.Type)
		if t.Title != "" {
			c.Title = t.Title
		}
		if t.Description != "" {
			c.Description = t.Description
		}
		return c
	}
	c := *t
	if t.Items != nil {
		c.Items = inline(t.Items)
	}
	c.Variants = make([]*schema.Type, len(t.Variants))
	for i, v := range t.Variants {
		c.Variants[i] = inline(v)
	}
	c.Properties = make([]*schema.Property, len(t.Properties))
	for i, p := range t.Properties {
		q := *p
		q.Type = inline(p.Type)
		c.Properties[i] = &q
	}
	return &c
}
