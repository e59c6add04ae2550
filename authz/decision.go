package authz

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Outcome is how a decision ended.
type Outcome string

// The outcomes.
const (
	Allowed Outcome = "allowed"
	Denied  Outcome = "denied"
	// Failed: the authorizer could not decide, and the call was refused.
	Failed Outcome = "failed"
)

// Decision is what an Authorizer decided of a call. It holds no arguments: a
// log of decisions is kept longer, and read by more people, than they should be.
type Decision struct {
	Subject Subject
	// ID and Name of the capability, and its effect.
	ID, Name, Effect string
	Outcome          Outcome
	// Err is what the authorizer returned; nil for Allowed.
	Err error
	// Duration of the decision.
	Duration time.Duration
}

// Observed is a, with every decision given to observe before the call goes on.
// observe runs on the way of the call: it has to be quick, and safe for
// concurrent use. A panic of a is a decision that Failed, and goes on to the
// server, which contains it.
//
//	authz.Observed(policy, authz.LogDecisions(logger))
func Observed(a Authorizer, observe func(context.Context, Decision)) Authorizer {
	if a == nil || observe == nil {
		panic("authz: Observed needs an authorizer and a function")
	}
	return observed{a, observe}
}

type observed struct {
	Authorizer
	observe func(context.Context, Decision)
}

var errPanicked = errors.New("authz: the authorizer panicked")

func (o observed) Authorize(ctx context.Context, r Request) (err error) {
	d := Decision{Subject: r.Subject, ID: r.ID, Name: r.Name, Effect: r.Effect, Outcome: Failed, Err: errPanicked}
	begin := time.Now()
	defer func() {
		d.Duration = time.Since(begin)
		o.observe(ctx, d)
	}()
	err = o.Authorizer.Authorize(ctx, r)
	switch d.Err = err; {
	case err == nil:
		d.Outcome = Allowed
	case errors.Is(err, ErrDenied):
		d.Outcome = Denied
	}
	return err
}

// AllowsEverything tells whether what is observed does.
func (o observed) AllowsEverything() bool { return AllowsEverything(o.Authorizer) }

// Preview is what the observed authorizer says.
func (o observed) Preview(ctx context.Context, s Subject, id string) Verdict {
	return preview(ctx, o.Authorizer, s, id)
}

// LogDecisions writes each decision as one record: info, and error for one that
// Failed.
func LogDecisions(log *slog.Logger) func(context.Context, Decision) {
	return func(ctx context.Context, d Decision) {
		level := slog.LevelInfo
		if d.Outcome == Failed {
			level = slog.LevelError
		}
		log.LogAttrs(ctx, level, "policy decision",
			slog.String("capability", d.ID), slog.String("effect", d.Effect), slog.String("subject", d.Subject.String()),
			slog.String("outcome", string(d.Outcome)), slog.Duration("duration", d.Duration), slog.Any("error", d.Err))
	}
}
