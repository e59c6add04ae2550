package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/capgen/capgen/runtime"
)

// The attributes of a native call, for which there is no convention.
const (
	execution      = attribute.Key("capgen.execution")
	callSequence   = attribute.Key("capgen.call.sequence")
	capabilityID   = attribute.Key("capgen.capability.id")
	capabilityName = attribute.Key("capgen.capability.name")
	callDecision   = attribute.Key("capgen.call.decision")
	callOutcome    = attribute.Key("capgen.call.outcome")
	callAttempts   = attribute.Key("capgen.call.attempts")
	errorCode      = attribute.Key("capgen.error.code")
)

// ExecuteOption has each native call of an execution make a span, below the one
// in the context of the execution; the spans of what its handler does are below
// it. Nil where there is no TracerProvider.
func (t *Telemetry) ExecuteOption() runtime.ExecuteOption {
	if t.tracer == nil {
		return nil
	}
	return runtime.WithAround(t.around)
}

func (t *Telemetry) around(ctx context.Context, c runtime.ObservedCall) (context.Context, func(runtime.ObservedCall)) {
	name := "call"
	if c.Name != "" { // else a worker made it up
		name += " " + c.Name
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithAttributes(
		execution.String(c.Execution),
		callSequence.Int(c.Sequence),
		capabilityID.String(c.ID),
		capabilityName.String(c.Name),
	))
	return ctx, func(c runtime.ObservedCall) {
		span.SetAttributes(
			callDecision.String(string(c.Decision)),
			callOutcome.String(string(c.State)),
		)
		if c.Attempts > 1 {
			span.SetAttributes(callAttempts.Int(c.Attempts))
		}
		if c.Error != "" {
			span.SetAttributes(errorType.String(string(c.Error)))
			span.SetStatus(codes.Error, "")
		}
		if c.Code != "" {
			span.SetAttributes(errorCode.String(c.Code))
		}
		span.End()
	}
}
