package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// The bounds of what a client's _meta may bring. What is longer is as if it
// were not there.
const (
	// maxTraceparent leaves room for what later versions append (W3C Trace
	// Context, section 3.2.4).
	maxTraceparent = 256
	// maxTracestate is what section 3.3.1.5 there has everybody pass on.
	maxTracestate = 512
	// maxBaggage is that of W3C Baggage, section 3.3.2, which the parser holds
	// to 64 members as well.
	maxBaggage = 8192
)

// carrier shows a propagator the texts of _meta that are within their bounds.
type carrier map[string]any

// Get implements propagation.TextMapCarrier.
func (c carrier) Get(key string) string {
	text, _ := c[key].(string)
	most := maxTraceparent
	switch key {
	case "tracestate":
		most = maxTracestate
	case "baggage":
		most = maxBaggage
	}
	if len(text) > most {
		return ""
	}
	return text
}

// Set implements propagation.TextMapCarrier, of which only Get is used.
func (c carrier) Set(string, string) {}

// Keys implements propagation.TextMapCarrier.
func (c carrier) Keys() []string { return nil }

// parent reads the trace context and the baggage of a request. What does not
// parse is not there: a client learns nothing of it, and its call runs.
func (t *Telemetry) parent(meta map[string]any) (remote trace.SpanContext, b baggage.Baggage) {
	if len(meta) == 0 {
		return remote, b
	}
	c := carrier(meta)
	remote = trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), c))
	if text := c.Get("baggage"); text != "" && !t.public {
		// Not by propagation.Baggage, which reports errors to a handler of the
		// whole process, and takes a part of what does not parse.
		if read, err := baggage.Parse(text); err == nil {
			b = read
		}
	}
	return remote, b
}
