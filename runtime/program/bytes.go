package program

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/program/text"
)

// bytes are what capabilities give and take as base64. Programs have of them
// what it takes to look at and to build them: len, ==, slices, +, *, in, a loop
// over ints, and the methods here.

// bytesMethod is a method of bytes; nil if bytes has none of that name.
func bytesMethod(name string) method {
	switch name {
	case "decode":
		return decodeMethod
	case "hex":
		return plainMethod(name, 0, 0, func(e *engine, x starlark.Value, _ starlark.Tuple) (starlark.Value, error) {
			b := x.(starlark.Bytes)
			if err := e.roomBytes(2 * len(b)); err != nil {
				return nil, err
			}
			return starlark.String(hex.EncodeToString([]byte(b))), nil
		})
	}
	return nil
}

// codec refuses an encoding other than the two there are.
func codec(args starlark.Tuple, kwargs []starlark.Tuple, name string) (ascii bool, err error) {
	var encoding, errors starlark.Value = starlark.String("utf-8"), starlark.String("strict")
	if err := unpackArguments(name, args, kwargs, "encoding?", &encoding, "errors?", &errors); err != nil {
		return false, err
	}
	codec, ok := starlark.AsString(encoding)
	if !ok {
		return false, raise("TypeError", "%s() argument 'encoding' must be str, not %s", name, typeName(encoding))
	}
	if mode, _ := starlark.AsString(errors); mode != "strict" {
		return false, raise("ValueError", "%s() takes errors='strict' only", name)
	}
	switch strings.ReplaceAll(strings.ToLower(excerpt(codec)), "_", "-") {
	case "utf-8", "utf8":
		return false, nil
	case "ascii", "us-ascii":
		return true, nil
	}
	return false, &raised{class: "LookupError", message: "unknown encoding: " + excerpt(codec), hint: "there are utf-8 and ascii"}
}

// decodeMethod is b.decode(encoding).
func decodeMethod(e *engine, _ *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	b := string(receiver.(starlark.Bytes))
	ascii, err := codec(args, kwargs, "decode")
	if err != nil {
		return nil, err
	}
	if err := e.roomBytes(len(b)); err != nil {
		return nil, err
	}
	for i, r := range b {
		if ascii && r >= utf8.RuneSelf {
			return nil, raise("UnicodeDecodeError", "'ascii' codec can't decode byte 0x%02x in position %d: ordinal not in range(128)", b[i], i)
		}
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(b[i:]); size == 1 {
				return nil, raise("UnicodeDecodeError", "'utf-8' codec can't decode byte 0x%02x in position %d: %s", b[i], i, badByte(b[i:]))
			}
		}
	}
	return starlark.String(b), nil
}

// badByte says what is wrong with the first byte of b, in CPython's words.
func badByte(b string) string {
	switch c := b[0]; {
	case c < 0xc2 || c > 0xf4:
		return "invalid start byte"
	case !utf8.FullRuneInString(b):
		return "unexpected end of data"
	}
	return "invalid continuation byte"
}

// encodeMethod is s.encode(encoding).
func encodeMethod(e *engine, _ *starlark.Thread, receiver starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	s := string(receiver.(starlark.String))
	ascii, err := codec(args, kwargs, "encode")
	if err != nil {
		return nil, err
	}
	if err := e.roomBytes(len(s)); err != nil {
		return nil, err
	}
	if ascii {
		at, first, run := 0, "", 0
		for _, r := range s {
			if r >= utf8.RuneSelf {
				if run++; first == "" {
					first = text.Repr(string(r), true)
				}
			} else if run > 0 {
				break
			}
			at++
		}
		if run == 1 {
			return nil, raise("UnicodeEncodeError", "'ascii' codec can't encode character %s in position %d: ordinal not in range(128)", first, at-1)
		}
		if run > 1 {
			return nil, raise("UnicodeEncodeError", "'ascii' codec can't encode characters in position %d-%d: ordinal not in range(128)", at-run, at-1)
		}
	}
	return starlark.Bytes(s), nil
}

// newBytes is bytes(x): of an int, so many zeros; of ints, each a byte.
func (e *engine) newBytes(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var source, encoding, errors starlark.Value
	if err := unpackArguments("bytes", args, kwargs, "source?", &source, "encoding?", &encoding, "errors?", &errors); err != nil {
		return nil, err
	}
	if source == nil && encoding == nil && errors == nil {
		return starlark.Bytes(""), nil
	}
	if encoding != nil {
		if _, ok := encoding.(starlark.String); !ok {
			return nil, raise("TypeError", "bytes() argument 'encoding' must be str, not %s", typeName(encoding))
		}
	}
	s, isText := source.(starlark.String)
	switch {
	case isText && encoding == nil:
		return nil, raise("TypeError", "string argument without an encoding")
	case isText && errors != nil:
		return encodeMethod(e, nil, s, starlark.Tuple{encoding, errors}, nil)
	case isText:
		return encodeMethod(e, nil, s, starlark.Tuple{encoding}, nil)
	case encoding != nil:
		return nil, raise("TypeError", "encoding without a string argument")
	case errors != nil:
		return nil, raise("TypeError", "errors without a string argument")
	}
	args = starlark.Tuple{source}
	switch v := number(source).(type) {
	case starlark.Bytes:
		return v, nil
	case starlark.Int:
		n, err := intArgument(v)
		if err != nil {
			return nil, err
		}
		if n < 0 {
			return nil, raise("ValueError", "negative count")
		}
		if err := e.roomBytes(n); err != nil {
			return nil, err
		}
		return starlark.Bytes(make([]byte, n)), nil
	}
	if _, err := e.iter(args[0]); err != nil {
		return nil, raise("TypeError", "cannot convert '%s' object to bytes", className(args[0]))
	}
	var out []byte
	err := e.each(args[0], func(item starlark.Value) error {
		i, ok := number(item).(starlark.Int)
		if !ok {
			return raise("TypeError", "'%s' object cannot be interpreted as an integer", className(item))
		}
		n, small := i.Int64()
		if !small || n < 0 || n > 255 {
			return raise("ValueError", "bytes must be in range(0, 256)")
		}
		out = append(out, byte(n))
		if len(out) > maxStringBytes {
			return e.roomBytes(len(out))
		}
		return nil
	})
	return starlark.Bytes(out), err
}

// inBytes is x in b: a byte, or bytes side by side.
func (e *engine) inBytes(x starlark.Value, b starlark.Bytes) (bool, error) {
	if err := e.chargeBytes(len(b)); err != nil {
		return false, err
	}
	switch x := number(x).(type) {
	case starlark.Bytes:
		return strings.Contains(string(b), string(x)), nil
	case starlark.Int:
		n, small := x.Int64()
		if !small || n < 0 || n > 255 {
			return false, raise("ValueError", "byte must be in range(0, 256)")
		}
		return strings.IndexByte(string(b), byte(n)) >= 0, nil
	}
	return false, raise("TypeError", "a bytes-like object is required, not '%s'", className(x))
}

// quotedBytes writes b as CPython's repr does.
func (w *textWriter) quotedBytes(b starlark.Bytes) error {
	quote := byte('\'')
	if strings.Contains(string(b), "'") && !strings.Contains(string(b), "\"") {
		quote = '"'
	}
	const digits = "0123456789abcdef"
	if err := w.text("b" + string(quote)); err != nil {
		return err
	}
	for i := range len(b) {
		part := ""
		switch c := b[i]; {
		case c == quote || c == '\\':
			part = "\\" + string(rune(c))
		case c == '\t':
			part = `\t`
		case c == '\n':
			part = `\n`
		case c == '\r':
			part = `\r`
		case c < ' ' || c >= 0x7f:
			part = `\x` + digits[c>>4:c>>4+1] + digits[c&15:c&15+1]
		default:
			part = string(rune(c))
		}
		if err := w.text(part); err != nil {
			return err
		}
	}
	if err := w.engine.chargeBytes(len(b)); err != nil {
		return err
	}
	return w.text(string(quote))
}
