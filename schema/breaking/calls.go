package breaking

import (
	"slices"
	"strconv"
	"strings"

	"github.com/capgen/capgen/schema"
)

// calls compares how calls of a capability go, and what of their results
// reaches a program.
func (c *comparer) calls(of func(string) place, b, h *schema.Capability) {
	c.timeout(of("timeout"), b, h)
	c.retry(of("retry"), b.Retry, h.Retry)
	if b.OutputCheck == schema.Report != (h.OutputCheck == schema.Report) {
		id := "output-check-tightened"
		if h.OutputCheck == schema.Report {
			id = "output-check-loosened"
		}
		c.add(of("output_check"), id, check(b), check(h))
	}
	keep := "keep-changed"
	if keepsMore(b.Keep, h.Keep) {
		keep = "keep-widened"
	}
	c.differs(of("output").at("keep"), keep, strings.Join(b.Keep, " "), strings.Join(h.Keep, " "))
	c.limits(of("limits"), b.Limits, h.Limits)
	switch at := of("pagination"); {
	case b.Pagination == nil && h.Pagination != nil:
		c.add(at, "pagination-added", "", pages(h.Pagination))
	case b.Pagination != nil && h.Pagination == nil:
		c.add(at, "pagination-removed", pages(b.Pagination), "")
	case b.Pagination != nil:
		c.differs(at, "pagination-changed", pages(b.Pagination), pages(h.Pagination))
	}
}

// keepsMore tells whether a result with the pointers h may hold what one with
// the pointers b does not. No pointers keep all. A pointer is compared as text,
// so that a doubt is a yes.
func keepsMore(b, h []string) bool {
	if len(b) == 0 {
		return false
	}
	return len(h) == 0 || slices.ContainsFunc(h, func(now string) bool {
		return !slices.ContainsFunc(b, func(old string) bool { return now == old || strings.HasPrefix(now, old+"/") })
	})
}

func check(c *schema.Capability) string {
	if c.OutputCheck == "" {
		return "strict"
	}
	return c.OutputCheck
}

func pages(p *schema.Pagination) string {
	return "cursor_in=" + p.CursorIn + " cursor_out=" + p.CursorOut + " items=" + p.Items
}

// timeout: none is the longest.
func (c *comparer) timeout(p place, b, h *schema.Capability) {
	before, after := "", ""
	if b.Timeout > 0 {
		before = b.TimeoutText()
	}
	if h.Timeout > 0 {
		after = h.TimeoutText()
	}
	switch {
	case b.Timeout == h.Timeout:
	case b.Timeout == 0 || h.Timeout > 0 && h.Timeout < b.Timeout:
		c.add(p, "timeout-lowered", before, after)
	default:
		c.add(p, "timeout-raised", before, after)
	}
}

func (c *comparer) retry(p place, b, h *schema.Retry) {
	if b == nil {
		b = &schema.Retry{}
	}
	if h == nil {
		h = &schema.Retry{}
	}
	if h.Max > b.Max || slices.ContainsFunc(h.On, func(code string) bool { return !slices.Contains(b.On, code) }) {
		c.add(p, "retry-widened", retryText(b), retryText(h))
	}
	if h.Max < b.Max || slices.ContainsFunc(b.On, func(code string) bool { return !slices.Contains(h.On, code) }) {
		c.add(p, "retry-narrowed", retryText(b), retryText(h))
	}
}

func retryText(r *schema.Retry) string {
	if r.Max == 0 {
		return ""
	}
	return "max=" + strconv.Itoa(r.Max) + " on=" + strings.Join(r.On, ",")
}

func (c *comparer) limits(p place, b, h *schema.Cut) {
	switch {
	case b == nil && h == nil:
		return
	case b == nil:
		c.add(p, "limits-added", "", cutText(h))
		return
	case h == nil:
		c.add(p, "limits-removed", cutText(b), "")
		return
	}
	for _, bound := range []struct {
		name string
		b, h int
	}{{"items", b.Items, h.Items}, {"bytes", b.Bytes, h.Bytes}} {
		switch {
		case bound.b == bound.h:
		case bound.b == 0 || bound.h > 0 && bound.h < bound.b:
			c.add(p.at(bound.name), "limits-lowered", orNone(bound.b), orNone(bound.h))
		default:
			c.add(p.at(bound.name), "limits-raised", orNone(bound.b), orNone(bound.h))
		}
	}
}

func cutText(cut *schema.Cut) string {
	return strings.TrimSpace("items=" + orNone(cut.Items) + " bytes=" + orNone(cut.Bytes))
}

func orNone(n int) string {
	if n == 0 {
		return "none"
	}
	return strconv.Itoa(n)
}

// errors compares what a capability may fail with. One that declares none may
// fail with any code.
func (c *comparer) errors(p place, b, h []schema.DeclaredError) {
	if len(b) == 0 && len(h) > 0 {
		var codes []string
		for _, e := range h {
			codes = append(codes, e.Code)
		}
		c.add(p.in(schema.Position{}, h[0].Pos), "errors-declared", "", strings.Join(codes, " "))
		return
	}
	for _, e := range b {
		at := p.at(e.Code)
		switch i := slices.IndexFunc(h, func(o schema.DeclaredError) bool { return o.Code == e.Code }); {
		case i < 0:
			c.add(at.in(e.Pos, schema.Position{}), "error-removed", e.Text, "")
		default:
			c.differs(at.in(e.Pos, h[i].Pos), "error-text-changed", e.Text, h[i].Text)
		}
	}
	for _, e := range h {
		if !slices.ContainsFunc(b, func(o schema.DeclaredError) bool { return o.Code == e.Code }) {
			c.add(p.at(e.Code).in(schema.Position{}, e.Pos), "error-added", "", e.Text)
		}
	}
}

// examples compares calls and their outcomes, by their titles.
func (c *comparer) examples(p place, b, h []*schema.Example) {
	base, titles := map[string]*schema.Example{}, []string{}
	for _, e := range b {
		base[e.Title] = e
	}
	for _, e := range h {
		titles = append(titles, e.Title)
		at, old := p.at(e.Title), base[e.Title]
		if old == nil {
			c.add(at.in(schema.Position{}, e.Pos), "example-added", "", ExampleText(e))
			continue
		}
		c.differs(at.in(old.Pos, e.Pos), "example-changed", ExampleText(old), ExampleText(e))
	}
	var kept, before []string
	for _, e := range b {
		if !slices.Contains(titles, e.Title) {
			c.add(p.at(e.Title).in(e.Pos, schema.Position{}), "example-removed", ExampleText(e), "")
			continue
		}
		before = append(before, e.Title)
	}
	for _, title := range titles {
		if base[title] != nil {
			kept = append(kept, title)
		}
	}
	if !slices.Equal(before, kept) {
		c.add(p, "examples-reordered", strings.Join(before, ", "), strings.Join(kept, ", "))
	}
}

// ExampleText is an example in a line: its input and its outcome.
func ExampleText(e *schema.Example) string {
	if e.Error != "" {
		return e.Input + " fails with " + e.Error
	}
	return e.Input + " returns " + e.Output
}
