package runtime

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/capgen/capgen/runtime/fault"
)

// What an error of Search, Describe or Execute is, for errors.Is.
var (
	ErrUnauthenticated    = errors.New("runtime: unauthenticated")
	ErrCapabilityNotFound = errors.New("runtime: capability not found")
	ErrInvalidProgram     = errors.New("runtime: invalid program")
	ErrProgramFailed      = errors.New("runtime: program failed")
	ErrInvalidArguments   = errors.New("runtime: invalid arguments")
	ErrPermissionDenied   = errors.New("runtime: permission denied")
	ErrPolicyFailure      = errors.New("runtime: policy failure")
	ErrResourceLimit      = errors.New("runtime: resource limit")
	ErrCapabilityFailed   = errors.New("runtime: capability failed")
	ErrCancelled          = errors.New("runtime: cancelled")
	ErrWorkerLost         = errors.New("runtime: worker lost")
	ErrInternal           = errors.New("runtime: internal failure")
)

// Error is how Search, Describe or Execute failed. Its text and its Fault may
// be shown to the client: they speak of the program and its arguments, never
// of policies, handlers or the host. It matches one of the sentinels above.
type Error struct{ fault fault.Fault }

// Error is the class in words and the message, with a position if there is one.
func (e *Error) Error() string { return "runtime: " + e.fault.Error() }

// Fault is the failure in parts.
func (e *Error) Fault() fault.Fault { return e.fault }

// Is makes errors.Is(err, ErrResourceLimit) and the like work.
func (e *Error) Is(target error) bool { return target == sentinel(e.fault.Class) }

func sentinel(c fault.Class) error {
	switch c {
	case fault.Unauthenticated:
		return ErrUnauthenticated
	case fault.NotFound:
		return ErrCapabilityNotFound
	case fault.InvalidProgram:
		return ErrInvalidProgram
	case fault.ProgramError:
		return ErrProgramFailed
	case fault.InvalidArguments:
		return ErrInvalidArguments
	case fault.Denied:
		return ErrPermissionDenied
	case fault.PolicyFailure:
		return ErrPolicyFailure
	case fault.Limit:
		return ErrResourceLimit
	case fault.CapabilityFailed:
		return ErrCapabilityFailed
	case fault.Cancelled:
		return ErrCancelled
	case fault.WorkerLost:
		return ErrWorkerLost
	default:
		return ErrInternal
	}
}

// MaxDisclosedBytes bounds a message that a handler discloses.
const MaxDisclosedBytes = 256

// Disclose makes an error whose code and message a program and its client may
// see. Every other error of a handler reaches them as "capability failed" and
// nothing more, and so does one whose code is not among the errors that the
// capability declares, where it declares some. The message is cut at
// MaxDisclosedBytes on a rune boundary; control characters become spaces and
// invalid UTF-8 is replaced. An ErrorCode says the same with less.
func Disclose(code, message string) error {
	return &disclosed{code: sanitize(code, MaxErrorCodeBytes), message: sanitize(message, MaxDisclosedBytes)}
}

type disclosed struct{ code, message string }

func (d *disclosed) Error() string { return d.code + ": " + d.message }

// sanitize makes text safe to show: valid UTF-8 without control, format and
// separator characters, at most max bytes.
func sanitize(text string, max int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text[:min(len(text), 4*max)], "\uFFFD"))
	if len(text) <= max {
		return text
	}
	cut := max
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}
