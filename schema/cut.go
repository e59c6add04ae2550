package schema

// maxCutBytes is the most that limits.bytes may say; the runtime's
// MaxValueBytes cuts earlier where it is less.
const maxCutBytes = 1 << 20

// Cut bounds a result: it is cut between two items, and says so.
type Cut struct {
	// Items and Bytes bound the list; 0 for no bound but the schema's and the
	// runtime's. Bytes count the items in the wire encoding.
	Items, Bytes int
}

// limits reads {items, bytes}. Types have to be lowered.
func (l *loader) cut(n *node, c *Capability, what string) {
	if !l.mapping(n, &l.words.limits, "limits") {
		return
	}
	cut := &Cut{}
	if len(n.members) == 0 {
		l.errorf(n.pos, ruleMissingField, "limits needs %s or %s", quote("items"), quote("bytes")).hint("limits: {items: 100}, or leave it out")
	}
	if v := n.get("items"); v != nil {
		cut.Items = l.count(v, "items", 1, MaxItems)
	}
	if v := n.get("bytes"); v != nil {
		cut.Bytes = l.count(v, "bytes", 1, maxCutBytes)
	}
	output := Resolve(c.Output)
	if output == nil {
		return // reported already
	}
	if output.Kind != Array && c.Pagination == nil {
		l.errorf(n.pos, ruleBadLimits, "the output of %s is %s: only a list can be cut", what, article(output.Kind)).
			hint("limits stand with an output of type array, or with pagination, whose items are cut")
		return
	}
	c.Limits = cut
}

// Result is the output as programs see it: what keep leaves of it and, where it
// is cut, the record {items, truncated}.
func (c *Capability) Result() *Type {
	out := c.Output
	if len(c.Keep) > 0 {
		var pointers [][]string
		for _, s := range c.Keep {
			tokens, _ := parsePointer(s)
			pointers = append(pointers, tokens)
		}
		out = kept(out, pointers)
	}
	if c.Limits != nil {
		out = c.cutRecord(out)
	}
	return out
}

// cutRecord is what a program gets of a list that may be cut.
func (c *Capability) cutRecord(output *Type) *Type {
	list, next := *Resolve(output), (*Property)(nil)
	if p := c.Pagination; p != nil {
		page := Resolve(output)
		next = &Property{Name: "next", Required: true, Pos: output.Pos, Type: nextType(property(page, p.CursorOut).Type)}
		list = *Resolve(property(page, p.Items).Type)
	}
	list.MinItems, list.Description = 0, ""
	if n := c.Limits.Items; n > 0 {
		list.MaxItems = min(n, list.MaxItems)
	}
	out := &Type{Kind: Object, Description: described(output), Pos: output.Pos, Properties: []*Property{
		{Name: "items", Required: true, Pos: output.Pos, Type: &list},
		{Name: "truncated", Required: true, Pos: output.Pos, Type: &Type{
			Kind: Boolean, Description: "Whether items were left out at the end.", Pos: output.Pos,
		}},
	}}
	if next != nil {
		out.Properties = append(out.Properties, next)
	}
	return out
}

// described is the description at a place, which may be its type's.
func described(t *Type) string {
	if t.Description == "" && t.Kind == Ref {
		return t.Ref.Type.Description
	}
	return t.Description
}

// IsShaped tells whether programs see another value than the handler returns.
func (c *Capability) IsShaped() bool { return len(c.Keep) > 0 || c.Limits != nil }
