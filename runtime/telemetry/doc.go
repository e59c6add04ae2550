// Package telemetry traces and measures what a server is asked, by the
// OpenTelemetry semantic conventions for MCP: a span for each request, one
// below it for each native call, and how long requests took. It must never
// know an argument, a result or an exporter; a host that does not import it
// links nothing of OpenTelemetry.
//
//	host.Main(host.Options{
//		Telemetry: func(ctx context.Context, env host.Env) (host.Telemetry, error) {
//			exporter, err := otlptracegrpc.New(ctx)
//			if err != nil {
//				return nil, err
//			}
//			provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter))
//			return telemetry.New(telemetry.Options{TracerProvider: provider, Shutdown: provider.Shutdown})
//		},
//		…
//	})
//
// The trace that a client is in comes with each request, in its _meta
// (traceparent, tracestate and baggage, by SEP-414 and W3C Trace Context). What
// a client writes there decides nothing but to which trace spans belong.
package telemetry
