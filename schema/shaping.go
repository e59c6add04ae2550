package schema

import "time"

// Shaping is what a manifest says of how a capability's calls go and what of
// their results reaches a program. The zero Shaping changes nothing.
type Shaping struct {
	// Timeout of one call of the handler; 0 for none but the execution's own.
	Timeout time.Duration
	// Retry is nil for a handler that is called once.
	Retry *Retry
	// OutputCheck is strict, which empty is too, or Report.
	OutputCheck string
	// Keep are JSON pointers to what is left of a result, with * for every
	// item; empty for all of it.
	Keep []string
	// Limits are nil for a result that is never cut.
	Limits *Cut
	// Pagination is nil for a result that is no page.
	Pagination *Pagination
}

// Report is the OutputCheck that delivers what breaks its schema, and counts it.
const Report = "report"

// Retry tells when a handler is called again.
type Retry struct {
	// On are the codes of failures, sorted.
	On []string
	// Max is how many calls may follow the first.
	Max int
}

// shaping reads what shapes the calls of c and their results; keep stood in the
// output.
func (l *loader) shaping(n, keep *node, c *Capability, what string) {
	l.callRules(n, c, what)
	if v := n.get("output_check"); v != nil {
		c.OutputCheck, _ = l.word(v, "output_check", []string{"strict", Report}, nil)
	}
	if v := n.get("fixed"); v != nil && c.Input != nil {
		l.fixed(v, c, what)
	}
	if keep != nil {
		l.checkKeep(keep, c, what)
	}
	if v := n.get("pagination"); v != nil {
		l.pagination(v, c, what)
	}
	if v := n.get("limits"); v != nil && c.Run == nil && c.Effect != "" {
		l.cut(v, c, what)
	}
}
