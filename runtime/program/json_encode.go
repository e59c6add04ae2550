package program

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/capgen/capgen/runtime/canon"
)

// maxJSONDepth bounds arrays and objects inside each other, both ways.
const maxJSONDepth = 64

// jsonModule is the module json, bounded in depth, digits and bytes.
func (e *engine) jsonModule() starlark.Value {
	members := starlark.StringDict{}
	for name, f := range map[string]native{
		"encode": e.jsonEncode, "encode_indent": e.jsonEncodeIndent, "decode": e.jsonDecode, "indent": e.jsonIndent,
	} {
		members[name] = e.native("json."+name, f)
	}
	return &starlarkstruct.Module{Name: "json", Members: members}
}

// jsonEncode is json.encode(x): keys sorted, no white space.
func (e *engine) jsonEncode(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var v starlark.Value
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &v); err != nil {
		return nil, err
	}
	text, err := e.toJSON(v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name(), err)
	}
	return starlark.String(text), nil
}

func (e *engine) toJSON(v starlark.Value) ([]byte, error) {
	w := jsonWriter{engine: e}
	if err := w.value(v, 0); err != nil {
		return nil, err
	}
	return w.out, e.chargeBytes(len(w.out))
}

// jsonWriter writes values as JSON. A value that several others share counts
// each time it is written.
type jsonWriter struct {
	engine *engine
	out    []byte
}

func (w *jsonWriter) value(v starlark.Value, depth int) error {
	if err := w.engine.charge(1); err != nil {
		return err
	}
	switch v := v.(type) {
	case starlark.NoneType:
		return w.raw("null")
	case starlark.Bool:
		if v {
			return w.raw("true")
		}
		return w.raw("false")
	case starlark.Int:
		text, err := digits(v)
		if err != nil {
			return err
		}
		return w.raw(text)
	case starlark.Float:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("cannot encode non-finite float %v", v)
		}
		return w.raw(v.String())
	case starlark.String:
		return w.string(string(v))
	case starlark.IterableMapping:
		return w.object(v, depth+1)
	case starlark.Iterable:
		return w.array(v, depth+1)
	}
	return fmt.Errorf("cannot encode %s as JSON", typeName(v))
}

func (w *jsonWriter) raw(text string) error {
	if len(w.out)+len(text) > maxStringBytes {
		return w.engine.tooLarge("a text of that many bytes")
	}
	w.out = append(w.out, text...)
	return nil
}

func (w *jsonWriter) string(s string) error {
	// Six bytes for a byte are the most.
	if len(w.out)+len(s) > maxStringBytes {
		return w.engine.tooLarge("a text of that many bytes")
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	w.out = canon.AppendString(w.out, s)
	return w.raw("")
}

func jsonTooDeep() error {
	return fmt.Errorf("the value is nested more than %d deep", maxJSONDepth)
}

func (w *jsonWriter) array(v starlark.Iterable, depth int) error {
	if depth > maxJSONDepth {
		return jsonTooDeep()
	}
	open := "["
	for item := range starlark.Elements(v) {
		if err := w.raw(open); err != nil {
			return err
		}
		open = ","
		if err := w.value(item, depth); err != nil {
			return err
		}
	}
	if open == "[" {
		return w.raw("[]")
	}
	return w.raw("]")
}

func (w *jsonWriter) object(v starlark.IterableMapping, depth int) error {
	if depth > maxJSONDepth {
		return jsonTooDeep()
	}
	if err := w.engine.charge(max(0, starlark.Len(v))); err != nil {
		return err
	}
	items := v.Items()
	for _, item := range items {
		if _, ok := item[0].(starlark.String); !ok {
			return fmt.Errorf("%s has %s key, want string", v.Type(), typeName(item[0]))
		}
	}
	slices.SortFunc(items, func(a, b starlark.Tuple) int {
		return strings.Compare(string(a[0].(starlark.String)), string(b[0].(starlark.String)))
	})
	open := "{"
	for _, item := range items {
		if err := w.raw(open); err != nil {
			return err
		}
		open = ","
		if err := w.string(string(item[0].(starlark.String))); err != nil {
			return err
		}
		if err := w.raw(":"); err != nil {
			return err
		}
		if err := w.value(item[1], depth); err != nil {
			return err
		}
	}
	if open == "{" {
		return w.raw("{}")
	}
	return w.raw("}")
}

// jsonEncodeIndent is json.indent(json.encode(x)).
func (e *engine) jsonEncodeIndent(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	prefix, indent := "", "\t"
	if err := starlark.UnpackArgs(b.Name(), nil, kwargs, "prefix?", &prefix, "indent?", &indent); err != nil {
		return nil, err
	}
	var v starlark.Value
	if err := starlark.UnpackPositionalArgs(b.Name(), args, nil, 1, &v); err != nil {
		return nil, err
	}
	text, err := e.toJSON(v)
	if err == nil {
		text, err = e.indented(text, prefix, indent)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name(), err)
	}
	return starlark.String(text), nil
}
