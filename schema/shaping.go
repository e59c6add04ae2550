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
