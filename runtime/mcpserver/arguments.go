package mcpserver

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
)

// maxArgumentDepth is more than any tool's arguments nest; what is deeper is
// refused before it is read.
const maxArgumentDepth = 8

// maxDataDepth is that of execute's arguments, whose data the runtime bounds
// further.
const maxDataDepth = 1 << 10

// readArguments reads one tool's arguments: an object with the members that
// member accepts. Absent arguments are an empty object, since a client may
// leave them out (MCP, CallToolRequestParams.arguments).
//
// hint says what the arguments are, for a caller that guessed.
func readArguments(hint string, raw json.RawMessage, depth int, member func(r *canon.Reader, seen *canon.Seen) (known bool), require func(r *canon.Reader, seen *canon.Seen)) *fault.Fault {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	r := canon.NewJSONReader(raw, depth)
	var seen canon.Seen
	r.BeginObject()
	for r.NextMember() {
		if !member(r, &seen) {
			r.UnknownMember()
		}
	}
	require(r, &seen)
	f := argumentFault(r.End())
	if f != nil {
		f.Hint = hint
	}
	return f
}

// argumentFault turns a reader's error into what the caller is told.
func argumentFault(err error) *fault.Fault {
	if err == nil {
		return nil
	}
	f := &fault.Fault{Class: fault.InvalidArguments, Message: "the arguments do not read"}
	var e *canon.Error
	if errors.As(err, &e) {
		f.Path, f.Message = e.Path, e.Message
	}
	return f
}

// programRequest is what execute is asked for.
type programRequest struct {
	source  string
	check   bool
	options []runtime.ExecuteOption
}

// readProgram reads the arguments of execute. The lengths of source and data,
// and the depth of data, are the runtime's to judge, which names the limit.
func readProgram(raw json.RawMessage) (request programRequest, f *fault.Fault) {
	const hint = "the arguments are source, a program, and optionally data, an object, check, a boolean, timeout_ms, an integer, and idempotency_key, a string"
	f = readArguments(hint, raw, maxDataDepth,
		func(r *canon.Reader, seen *canon.Seen) bool {
			switch string(r.Key()) {
			case "source":
				seen.Mark(r, 0)
				request.source = r.String(0, math.MaxInt)
			case "idempotency_key":
				seen.Mark(r, 1)
				request.options = append(request.options, runtime.WithIdempotencyKey(r.String(1, runtime.MaxIdempotencyKeyBytes)))
			case "data":
				seen.Mark(r, 2)
				request.options = append(request.options, runtime.WithData(readData(r, raw)))
			case "check":
				seen.Mark(r, 3)
				request.check = r.Bool()
			case "timeout_ms":
				seen.Mark(r, 4)
				request.options = append(request.options, runtime.WithTimeout(time.Duration(r.Int(1, math.MaxInt32))*time.Millisecond))
			default:
				return false
			}
			return true
		},
		func(r *canon.Reader, seen *canon.Seen) { r.Require(seen, 0, "source") })
	return request, f
}

// readData is the text of the object that r stands before in raw.
func readData(r *canon.Reader, raw json.RawMessage) []byte {
	from := r.Offset()
	if r.Peek() != canon.KindObject {
		r.BeginObject() // says what is there instead
		return nil
	}
	r.Skip()
	if r.Err() != nil {
		return nil
	}
	return raw[from:r.Offset()]
}

// readSearch reads the arguments of search_api. Bounds that a host may set are
// the runtime's to judge.
func readSearch(raw json.RawMessage) (request runtime.SearchRequest, f *fault.Fault) {
	f = readArguments("give query, a string, and if you like namespace, a string, and limit, an integer", raw, maxArgumentDepth,
		func(r *canon.Reader, seen *canon.Seen) bool {
			switch string(r.Key()) {
			case "query":
				seen.Mark(r, 0)
				request.Query = r.String(0, math.MaxInt)
			case "namespace":
				seen.Mark(r, 1)
				request.Namespace = r.String(0, runtime.MaxNameBytes)
			case "limit":
				seen.Mark(r, 2)
				request.Limit = int(r.Int(1, math.MaxInt32))
			default:
				return false
			}
			return true
		},
		func(r *canon.Reader, seen *canon.Seen) { r.Require(seen, 0, "query") })
	return request, f
}

// readNames reads the arguments of describe_api: exactly one of name and
// names. A name that stands twice is described once.
func readNames(raw json.RawMessage) (names []string, f *fault.Fault) {
	var one, many bool
	const hint = "give name, a string, or names, a list of strings"
	f = readArguments(hint, raw, maxArgumentDepth,
		func(r *canon.Reader, seen *canon.Seen) bool {
			switch string(r.Key()) {
			case "name":
				seen.Mark(r, 0)
				one = true
				names = append(names, r.String(1, runtime.MaxNameBytes))
			case "names":
				seen.Mark(r, 1)
				many = true
				r.BeginArray(1, runtime.MaxDescribeNames)
				for r.NextElement() {
					if name := r.String(1, runtime.MaxNameBytes); !slices.Contains(names, name) {
						names = append(names, name)
					}
				}
			default:
				return false
			}
			return true
		},
		func(*canon.Reader, *canon.Seen) {})
	if f == nil && one == many {
		f = &fault.Fault{Class: fault.InvalidArguments, Message: "expected exactly one of name and names", Hint: hint}
	}
	return names, f
}
