package program

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// jsonLoads is json.loads(s): what CPython reads, NaN and Infinity included.
func (e *engine) jsonLoads(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value
	switch {
	case len(args) > 1:
		return nil, raise("TypeError", "loads() takes 1 positional argument but %d were given", len(args))
	case len(args) == 1:
		v = args[0]
	}
	for _, pair := range kwargs {
		name, _ := starlark.AsString(pair[0])
		switch {
		case name == "s" && v != nil:
			return nil, raise("TypeError", "loads() got multiple values for argument 's'")
		case name == "s":
			v = pair[1]
		case name == "cls", name == "object_hook", name == "parse_float", name == "parse_int", name == "parse_constant", name == "object_pairs_hook", name == "strict":
			return nil, &raised{class: "TypeError", message: "loads() takes no " + name + " here", hint: "change what it returns"}
		default:
			return nil, raise("TypeError", "JSONDecoder.__init__() got an unexpected keyword argument '%s'", excerpt(name))
		}
	}
	if v == nil {
		return nil, raise("TypeError", "loads() missing 1 required positional argument: 's'")
	}
	s, ok := starlark.AsString(v)
	if b, isBytes := v.(starlark.Bytes); isBytes && utf8.ValidString(string(b)) {
		s, ok = string(b), true
	}
	if !ok {
		err := &raised{class: "TypeError", message: "the JSON object must be str, bytes or bytearray, not " + className(v)}
		if _, isRecord := v.(*record); isRecord {
			err.hint = "the result of a capability is no text: use it as it is, r.field or r[\"field\"]"
		}
		return nil, err
	}
	return e.fromJSON(s)
}

// jsonDecode is Starlark's json.decode(x, default).
func (e *engine) jsonDecode(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v, fallback starlark.Value
	if err := unpackArguments(b.Name(), args, kwargs, "x", &v, "default?", &fallback); err != nil {
		return nil, err
	}
	s, err := textArgument(b.Name(), v)
	if err != nil {
		return nil, err
	}
	out, err := e.fromJSON(s)
	if r, ok := err.(*raised); ok && r.class == "JSONDecodeError" && fallback != nil {
		return fallback, nil
	}
	return out, err
}

func (e *engine) fromJSON(s string) (starlark.Value, error) {
	if err := e.roomBytes(len(s)); err != nil {
		return nil, err
	}
	if strings.HasPrefix(s, "\ufeff") {
		return nil, jsonError(s, 0, "Unexpected UTF-8 BOM (decode using utf-8-sig)")
	}
	r := jsonReader{engine: e, s: s}
	r.space()
	v, err := r.value(0)
	if err != nil {
		return nil, err
	}
	r.space()
	if r.at < len(s) {
		return nil, jsonError(s, r.at, "Extra data")
	}
	return v, nil
}

// jsonError is CPython's JSONDecodeError at a byte of s.
func jsonError(s string, at int, message string) error {
	at = min(at, len(s))
	before := s[:at]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return raise("JSONDecodeError", "%s: line %d column %d (char %d)", message, line, column, utf8.RuneCountInString(before))
}

type jsonReader struct {
	engine *engine
	s      string
	at     int
}

func (r *jsonReader) fail(at int, message string) error { return jsonError(r.s, at, message) }

func (r *jsonReader) space() {
	for r.at < len(r.s) && strings.IndexByte(" \t\n\r", r.s[r.at]) >= 0 {
		r.at++
	}
}

func (r *jsonReader) peek() byte {
	if r.at < len(r.s) {
		return r.s[r.at]
	}
	return 0
}

func (r *jsonReader) value(depth int) (starlark.Value, error) {
	if err := r.engine.charge(1); err != nil {
		return nil, err
	}
	if depth > maxJSONDepth {
		return nil, raise("RecursionError", "JSON nested more than %d deep", maxJSONDepth)
	}
	switch c := r.peek(); {
	case c == '"':
		s, err := r.string()
		return starlark.String(s), err
	case c == '{':
		return r.object(depth + 1)
	case c == '[':
		return r.array(depth + 1)
	case c == '-' || c >= '0' && c <= '9':
		if strings.HasPrefix(r.s[r.at:], "-Infinity") {
			break
		}
		return r.number()
	}
	for word, v := range jsonWords() {
		if strings.HasPrefix(r.s[r.at:], word) {
			r.at += len(word)
			return v, nil
		}
	}
	return nil, r.fail(r.at, "Expecting value")
}

func jsonWords() map[string]starlark.Value {
	return map[string]starlark.Value{
		"null": starlark.None, "true": starlark.True, "false": starlark.False, "NaN": starlark.Float(math.NaN()),
		"Infinity": starlark.Float(math.Inf(1)), "-Infinity": starlark.Float(math.Inf(-1)),
	}
}

func (r *jsonReader) array(depth int) (starlark.Value, error) {
	var items []starlark.Value
	r.at++
	r.space()
	if r.peek() == ']' {
		r.at++
		return starlark.NewList(nil), nil
	}
	for {
		v, err := r.value(depth)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
		if err := r.engine.roomItems(len(items)); err != nil {
			return nil, err
		}
		r.space()
		switch r.peek() {
		case ',':
			r.at++
			r.space()
		case ']':
			r.at++
			return starlark.NewList(items), nil
		default:
			return nil, r.fail(r.at, "Expecting ',' delimiter")
		}
	}
}

func (r *jsonReader) object(depth int) (starlark.Value, error) {
	d := new(starlark.Dict)
	r.at++
	r.space()
	if r.peek() == '}' {
		r.at++
		return d, nil
	}
	for {
		if r.peek() != '"' {
			return nil, r.fail(r.at, "Expecting property name enclosed in double quotes")
		}
		name, err := r.string()
		if err != nil {
			return nil, err
		}
		r.space()
		if r.peek() != ':' {
			return nil, r.fail(r.at, "Expecting ':' delimiter")
		}
		r.at++
		r.space()
		v, err := r.value(depth)
		if err != nil {
			return nil, err
		}
		if err := r.engine.setKey(d, starlark.String(name), v); err != nil {
			return nil, err
		}
		r.space()
		switch r.peek() {
		case ',':
			r.at++
			r.space()
		case '}':
			r.at++
			return d, r.engine.roomKeys(d.Len())
		default:
			return nil, r.fail(r.at, "Expecting ',' delimiter")
		}
	}
}

func (r *jsonReader) number() (starlark.Value, error) {
	start := r.at
	digits := func() int {
		n := 0
		for r.peek() >= '0' && r.peek() <= '9' {
			r.at++
			n++
		}
		return n
	}
	if r.peek() == '-' {
		r.at++
	}
	if r.peek() == '0' {
		r.at++
	} else if digits() == 0 {
		return nil, r.fail(start, "Expecting value")
	}
	whole := r.at
	isFloat := false
	if r.peek() == '.' {
		r.at++
		if digits() == 0 {
			r.at = whole
		} else {
			isFloat = true
		}
	}
	if before := r.at; r.peek()|0x20 == 'e' {
		r.at++
		if c := r.peek(); c == '+' || c == '-' {
			r.at++
		}
		if digits() == 0 {
			r.at = before
		} else {
			isFloat = true
		}
	}
	text := r.s[start:r.at]
	if isFloat {
		f, _ := strconv.ParseFloat(text, 64) // beyond its range, an infinity
		return starlark.Float(f), nil
	}
	return parseDecimal(text)
}

// string reads a quoted text; r stands at the quote.
func (r *jsonReader) string() (string, error) {
	start := r.at
	r.at++
	var b strings.Builder
	for {
		if r.at >= len(r.s) {
			return "", r.fail(start, "Unterminated string starting at")
		}
		switch c := r.s[r.at]; {
		case c == '"':
			r.at++
			return b.String(), nil
		case c < ' ':
			return "", r.fail(r.at, "Invalid control character at")
		case c != '\\':
			end := r.at + strings.IndexFunc(r.s[r.at:], func(x rune) bool { return x == '"' || x == '\\' || x < ' ' })
			if end < r.at {
				end = len(r.s)
			}
			b.WriteString(r.s[r.at:end])
			r.at = end
		default:
			if err := r.escape(&b, start); err != nil {
				return "", err
			}
		}
	}
}

func (r *jsonReader) escape(b *strings.Builder, start int) error {
	if r.at+1 >= len(r.s) {
		return r.fail(start, "Unterminated string starting at")
	}
	c := r.s[r.at+1]
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		b.WriteByte("\"\\/\b\f\n\r\t"[i])
		r.at += 2
		return nil
	}
	if c != 'u' {
		return r.fail(r.at, "Invalid \\escape")
	}
	unit := func(at int) (rune, bool) {
		if at+4 > len(r.s) || strings.ContainsAny(r.s[at:at+4], "+-_") {
			return 0, false
		}
		n, err := strconv.ParseUint(r.s[at:at+4], 16, 32)
		return rune(n), err == nil
	}
	at := r.at + 2
	x, ok := unit(at)
	if !ok {
		return r.fail(at, "Invalid \\uXXXX escape")
	}
	r.at = at + 4
	if utf16.IsSurrogate(x) {
		if strings.HasPrefix(r.s[r.at:], `\u`) {
			if y, ok := unit(r.at + 2); ok {
				if both := utf16.DecodeRune(x, y); both != utf8.RuneError {
					r.at += 6
					b.WriteRune(both)
					return nil
				}
			}
		}
		return r.fail(at-2, fmt.Sprintf("U+%04X is no character", x))
	}
	b.WriteRune(x)
	return nil
}

// jsonIndent is Starlark's json.indent(text, prefix = "", indent = "\t").
func (e *engine) jsonIndent(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v, prefix, indent starlark.Value = nil, starlark.String(""), starlark.String("\t")
	if err := unpackArguments(b.Name(), args, kwargs, "s", &v, "prefix?", &prefix, "indent?", &indent); err != nil {
		return nil, err
	}
	var texts [3]string
	for i, x := range []starlark.Value{v, prefix, indent} {
		var err error
		if texts[i], err = textArgument(b.Name(), x); err != nil {
			return nil, err
		}
	}
	if _, err := e.fromJSON(texts[0]); err != nil {
		return nil, err
	}
	out, err := e.indented([]byte(texts[0]), texts[1], texts[2])
	return starlark.String(out), err
}

// indented lays out valid JSON, one member or element a line. Empty arrays and
// objects stay on theirs.
func (e *engine) indented(text []byte, prefix, indent string) ([]byte, error) {
	var out []byte
	depth, quoted, fresh := 0, false, false
	line := func() error {
		if len(out)+1+len(prefix)+depth*len(indent) > maxStringBytes {
			return e.tooLarge("a text of that many bytes")
		}
		out = append(append(out, '\n'), prefix...)
		for range depth {
			out = append(out, indent...)
		}
		return nil
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if quoted {
			out = append(out, c)
			switch c {
			case '\\':
				i++
				out = append(out, text[i])
			case '"':
				quoted = false
			}
			continue
		}
		closing := c == ']' || c == '}'
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			continue
		case fresh && !closing:
			if err := line(); err != nil {
				return nil, err
			}
		}
		if closing {
			depth--
			if !fresh {
				if err := line(); err != nil {
					return nil, err
				}
			}
		}
		fresh = false
		out = append(out, c)
		switch c {
		case '"':
			quoted = true
		case '[', '{':
			depth++
			fresh = true
		case ',':
			if err := line(); err != nil {
				return nil, err
			}
		case ':':
			out = append(out, ' ')
		}
	}
	return out, e.roomBytes(len(out))
}
