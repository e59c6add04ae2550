package schema

import "slices"

// Pagination tells how one page of a list leads to the next.
type Pagination struct {
	// CursorIn is the parameter that takes a cursor, CursorOut the member of
	// the output that holds the next one, Items that with the list.
	CursorIn, CursorOut, Items string
}

// pageLimit is the parameter of its own that a program's pages() has.
const pageLimit = "max"

// pagination reads {cursor_in, cursor_out, items}. Types have to be lowered.
func (l *loader) pagination(n *node, c *Capability, what string) {
	if !l.mapping(n, &l.words.pagination, "pagination") {
		return
	}
	in := l.need(n, "cursor_in", "pagination", "cursor_in: the parameter that takes the cursor")
	out := l.need(n, "cursor_out", "pagination", "cursor_out: the property of the output that holds the next cursor")
	items := l.need(n, "items", "pagination", "items: the property of the output that holds the list")
	if in == nil || out == nil || items == nil {
		return
	}
	if c.Effect != "read" && c.Effect != "" {
		l.errorf(n.pos, ruleBadPagination, "%s has effect %s: pages are read", what, quote(c.Effect)).hint("remove pagination")
	}
	input, output := Resolve(c.Input), Resolve(c.Output)
	if input == nil || output == nil {
		return // reported already
	}
	if slices.ContainsFunc(input.Properties, func(p *Property) bool { return p.Name == pageLimit && !p.Fixed }) {
		l.errorf(n.pos, ruleBadPagination, "%s has a parameter %s, which pages() has too: how many pages to read", what, quote(pageLimit)).
			hint("give the parameter another name")
	}
	if output.Kind != Object {
		l.errorf(n.pos, ruleBadPagination, "the output of %s is %s: a page is an object with a list and a cursor", what, article(output.Kind)).
			hint("{type: object, properties: {items: {type: array, …}, next: {type: string}}}")
		return
	}
	from := l.cursorIn(in, input, what)
	to := l.cursorOut(out, output, c, what)
	list := l.pageItems(items, output, c, what)
	if from == nil || to == nil || list == nil {
		return
	}
	if a, b := cursorType(from.Type), cursorType(to.Type); a.Kind != b.Kind {
		l.errorf(out.pos, ruleBadPagination, "cursor_out is %s, but cursor_in %s", article(b.Kind), article(a.Kind)).
			hint("a page's cursor is the argument of the next call: give both the same type")
		return
	}
	c.Pagination = &Pagination{CursorIn: from.Name, CursorOut: to.Name, Items: list.Name}
}

// named finds the property that a field of pagination names.
func (l *loader) named(n *node, object *Type, field, where string) *Property {
	s, ok := l.str(n, field)
	if !ok {
		return nil
	}
	var names []string
	for _, p := range object.Properties {
		if p.Name == s && !p.Fixed {
			return p
		}
		names = append(names, p.Name)
	}
	f := l.errorf(n.pos, ruleBadPagination, "%s: %s has no property %s", field, where, quote(s)).hint("name one of its own properties")
	l.nearest(f, s, names)
	return nil
}

// cursorType is the type of a cursor that is there; nil if p cannot hold one.
func cursorType(t *Type) *Type {
	if t != nil && t.Kind == Nullable {
		t = t.Items
	}
	switch t = Resolve(t); {
	case t == nil:
	case t.Kind == String, t.Kind == Integer, t.Kind == Int64:
		return t
	}
	return nil
}

func (l *loader) cursorIn(n *node, input *Type, what string) *Property {
	p := l.named(n, input, "cursor_in", "the input of "+what)
	switch {
	case p == nil:
		return nil
	case cursorType(p.Type) == nil || p.Type.Kind == Nullable:
		l.errorf(n.pos, ruleBadPagination, "cursor_in %s is neither a string nor an integer", quote(p.Name)).hint("a cursor is one of them, and not null")
		return nil
	case p.Required || l.defaultOf[p] != nil:
		l.errorf(n.pos, ruleBadPagination, "cursor_in %s is required or has a default", quote(p.Name)).hint("it is left out for the first page")
		return nil
	}
	return p
}

func (l *loader) cursorOut(n *node, output *Type, c *Capability, what string) *Property {
	p := l.named(n, output, "cursor_out", "the output of "+what)
	if p == nil {
		return nil
	}
	t := cursorType(p.Type)
	switch {
	case t == nil:
		l.errorf(n.pos, ruleBadPagination, "cursor_out %s is neither a string nor an integer", quote(p.Name)).hint("a cursor is one of them, or null")
	case t.Kind != String && p.Required && p.Type.Kind != Nullable:
		l.errorf(n.pos, ruleBadPagination, "cursor_out %s is always there: the last page could not say that it is", quote(p.Name)).
			hint("let it be absent or null there")
	case !c.keepsMember(p.Name):
		l.errorf(n.pos, ruleBadPagination, "cursor_out %s is not kept", quote(p.Name)).hint("add /%s to keep", p.Name)
	default:
		return p
	}
	return nil
}

func (l *loader) pageItems(n *node, output *Type, c *Capability, what string) *Property {
	p := l.named(n, output, "items", "the output of "+what)
	if p == nil {
		return nil
	}
	switch t := Resolve(p.Type); {
	case t == nil:
	case t.Kind != Array || !p.Required:
		l.errorf(n.pos, ruleBadPagination, "items %s is not a list that is always there", quote(p.Name)).hint("name a required property of type array")
	case !c.keepsMember(p.Name):
		l.errorf(n.pos, ruleBadPagination, "items %s is not kept", quote(p.Name)).hint("add /%s to keep", p.Name)
	default:
		return p
	}
	return nil
}

// keepsMember tells whether something of a member of the output is kept.
func (c *Capability) keepsMember(name string) bool {
	return len(c.Keep) == 0 || slices.ContainsFunc(c.Keep, func(s string) bool {
		tokens, _ := parsePointer(s)
		return tokens[0] == name
	})
}

// nextType is what a program sees as next: the cursor, or null.
func nextType(t *Type) *Type {
	if t.Kind == Nullable {
		t = t.Items
	}
	return &Type{Kind: Nullable, Items: t, Pos: t.Pos, Description: "Cursor of the next page; null at the last, and after a cut."}
}

// property finds a property of an object.
func property(object *Type, name string) *Property {
	return object.Properties[slices.IndexFunc(object.Properties, func(p *Property) bool { return p.Name == name })]
}
