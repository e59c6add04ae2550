package program

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// ownNames are the predeclared names that Starlark does not have.
func ownNames() []string { return []string{"attempt", "json", "math", "pages", "parallel", "sum"} }

// builtin is what a predeclared name stands for: ours, or one of Starlark's
// that is bounded here; nil for all others. It is asked once for each name
// that a program mentions, so that an execution pays for no other.
func (e *engine) builtin(name string) starlark.Value {
	switch name {
	case "json":
		return e.jsonModule()
	case "math":
		return math.Module
	}
	if f := e.function(name); f != nil {
		return e.native(name, f)
	}
	return nil
}

func (e *engine) function(name string) native {
	switch name {
	case "all":
		return e.quantify(false)
	case "attempt":
		return e.attempt
	case "any":
		return e.quantify(true)
	case "bytes":
		return e.newBytes
	case "dict":
		return e.newDict
	case "enumerate":
		return e.enumerate
	case "fail":
		return e.fail
	case "float":
		return e.newFloat
	case "getattr":
		return e.getattr
	case "hash":
		return e.hash
	case "int":
		return e.newInt
	case "list":
		return e.newList
	case "max":
		return e.extreme(syntax.GT)
	case "min":
		return e.extreme(syntax.LT)
	case "pages":
		return e.pages
	case "parallel":
		return e.parallel
	case "print":
		return e.print
	case "repr":
		return e.newText((*engine).repr)
	case "reversed":
		return e.reversed
	case "set":
		return e.newSet
	case "sorted":
		return e.sorted
	case "str":
		return e.newText((*engine).str)
	case "sum":
		return e.sum
	case "tuple":
		return e.newTuple
	case "zip":
		return e.zip
	}
	return nil
}

// universal calls Starlark's own builtin, after what a bounded one has checked.
func universal(thread *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return starlark.Universe[name].(*starlark.Builtin).CallInternal(thread, args, kwargs)
}

// newText is str(x) and repr(x).
func (e *engine) newText(text func(*engine, starlark.Value) (string, error)) native {
	return func(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var v starlark.Value
		if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &v); err != nil {
			return nil, err
		}
		if s, ok := v.(starlark.Bytes); ok && b.Name() == "str" {
			if err := e.roomBytes(len(s)); err != nil {
				return nil, err
			}
			return universal(thread, "str", args, nil) // UTF-8, as Starlark has it
		}
		s, err := text(e, v)
		return starlark.String(s), err
	}
}

func (e *engine) newBytes(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) == 1 {
		switch v := args[0].(type) {
		case starlark.String:
			if err := e.roomBytes(len(v)); err != nil {
				return nil, err
			}
		case starlark.Iterable:
			list, err := e.collect(v)
			if err != nil {
				return nil, err
			}
			args = starlark.Tuple{starlark.Tuple(list)}
		}
	}
	return universal(thread, b.Name(), args, kwargs)
}

// newInt is int(x, base), of no more digits than CPython takes. Bases that are
// powers of two need no bound there, and the bound of all ints here.
func (e *engine) newInt(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	for _, v := range textArguments(args, kwargs) {
		if len(strings.TrimSpace(v)) > maxDigits+2 { // a sign and a prefix
			return nil, tooManyDigits()
		}
	}
	return universal(thread, b.Name(), args, kwargs)
}

func (e *engine) newFloat(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	for _, v := range textArguments(args, kwargs) {
		if len(v) > maxDigits {
			return nil, fmt.Errorf("float: a text of more than %d characters is no number", maxDigits)
		}
	}
	return universal(thread, b.Name(), args, kwargs)
}

func textArguments(args starlark.Tuple, kwargs []starlark.Tuple) (texts []string) {
	for _, v := range args {
		if s, ok := starlark.AsString(v); ok {
			texts = append(texts, s)
		}
	}
	for _, pair := range kwargs {
		if s, ok := starlark.AsString(pair[1]); ok {
			texts = append(texts, s)
		}
	}
	return texts
}

func (e *engine) hash(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) == 1 {
		if err := e.chargeBytes(8 * max(0, starlark.Len(args[0]))); err != nil {
			return nil, err
		}
	}
	return universal(thread, b.Name(), args, kwargs)
}

// print is for the habit: nobody sees what a program prints, so nothing is
// written.
func (e *engine) print(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	separator := ""
	if err := starlark.UnpackArgs(b.Name(), nil, kwargs, "sep?", &separator); err != nil {
		return nil, err
	}
	return starlark.None, e.charge(len(args))
}

// fail ends the program with the text of its arguments, cut to what a message
// may have.
func (e *engine) fail(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	separator := " "
	if err := starlark.UnpackArgs(b.Name(), nil, kwargs, "sep?", &separator); err != nil {
		return nil, err
	}
	w := textWriter{engine: e, limit: maxText, cut: true}
	err := w.text("fail: ")
	for i, v := range args {
		if err == nil && i > 0 {
			err = w.text(separator)
		}
		if err != nil {
			break
		}
		if s, ok := starlark.AsString(v); ok {
			err = w.text(s)
		} else {
			err = w.value(v, 0)
		}
	}
	if err == errSteps {
		return nil, err
	}
	if err != nil {
		w.out.WriteString("…")
	}
	return nil, errors.New(w.out.String())
}

func (e *engine) getattr(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var object, fallback starlark.Value
	var name string
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 2, &object, &name, &fallback); err != nil {
		return nil, err
	}
	v, err := e.attr(object, name)
	if err != nil && fallback != nil {
		return fallback, nil
	}
	return v, err
}
