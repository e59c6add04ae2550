package program

import (
	"math"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/program/format"
)

// maxJSONDepth bounds arrays and objects inside each other, both ways.
const maxJSONDepth = 64

// jsonMember is what the module json has: CPython's dumps and loads, and
// Starlark's encode, decode, indent and encode_indent.
func (e *engine) jsonMember(name string) starlark.Value {
	switch name {
	case "dumps":
		return e.native(name, e.jsonDumps)
	case "loads":
		return e.native(name, e.jsonLoads)
	case "encode":
		return e.native(name, e.jsonEncode)
	case "encode_indent":
		return e.native(name, e.jsonEncodeIndent)
	case "decode":
		return e.native(name, e.jsonDecode)
	case "indent":
		return e.native(name, e.jsonIndent)
	case "JSONDecodeError":
		return e.class(name)
	}
	return nil
}

// jsonStyle is how a value is written.
type jsonStyle struct {
	item, key string // separators
	// indent is what a level is indented by; newlines tells whether there are
	// lines at all.
	indent   string
	newlines bool
	ascii    bool
	sorted   bool
	fallback starlark.Value // default=, or nil
}

// jsonDumps is json.dumps.
func (e *engine) jsonDumps(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) > 1 {
		return nil, raise("TypeError", "dumps() takes 1 positional argument but %d were given", len(args))
	}
	var v starlark.Value
	var none starlark.Value = starlark.None
	skipKeys, ascii, circular, nan := none, starlark.Value(starlark.True), none, none
	cls, indent, separators, fallback, sorted := none, none, none, none, none
	if err := unpackArguments("dumps", args, kwargs, "obj", &v, "skipkeys?", &skipKeys, "ensure_ascii?", &ascii, "check_circular?", &circular,
		"allow_nan?", &nan, "cls?", &cls, "indent?", &indent, "separators?", &separators, "default?", &fallback, "sort_keys?", &sorted); err != nil {
		if v == nil {
			return nil, raise("TypeError", "dumps() missing 1 required positional argument: 'obj'")
		}
		if name, ok := strings.CutSuffix(err.(*raised).message, " is an invalid keyword argument for dumps()"); ok {
			return nil, raise("TypeError", "JSONEncoder.__init__() got an unexpected keyword argument %s", name)
		}
		return nil, err
	}
	style := jsonStyle{item: ", ", key: ": ", ascii: bool(ascii.Truth()), sorted: bool(sorted.Truth())}
	if fallback != starlark.None {
		style.fallback = fallback
	}
	switch x := number(indent).(type) {
	case starlark.String:
		style.newlines, style.indent = true, string(x)
	case starlark.Int:
		n, err := intArgument(x)
		if err != nil {
			return nil, err
		}
		if err := e.roomBytes(max(n, 0)); err != nil {
			return nil, err
		}
		style.newlines, style.indent = true, strings.Repeat(" ", max(n, 0))
	}
	if style.newlines {
		style.item = ","
	}
	if separators != starlark.None {
		pair, err := e.collect(separators)
		if err != nil || len(pair) != 2 {
			return nil, raise("ValueError", "separators must be a pair of strings")
		}
		var ok, too bool
		style.item, ok = starlark.AsString(pair[0])
		style.key, too = starlark.AsString(pair[1])
		if !ok || !too {
			return nil, raise("TypeError", "separators must be a pair of strings")
		}
	}
	return e.toJSON(thread, v, style)
}

// jsonEncode is Starlark's json.encode(x): keys sorted, no white space.
func (e *engine) jsonEncode(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value
	if err := unpackArguments(b.Name(), args, kwargs, "x", &v); err != nil {
		return nil, err
	}
	return e.toJSON(thread, v, jsonStyle{item: ",", key: ":", sorted: true})
}

// jsonEncodeIndent is Starlark's json.encode_indent(x, prefix, indent).
func (e *engine) jsonEncodeIndent(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	text, err := e.jsonEncode(thread, b, args, nil)
	if err != nil {
		return nil, err
	}
	return e.jsonIndent(thread, b, starlark.Tuple{text}, kwargs)
}

func (e *engine) toJSON(thread *starlark.Thread, v starlark.Value, style jsonStyle) (starlark.Value, error) {
	w := jsonWriter{engine: e, thread: thread, style: style}
	if err := w.value(v, 0); err != nil {
		return nil, err
	}
	return starlark.String(w.out), e.chargeBytes(len(w.out))
}

// jsonWriter writes values as JSON. A value that several others share counts
// each time it is written.
type jsonWriter struct {
	engine *engine
	thread *starlark.Thread
	style  jsonStyle
	out    []byte
}

func (w *jsonWriter) value(v starlark.Value, depth int) error {
	if err := w.engine.charge(1); err != nil {
		return err
	}
	switch v := v.(type) {
	case starlark.NoneType, starlark.Bool, starlark.Int, starlark.Float:
		s, err := jsonScalar(v)
		if err != nil {
			return err
		}
		return w.raw(s)
	case starlark.String:
		return w.string(string(v))
	case *starlark.Dict, *record:
		return w.object(v.(starlark.IterableMapping), depth+1)
	case *starlark.List:
		return w.array(v, depth+1)
	case starlark.Tuple:
		return w.array(v, depth+1)
	}
	if w.style.fallback != nil {
		if depth++; depth > maxJSONDepth {
			return raise("ValueError", "Circular reference detected")
		}
		plain, err := starlark.Call(w.thread, w.style.fallback, starlark.Tuple{v}, nil)
		if err != nil {
			return err
		}
		return w.value(plain, depth)
	}
	return raise("TypeError", "Object of type %s is not JSON serializable", className(v))
}

// jsonScalar is a value that is no text and no container.
func jsonScalar(v starlark.Value) (string, error) {
	switch v := v.(type) {
	case starlark.Bool:
		if v {
			return "true", nil
		}
		return "false", nil
	case starlark.Int:
		return digits(v)
	case starlark.Float:
		switch f := float64(v); {
		case math.IsNaN(f):
			return "NaN", nil
		case math.IsInf(f, 1):
			return "Infinity", nil
		case math.IsInf(f, -1):
			return "-Infinity", nil
		default:
			return format.Repr(f), nil
		}
	}
	return "null", nil
}

func (w *jsonWriter) raw(text string) error {
	if len(w.out)+len(text) > maxStringBytes {
		return w.engine.tooLarge("a text of that many bytes")
	}
	w.out = append(w.out, text...)
	return nil
}

// string writes s in quotes, with CPython's escapes.
func (w *jsonWriter) string(s string) error {
	// Six bytes for a byte are the most.
	if len(w.out)+len(s) > maxStringBytes {
		return w.engine.tooLarge("a text of that many bytes")
	}
	w.out = append(w.out, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.out = append(w.out, '\\', byte(r))
		case r == '\n':
			w.out = append(w.out, `\n`...)
		case r == '\r':
			w.out = append(w.out, `\r`...)
		case r == '\t':
			w.out = append(w.out, `\t`...)
		case r == '\b':
			w.out = append(w.out, `\b`...)
		case r == '\f':
			w.out = append(w.out, `\f`...)
		case r < ' ' || w.style.ascii && r >= 0x7f && r < 0x10000:
			w.unicode(r)
		case w.style.ascii && r >= 0x10000:
			high, low := utf16.EncodeRune(r)
			w.unicode(high)
			w.unicode(low)
		default:
			w.out = utf8.AppendRune(w.out, r)
		}
	}
	w.out = append(w.out, '"')
	return w.raw("")
}

func (w *jsonWriter) unicode(r rune) {
	const hex = "0123456789abcdef"
	w.out = append(w.out, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

func jsonTooDeep() error {
	return raise("ValueError", "the value is nested more than %d deep, or holds itself", maxJSONDepth)
}

// line begins an element: the separator of the one before, and a line of its
// own if there are lines.
func (w *jsonWriter) line(first bool, depth int) error {
	if !first {
		if err := w.raw(w.style.item); err != nil {
			return err
		}
	}
	if !w.style.newlines {
		return nil
	}
	return w.newline(depth)
}

func (w *jsonWriter) newline(depth int) error {
	if err := w.raw("\n"); err != nil {
		return err
	}
	for range depth {
		if err := w.raw(w.style.indent); err != nil {
			return err
		}
	}
	return nil
}

func (w *jsonWriter) container(open, close string, n, depth int, each func(i int) error) error {
	if depth > maxJSONDepth {
		return jsonTooDeep()
	}
	if n == 0 {
		return w.raw(open + close)
	}
	if err := w.raw(open); err != nil {
		return err
	}
	for i := range n {
		if err := w.line(i == 0, depth); err != nil {
			return err
		}
		if err := each(i); err != nil {
			return err
		}
	}
	if w.style.newlines {
		if err := w.newline(depth - 1); err != nil {
			return err
		}
	}
	return w.raw(close)
}

func (w *jsonWriter) array(v starlark.Indexable, depth int) error {
	return w.container("[", "]", v.Len(), depth, func(i int) error {
		if i >= v.Len() {
			return raise("RuntimeError", "list changed size during iteration")
		}
		return w.value(v.Index(i), depth)
	})
}

func (w *jsonWriter) object(v starlark.IterableMapping, depth int) error {
	items := v.Items()
	if err := w.engine.charge(len(items)); err != nil {
		return err
	}
	if w.style.sorted {
		var failed error
		slices.SortStableFunc(items, func(a, b starlark.Tuple) int {
			less, err := w.engine.operator("$<")(a[0], b[0])
			if failed == nil {
				failed = err
			}
			if err == nil && bool(less.Truth()) {
				return -1
			}
			more, err := w.engine.operator("$<")(b[0], a[0])
			if err == nil && bool(more.Truth()) {
				return 1
			}
			return 0
		})
		if failed != nil {
			return failed
		}
	}
	return w.container("{", "}", len(items), depth, func(i int) error {
		name, err := jsonKey(items[i][0])
		if err != nil {
			return err
		}
		if err := w.string(name); err != nil {
			return err
		}
		if err := w.raw(w.style.key); err != nil {
			return err
		}
		return w.value(items[i][1], depth)
	})
}

// jsonKey is the text of a key.
func jsonKey(v starlark.Value) (string, error) {
	switch v := v.(type) {
	case starlark.String:
		return string(v), nil
	case starlark.NoneType, starlark.Bool, starlark.Int, starlark.Float:
		return jsonScalar(v)
	}
	return "", raise("TypeError", "keys must be str, int, float, bool or None, not %s", className(v))
}
