package govern

import (
	"fmt"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/govern/store"
)

// Code tells apart why something was refused.
type Code string

// The codes. Programs see them, and a manifest declares the same.
const (
	InvalidRequest   Code = "invalid_request"   // what was asked for makes no sense
	NotFound         Code = "not_found"         // no such plan, or another subject's
	ConflictCode     Code = "conflict"          // the key, or the plan, has been used otherwise
	Forbidden        Code = "forbidden"         // it can never be allowed as things are set up
	StaleState       Code = "stale_state"       // what was there is not there any more
	ApprovalRequired Code = "approval_required" // people have not decided yet
	ApprovalExpired  Code = "approval_expired"  // plan or approval are too old
	ApprovalRejected Code = "approval_rejected" // somebody said no
	TokenInvalid     Code = "token_invalid"
	TokenExpired     Code = "token_expired"
	TokenReplayed    Code = "token_replayed" // the plan has landed with another key
	TokenKeyUnknown  Code = "token_key_unknown"
	ClockRegressed   Code = "clock_regressed" // the clock was set back
	Confinement      Code = "confinement"     // a path leads out of its root
	Full             Code = "io_full"         // the disk is full
	Capacity         Code = "capacity"        // as many run as may
	// SandboxUnavailable is a run that this host cannot confine as it has to be.
	SandboxUnavailable Code = "sandbox_unavailable"
	Internal           Code = "internal"
)

// Codes are all of them.
func Codes() []Code {
	return []Code{
		InvalidRequest, NotFound, ConflictCode, Forbidden, StaleState, ApprovalRequired, ApprovalExpired, ApprovalRejected,
		TokenInvalid, TokenExpired, TokenReplayed, TokenKeyUnknown, ClockRegressed, Confinement, Full, Capacity, SandboxUnavailable, Internal,
	}
}

// Refusal is why something was refused. Programs and people may see its code,
// message and suggestion: no absolute path is in them. The cause is for logs.
type Refusal struct {
	Code       Code
	Message    string
	Suggestion string // what to do about it; may be empty
	cause      error
	// ends is what the plan becomes, if the refusal ends it; reason and by say why.
	ends       store.PlanStatus
	reason, by string
}

// refuse is a refusal with a formatted message.
func refuse(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: redact(fmt.Sprintf(format, args...))}
}

// suggest is r with what to do about it.
func (r *Refusal) suggest(format string, args ...any) *Refusal {
	r.Suggestion = redact(fmt.Sprintf(format, args...))
	return r
}

// because is r with its cause, which nobody but the host sees.
func (r *Refusal) because(err error) *Refusal {
	r.cause = err
	return r
}

// ending is r, with what its plan becomes.
func (r *Refusal) ending(status store.PlanStatus, reason, by string) *Refusal {
	r.ends, r.reason, r.by = status, reason, by
	return r
}

// Error is what may be shown.
func (r *Refusal) Error() string { return "govern: [" + string(r.Code) + "] " + r.text() }

func (r *Refusal) text() string {
	if r.Suggestion == "" {
		return r.Message
	}
	return r.Message + "; " + r.Suggestion
}

// Cause is what went wrong below, for the host's log; nil if nothing did. It may
// hold paths.
func (r *Refusal) Cause() error { return r.cause }

// Unwrap makes a refusal one that a program sees, and errors.Is find its cause.
func (r *Refusal) Unwrap() []error {
	told := runtime.Disclose(string(r.Code), r.text())
	if r.cause == nil {
		return []error{told}
	}
	return []error{told, r.cause}
}
