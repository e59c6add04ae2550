package program

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/binding"
)

// Bounds of one pages(…).
const (
	defaultPages = 10
	maxPages     = 1_000
)

// pages is what pages(…) knows of a capability whose results are pages.
type pages struct {
	in                    string // parameter
	items, out, truncated int    // fields of the output; truncated is -1 for none
	// result is the shape of what pages(…) returns: {items, truncated, next}.
	result *shape
}

func newPages(b *binding.Pages, output *shape) (*pages, error) {
	index := func(name string) int {
		if i, ok := output.index[name]; ok {
			return i
		}
		return -1
	}
	p := &pages{in: b.In, items: index(b.Items), out: index(b.Out), truncated: index(b.Truncated)}
	if p.items < 0 || p.out < 0 || output.fields[p.items].items == nil {
		return nil, fmt.Errorf("program: pages of fields that are not there")
	}
	p.result = &shape{kind: binding.Object, spec: &binding.Shape{Kind: binding.Object}, index: map[string]int{}}
	for i, f := range []field{
		{name: "items", required: true, shape: output.fields[p.items].shape},
		{name: "truncated", required: true, shape: &shape{kind: binding.Boolean, spec: &binding.Shape{Kind: binding.Boolean}}},
		{name: "next", required: true, shape: output.fields[p.out].shape},
	} {
		p.result.fields = append(p.result.fields, f)
		p.result.index[f.name] = i
		p.result.keys = append(p.result.keys, starlark.String(f.name))
	}
	return p, nil
}

// pages is pages(capability, max=10, **arguments): it calls the capability for
// page after page, at most max of them, and returns all their items in one
// record, with whether there are more and the cursor to go on from. Each page
// is a native call.
func (e *engine) pages(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	c, most, kwargs, err := e.pagesArguments(args, kwargs)
	if err != nil {
		return nil, err
	}
	p := c.pages
	list, cut := []starlark.Value{}, false
	var next starlark.Value
	seen := map[string]bool{}
	for n := 1; ; n++ {
		value, err := starlark.Call(thread, c.value, nil, kwargs)
		if err != nil {
			return nil, err
		}
		page, ok := value.(*record)
		if !ok {
			return nil, fmt.Errorf("pages: %s did not answer with a page", c.name)
		}
		if items, ok := page.values[p.items].(*starlark.List); ok {
			if err := e.roomItems(len(list) + items.Len()); err != nil {
				return nil, err
			}
			if err := e.charge(items.Len()); err != nil {
				return nil, err
			}
			for i := range items.Len() {
				list = append(list, items.Index(i))
			}
		}
		cut = p.truncated >= 0 && page.values[p.truncated] == starlark.True
		next = cursorOf(page.values[p.out])
		if next == starlark.None || n == most { // after a cut there is no cursor
			break
		}
		key := next.String()
		if seen[key] {
			return nil, fmt.Errorf("pages: %s answered with the cursor %s twice: its pages have no end", c.name, excerpt(key))
		}
		seen[key] = true
		kwargs = withCursor(kwargs, p.in, next)
	}
	out := &record{shape: p.result, values: []starlark.Value{starlark.NewList(list), starlark.Bool(cut || next != starlark.None), next}}
	out.length = len(out.values)
	return out, nil
}

// pagesArguments takes max out of the keyword arguments.
func (e *engine) pagesArguments(args starlark.Tuple, kwargs []starlark.Tuple) (c *capability, most int, rest []starlark.Tuple, err error) {
	const usage = "pages takes a capability, as in pages(records.list, max=10, owner=\"x\")"
	if len(args) != 1 {
		return nil, 0, nil, fmt.Errorf("%s; got %d positional arguments", usage, len(args))
	}
	function, ok := args[0].(*starlark.Builtin)
	if ok {
		c, err = e.capability(function.Name())
	}
	switch {
	case err != nil:
		return nil, 0, nil, err
	case c == nil || c.value != function:
		return nil, 0, nil, fmt.Errorf("%s; got %s", usage, typeName(args[0]))
	case c.pages == nil:
		return nil, 0, nil, fmt.Errorf("pages: %s answers in one piece: call it by itself", c.name)
	}
	most = defaultPages
	for _, pair := range kwargs {
		if name, _ := starlark.AsString(pair[0]); name != "max" {
			rest = append(rest, pair)
			continue
		}
		if most, err = starlark.AsInt32(pair[1]); err != nil || most < 1 || most > maxPages {
			return nil, 0, nil, fmt.Errorf("pages: max is how many pages to read, an int from 1 to %d", maxPages)
		}
	}
	return c, most, rest, nil
}

// cursorOf is None where there is no next page.
func cursorOf(v starlark.Value) starlark.Value {
	if s, ok := v.(starlark.String); v == nil || ok && s == "" {
		return starlark.None
	}
	return v
}

// withCursor is kwargs with the cursor, instead of one that the program gave.
func withCursor(kwargs []starlark.Tuple, name string, cursor starlark.Value) []starlark.Tuple {
	out := make([]starlark.Tuple, 0, len(kwargs)+1)
	for _, pair := range kwargs {
		if key, _ := starlark.AsString(pair[0]); key != name {
			out = append(out, pair)
		}
	}
	return append(out, starlark.Tuple{starlark.String(name), cursor})
}
