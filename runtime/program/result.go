package program

import (
	"fmt"
	"math"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
)

// encodeResult writes what main returned, straight to wire bytes, and stops
// where that is no data, or too large, or too deep (a cycle is too deep).
func encodeResult(v starlark.Value, limits Limits) (wire []byte, wide bool, f *fault.Fault) {
	e := &resultEncoder{w: canon.NewWireWriter(nil), limits: limits}
	if r := e.value(v, 0); r != nil {
		path := r.within("result").path
		f := &fault.Fault{Class: fault.InvalidProgram, Path: path, Message: fmt.Sprintf("main returned %s at %s", r.message, path), Hint: r.hint}
		if r.limit != "" {
			f.Reached(r.limit, r.bound)
		}
		return nil, false, f
	}
	return e.w.Bytes(), e.wide, nil
}

type resultEncoder struct {
	w      *canon.Writer
	limits Limits
	wide   bool
}

func (e *resultEncoder) value(v starlark.Value, depth int) *refusal {
	switch v := v.(type) {
	case starlark.NoneType:
		e.w.Null()
	case starlark.Bool:
		e.w.Bool(bool(v))
	case starlark.Int:
		return e.integer(v)
	case starlark.Float:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return &refusal{message: "the float " + v.String(), hint: "JSON has only finite numbers: return None or a string instead"}
		}
		e.w.Float(float64(v))
	case starlark.String:
		return e.string(string(v))
	case starlark.Bytes:
		return e.bytes(string(v))
	case *starlark.List:
		return e.array(v, depth+1)
	case starlark.Tuple:
		return e.array(v, depth+1)
	case *starlark.Dict:
		return e.mapping(v, v.Len(), depth+1)
	case *record:
		return e.mapping(v, v.Len(), depth+1)
	default:
		return notData(v)
	}
	return e.check()
}

// notData refuses a value that only a program can hold.
func notData(v starlark.Value) *refusal {
	switch v := v.(type) {
	case *starlark.Function, *starlark.Builtin:
		return &refusal{message: "a function", hint: "return data instead: call the function and return its value"}
	case *starlark.Set, *frozenSet:
		return &refusal{message: "a " + typeName(v), hint: "return a list instead: sorted(…) or list(…)"}
	case *namespace:
		return &refusal{message: "the namespace " + v.name, hint: "return data instead: call one of its capabilities"}
	case starlark.Iterable:
		return &refusal{message: "a " + typeName(v), hint: "return a list instead: list(…)"}
	}
	return &refusal{message: "a " + typeName(v), hint: "return data instead: None, bool, int, float, str, list or dict"}
}

func (e *resultEncoder) integer(v starlark.Int) *refusal {
	if n, ok := v.Int64(); ok {
		e.w.Int(n, math.MinInt64, math.MaxInt64)
		return e.check()
	}
	text, err := digits(v)
	if err != nil {
		return &refusal{message: fmt.Sprintf("an integer of more than %d digits", maxDigits), hint: "return fewer digits, or a float"}
	}
	e.wide = true
	return e.string(text)
}

func (e *resultEncoder) string(s string) *refusal {
	if r := e.room(len(s)); r != nil {
		return r
	}
	if !utf8.ValidString(s) {
		return &refusal{message: "a string that is not valid UTF-8", hint: "Starlark strings are bytes: a slice can cut a character in half"}
	}
	e.w.String(s, 0, math.MaxInt)
	return e.check()
}

// bytes are written as JSON has them everywhere: base64 text.
func (e *resultEncoder) bytes(s string) *refusal {
	if r := e.room(len(s)); r != nil {
		return r
	}
	e.w.Base64([]byte(s), 0, math.MaxInt)
	return e.check()
}

func (e *resultEncoder) array(v starlark.Indexable, depth int) *refusal {
	if r := e.container(v.Len(), depth); r != nil {
		return r
	}
	e.w.BeginArray(v.Len(), 0, math.MaxInt)
	for i := range v.Len() {
		e.w.Element(i)
		if r := e.value(v.Index(i), depth); r != nil {
			return r.within(fmt.Sprintf("[%d]", i))
		}
	}
	e.w.EndArray()
	return e.check()
}

func (e *resultEncoder) mapping(v starlark.IterableMapping, n, depth int) *refusal {
	if r := e.container(n, depth); r != nil {
		return r
	}
	e.w.BeginObject(n)
	var written map[string]bool // the names so far, once there is one of no str
	for key, item := range starlark.Entries(v) {
		name, err := jsonKey(key)
		if err != nil {
			return &refusal{message: "a dict with a key of type " + typeName(key), hint: "convert the keys: {str(k): v for k, v in d.items()}"}
		}
		if _, isText := key.(starlark.String); !isText && written == nil {
			written = make(map[string]bool, n)
			for key := range starlark.Elements(v) {
				if s, ok := key.(starlark.String); ok {
					written[string(s)] = true
				}
			}
		}
		if _, isText := key.(starlark.String); !isText {
			if written[name] {
				return &refusal{message: fmt.Sprintf("a dict with two keys that JSON writes as %q", excerpt(name)), hint: "convert the keys: {str(k): v for k, v in d.items()}"}
			}
			written[name] = true
		}
		if r := e.room(len(name)); r != nil {
			return r
		}
		if !utf8.ValidString(name) {
			return &refusal{message: "a dict with a key that is not valid UTF-8", hint: "Starlark strings are bytes: a slice can cut a character in half"}
		}
		e.w.Key(name)
		if r := e.value(item, depth); r != nil {
			return r.within(segment(name))
		}
	}
	e.w.EndObject()
	return e.check()
}

// container refuses by depth and by the least bytes that n members take.
func (e *resultEncoder) container(n, depth int) *refusal {
	if depth > e.limits.Depth {
		return &refusal{message: "a value nested too deeply", hint: "a value that holds itself is nested without end", limit: fault.MaxValueDepth, bound: int64(e.limits.Depth)}
	}
	return e.room(n)
}

func (e *resultEncoder) check() *refusal {
	if e.w.Err() != nil {
		return &refusal{message: "a value that cannot be encoded"}
	}
	return e.room(0)
}

func (e *resultEncoder) room(n int) *refusal {
	if n > e.limits.ValueBytes || len(e.w.Bytes())+n > e.limits.ValueBytes {
		return &refusal{message: "a value that is too large", hint: "return less: a summary, a count, a page", limit: fault.MaxValueBytes, bound: int64(e.limits.ValueBytes)}
	}
	return nil
}
