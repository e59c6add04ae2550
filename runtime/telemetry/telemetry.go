package telemetry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Options of New. One of the providers is needed.
type Options struct {
	// TracerProvider makes the spans; nil makes none.
	TracerProvider trace.TracerProvider
	// MeterProvider makes the histogram of how long requests took; nil makes
	// none.
	MeterProvider metric.MeterProvider
	// PublicEndpoint is for a server whose clients nobody vouches for: spans
	// begin traces of their own, which are linked to those of clients, and the
	// baggage of clients is dropped. Without it a client decides whether its
	// requests are sampled, where the sampler asks the parent, and handlers
	// that pass their context on pass its baggage on too.
	PublicEndpoint bool
	// Shutdown is called once nothing is served any more, with a deadline: it
	// is to flush the providers. Nil calls nothing.
	Shutdown func(context.Context) error
}

// scope names the instrumentation to its backends.
const scope = "github.com/capgen/capgen/runtime/telemetry"

// Telemetry observes one server. It is safe for concurrent use.
type Telemetry struct {
	tracer   trace.Tracer // nil for none
	duration metric.Float64Histogram
	public   bool
	shutdown func(context.Context) error
	now      func() time.Time
}

// New checks options and makes the instruments.
func New(o Options) (*Telemetry, error) {
	if o.TracerProvider == nil && o.MeterProvider == nil {
		return nil, errors.New("telemetry: neither a TracerProvider nor a MeterProvider is given")
	}
	t := &Telemetry{public: o.PublicEndpoint, shutdown: o.Shutdown, now: time.Now}
	if o.TracerProvider != nil {
		t.tracer = o.TracerProvider.Tracer(scope)
	}
	if o.MeterProvider != nil {
		var err error
		t.duration, err = o.MeterProvider.Meter(scope).Float64Histogram("mcp.server.operation.duration",
			metric.WithUnit("s"),
			metric.WithDescription("MCP request or notification duration as observed on the receiver."),
			metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300))
		if err != nil {
			return nil, fmt.Errorf("telemetry: %w", err)
		}
	}
	return t, nil
}

// Shutdown calls Options.Shutdown.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	if t.shutdown == nil {
		return nil
	}
	return t.shutdown(ctx)
}
