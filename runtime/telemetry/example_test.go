package telemetry_test

import (
	"context"
	"os"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/capgen/capgen/runtime/host"
	"github.com/capgen/capgen/runtime/telemetry"
)

// newExporter stands for the one of your choice, such as otlptracehttp.New.
func newExporter(context.Context) (sdktrace.SpanExporter, error) {
	return tracetest.NewInMemoryExporter(), nil
}

func Example() {
	os.Exit(host.Main(host.Options{
		Name: "records",
		Telemetry: func(ctx context.Context, env host.Env) (host.Telemetry, error) {
			exporter, err := newExporter(ctx) // otlptracehttp.New(ctx), say
			if err != nil {
				return nil, err
			}
			provider := sdktrace.NewTracerProvider(
				sdktrace.WithBatcher(exporter),
				sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(0.1))),
			)
			return telemetry.New(telemetry.Options{
				TracerProvider: provider,
				Shutdown:       provider.Shutdown,
			})
		},
	}))
}
