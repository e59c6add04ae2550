package fault

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/capgen/capgen/runtime/canon"
)

// The bounds of a Fault's texts, in bytes of UTF-8. Encode cuts what is longer,
// because the report of a failure must not fail itself; Decode refuses it,
// because only a hostile peer sends it.
const (
	MaxMessage    = 4096
	MaxHint       = 1024
	MaxPath       = 1280
	MaxCapability = 256
	MaxCode       = 64
	MaxLimit      = 64
	MaxTrace      = 32 // lines
	MaxTraceLine  = 256
)

// Depth is how many containers an encoded Fault nests.
const Depth = 2

// maxPosition bounds Line and Column.
const maxPosition = math.MaxInt32

// classes lists the Class values as strings.
func classes() []string {
	return []string{
		string(InvalidProgram), string(ProgramError), string(InvalidArguments),
		string(NotFound), string(Denied), string(PolicyFailure), string(Limit),
		string(CapabilityFailed), string(Cancelled), string(WorkerLost),
		string(Internal), string(Unauthenticated),
	}
}

// Encode writes f as an object without its empty fields. Texts that are too
// long are cut, invalid UTF-8 is replaced, numbers out of range are left out.
// A class that does not exist is an error of w.
func (f *Fault) Encode(w *canon.Writer) {
	texts := [...]struct {
		key, value string
		max        int
	}{
		{"capability", cut(f.Capability, MaxCapability), MaxCapability},
		{"code", cut(f.Code, MaxCode), MaxCode},
		{"hint", cut(f.Hint, MaxHint), MaxHint},
		{"limit", cut(f.Limit, MaxLimit), MaxLimit},
		{"path", cut(f.Path, MaxPath), MaxPath},
	}
	members := 2 // class and message
	for _, t := range texts {
		if t.value != "" {
			members++
		}
	}
	line, column := position(f.Line), position(f.Column)
	bound := max(f.Bound, 0)
	for _, n := range [...]int64{line, column, bound} {
		if n > 0 {
			members++
		}
	}
	trace := cutTrace(f.Trace)
	if len(trace) > 0 {
		members++
	}
	text := func(i int) {
		if t := texts[i]; t.value != "" {
			w.Key(t.key)
			w.String(t.value, 1, t.max)
		}
	}
	number := func(key string, n, max int64) {
		if n > 0 {
			w.Key(key)
			w.Int(n, 1, max)
		}
	}
	// In the order of canon.CompareKeys.
	w.BeginObject(members)
	number("bound", bound, math.MaxInt64)
	text(0)
	w.Key("class")
	w.Enum(string(f.Class), classes()...)
	text(1)
	number("column", column, maxPosition)
	text(2)
	text(3)
	number("line", line, maxPosition)
	w.Key("message")
	w.String(cut(f.Message, MaxMessage), 0, MaxMessage)
	text(4)
	if len(trace) > 0 {
		w.Key("trace")
		w.BeginArray(len(trace), 1, MaxTrace)
		for i, line := range trace {
			w.Element(i)
			w.String(line, 0, MaxTraceLine)
		}
		w.EndArray()
	}
	w.EndObject()
}

// Decode reads what Encode writes. It refuses an unknown class or member, and
// every text or number beyond its bound; f is then not to be used.
func (f *Fault) Decode(r *canon.Reader) error {
	*f = Fault{}
	var seen canon.Seen
	r.BeginObject()
	for r.NextMember() {
		switch string(r.Key()) {
		case "bound":
			seen.Mark(r, 0)
			f.Bound = r.Int(1, math.MaxInt64)
		case "capability":
			seen.Mark(r, 1)
			f.Capability = text(r, 1, MaxCapability)
		case "class":
			seen.Mark(r, 2)
			f.Class = Class(r.Enum(classes()...))
		case "code":
			seen.Mark(r, 3)
			f.Code = text(r, 1, MaxCode)
		case "column":
			seen.Mark(r, 4)
			f.Column = int(r.Int(1, maxPosition))
		case "hint":
			seen.Mark(r, 5)
			f.Hint = text(r, 1, MaxHint)
		case "limit":
			seen.Mark(r, 6)
			f.Limit = text(r, 1, MaxLimit)
		case "line":
			seen.Mark(r, 7)
			f.Line = int(r.Int(1, maxPosition))
		case "message":
			seen.Mark(r, 8)
			f.Message = text(r, 0, MaxMessage)
		case "path":
			seen.Mark(r, 9)
			f.Path = text(r, 1, MaxPath)
		case "trace":
			seen.Mark(r, 10)
			r.BeginArray(1, MaxTrace)
			for r.NextElement() {
				f.Trace = append(f.Trace, text(r, 0, MaxTraceLine))
			}
		default:
			r.UnknownMember()
		}
	}
	r.Require(&seen, 2, "class")
	r.Require(&seen, 8, "message")
	return r.Err()
}

// text reads a string of at most most bytes; canon counts code points.
func text(r *canon.Reader, least, most int) string {
	s := r.String(least, most)
	if len(s) > most {
		r.Fail(canon.CodeLength, "expected at most "+strconv.Itoa(most)+" bytes, got "+strconv.Itoa(len(s)))
		return ""
	}
	return s
}

const ellipsis = "…"

// cut shortens s to at most most bytes at a character, and makes it UTF-8.
func cut(s string, most int) string {
	if len(s) > most {
		n := most - len(ellipsis)
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		return strings.ToValidUTF8(s[:n], "?") + ellipsis
	}
	return strings.ToValidUTF8(s, "?") // one byte for a run of bad ones: never longer
}

// cutTrace keeps the outermost and the innermost lines of a long trace.
func cutTrace(trace []string) []string {
	const outer = 8
	kept := make([]string, 0, min(len(trace), MaxTrace))
	if len(trace) > MaxTrace {
		inner := MaxTrace - outer - 1
		kept = append(kept, trace[:outer]...)
		kept = append(kept, ellipsis+" "+strconv.Itoa(len(trace)-outer-inner)+" more")
		kept = append(kept, trace[len(trace)-inner:]...)
	} else {
		kept = append(kept, trace...)
	}
	for i, line := range kept {
		kept[i] = cut(line, MaxTraceLine)
	}
	return kept
}

func position(n int) int64 {
	if n < 1 || n > maxPosition {
		return 0
	}
	return int64(n)
}
