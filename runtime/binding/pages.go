package binding

import (
	"github.com/capgen/capgen/runtime/canon"
)

// Pages say how the result of one call leads to the next.
type Pages struct {
	// In is the parameter that takes a cursor.
	In string `json:"in"`
	// Items is the field of the output that holds the list, and Out that with
	// the next cursor: a string, which is empty at the end, or an integer;
	// absent or null at the end.
	Items string `json:"items"`
	Out   string `json:"out"`
	// Truncated is the boolean field that says that items were left out; empty
	// where that cannot be.
	Truncated string `json:"truncated,omitempty"`
}

func (p *Pages) encode(w *canon.Writer) {
	var o objectEncoder
	o.text("in", p.In)
	o.text("items", p.Items)
	o.text("out", p.Out)
	o.text("truncated", p.Truncated)
	o.write(w)
}

func decodePages(r *canon.Reader) *Pages {
	p := &Pages{}
	var seen canon.Seen
	r.BeginObject()
	for r.NextMember() {
		switch string(r.Key()) {
		case "in":
			p.In = seen.Mark(r, 0).String(1, maxFieldName)
		case "items":
			p.Items = seen.Mark(r, 1).String(1, maxFieldName)
		case "out":
			p.Out = seen.Mark(r, 2).String(1, maxFieldName)
		case "truncated":
			p.Truncated = seen.Mark(r, 3).String(1, maxFieldName)
		default:
			r.UnknownMember()
		}
	}
	r.Require(&seen, 0, "in")
	r.Require(&seen, 1, "items")
	r.Require(&seen, 2, "out")
	return p
}

// checkPages refuses pages of what the capability does not have.
func (c *Capability) checkPages(r *canon.Reader) {
	p := c.Pages
	if p == nil || r.Err() != nil {
		return
	}
	output := &c.Output
	if output.Kind == Ref {
		if i, ok := c.typeIndex(output.Ref); ok {
			output = &c.Types[i].Shape
		}
	}
	is := func(fields []Field, name string, kinds ...Kind) bool {
		for i := range fields {
			if fields[i].Name != name {
				continue
			}
			for _, k := range kinds {
				if fields[i].Kind == k {
					return true
				}
			}
		}
		return false
	}
	cursors := []Kind{String, Integer, Int64}
	// A list may be of a type that holds itself, and is looked at when it is
	// there.
	if !is(c.Input, p.In, cursors...) || !is(output.Fields, p.Out, cursors...) || !is(output.Fields, p.Items, Array, Ref) ||
		p.Truncated != "" && !is(output.Fields, p.Truncated, Boolean) {
		r.Fail(canon.CodeUnknown, "pages of fields that are not there")
	}
}
