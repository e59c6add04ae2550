package codegen

import (
	"github.com/capgen/capgen/schema"
)

// InlineSchema is the JSON Schema of t with references written out: it
// stands alone, and changes whenever anything that t means does. t is of a
// manifest that Generate accepts, which bounds its size.
func InlineSchema(t *schema.Type) []byte {
	return schema.EffectiveSchema(inline(t))
}

// inline is a copy of t without references. What a reference says of itself
// stands instead of what its type says.
func inline(t *schema.Type) *schema.Type {
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
	c.Properties = make([]*schema.Property, len(t.Properties))
	for i, p := range t.Properties {
		q := *p
		q.Type = inline(p.Type)
		c.Properties[i] = &q
	}
	return &c
}
