package program

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/fault"
)

// exception is an instance of an exception class.
type exception struct {
	engine *engine
	class  *class
	args   starlark.Tuple
	cause  starlark.Value // nil without
	// fault is the native call that failed, in a CapabilityError.
	fault *fault.Fault
	// hint is for the author, when nothing catches it.
	hint string
	// stack is where it was raised first.
	stack starlark.CallStack
}

var _ starlark.HasAttrs = (*exception)(nil)

func (x *exception) Type() string          { return x.class.name }
func (x *exception) Freeze()               {}
func (x *exception) Truth() starlark.Bool  { return true }
func (x *exception) Hash() (uint32, error) { return x.class.Hash() }

// String is repr(x), cut where that is long.
func (x *exception) String() string {
	inner := x.engine.brief(x.args)
	if len(x.args) == 1 {
		inner = "(" + x.engine.brief(x.args[0]) + ")"
	}
	return x.class.name + inner
}

// text is str(x).
func (x *exception) text() (string, error) {
	switch len(x.args) {
	case 0:
		return "", nil
	case 1:
		if x.class.name == "KeyError" {
			return x.engine.repr(x.args[0])
		}
		return x.engine.str(x.args[0])
	}
	if x.isSystem() && len(x.args) < 6 {
		return x.systemText()
	}
	return x.engine.repr(x.args)
}

// isSystem tells whether x is an OSError, whose arguments are a number and a
// text, and a file's name.
func (x *exception) isSystem() bool { return x.class.is(x.engine.class("OSError")) && len(x.args) > 1 }

func (x *exception) systemText() (string, error) {
	number, err := x.engine.str(x.args[0])
	if err != nil {
		return "", err
	}
	what, err := x.engine.str(x.args[1])
	if err != nil || len(x.args) == 2 {
		return "[Errno " + number + "] " + what, err
	}
	file, err := x.engine.repr(x.args[2])
	return "[Errno " + number + "] " + what + ": " + file, err
}

// Attr has CPython's attributes, and for a native call that failed what a
// program may know of it.
func (x *exception) Attr(name string) (starlark.Value, error) {
	optional := func(s string) (starlark.Value, error) {
		if s == "" {
			return starlark.None, nil
		}
		return starlark.String(s), nil
	}
	switch name {
	case "args":
		if x.isSystem() && len(x.args) == 3 {
			return x.args[:2], nil
		}
		return x.args, nil
	case "errno", "strerror", "filename":
		if !x.class.is(x.engine.class("OSError")) {
			return nil, nil
		}
		i := map[string]int{"errno": 0, "strerror": 1, "filename": 2}[name]
		if x.isSystem() && i < len(x.args) && len(x.args) < 6 {
			return x.args[i], nil
		}
		return starlark.None, nil
	case "code":
		if x.class.name == "SystemExit" {
			return x.exitCode(), nil
		}
	case "__cause__":
		if x.cause == nil {
			return starlark.None, nil
		}
		return x.cause, nil
	case "__class__":
		return x.class, nil
	case "value":
		if x.class.name == "StopIteration" {
			if len(x.args) > 0 {
				return x.args[0], nil
			}
			return starlark.None, nil
		}
	}
	if x.class.name == "JSONDecodeError" {
		if v := x.decodeError(name); v != nil {
			return v, nil
		}
	}
	if f := x.fault; f != nil {
		switch name {
		case "code":
			return optional(f.Code)
		case "message":
			return optional(f.Message)
		case "capability":
			return optional(f.Capability)
		case "hint":
			return optional(f.Hint)
		}
	}
	return nil, nil
}

func (x *exception) exitCode() starlark.Value {
	switch len(x.args) {
	case 0:
		return starlark.None
	case 1:
		return x.args[0]
	}
	return x.args
}

// AttrNames implements starlark.HasAttrs.
func (x *exception) AttrNames() []string {
	names := []string{"__cause__", "__class__", "args"}
	if x.fault != nil {
		names = append(names, "capability", "code", "hint", "message")
	}
	return names
}

// raised carries an exception through the interpreter. Those that Go code
// raises are made when somebody looks: the name of the class and the text.
type raised struct {
	exception *exception
	class     string
	message   string
	argument  starlark.Value // instead of message, when not nil
	hint      string         // for the author, when nothing catches it
}

func (r *raised) Error() string {
	if r.exception == nil {
		return r.class + ": " + r.message
	}
	s, err := r.exception.text()
	switch {
	case err != nil:
		s = "…"
	case s == "":
		return r.exception.class.name
	}
	return r.exception.class.name + ": " + s
}

// raise is the error that raises a class with a text.
func raise(class, format string, args ...any) error {
	return &raised{class: class, message: fmt.Sprintf(format, args...)}
}

// raiseKey is KeyError(key).
func raiseKey(key starlark.Value) error {
	return &raised{class: "KeyError", message: "a key", argument: key}
}

// catch is the exception that err raises; ok is false for what no program can
// catch: limits, the end of the execution, and faults of the host.
func (e *engine) catch(err error) (x *exception, ok bool) {
	if e.fatal != nil || e.outOfSteps || e.tooDeep || errors.Is(err, errSteps) {
		return nil, false
	}
	var stack starlark.CallStack
	var eval *starlark.EvalError
	if errors.As(err, &eval) {
		stack = eval.CallStack
	}
	defer func() {
		if ok && x.stack == nil {
			x.stack = stack
		}
	}()
	var native *nativeFailure
	if errors.As(err, &native) {
		name := ""
		switch native.fault.Class {
		case fault.CapabilityFailed, fault.PolicyFailure:
			name = "CapabilityError"
		case fault.Denied:
			name = "PermissionError"
		case fault.InvalidArguments:
			name = "TypeError"
		case fault.NotFound:
			name = "AttributeError"
		default:
			return nil, false
		}
		return &exception{engine: e, class: e.class(name), args: starlark.Tuple{starlark.String(native.fault.Message)}, fault: native.fault}, true
	}
	var r *raised
	if errors.As(err, &r) {
		if r.exception == nil {
			argument := r.argument
			if argument == nil {
				argument = starlark.String(r.message)
			}
			r.exception = &exception{engine: e, class: e.class(r.class), args: starlark.Tuple{argument}, hint: r.hint}
		}
		return r.exception, true
	}
	message := err.Error()
	if eval != nil {
		message = eval.Msg
	}
	name, text := e.explain(message, stack)
	if name == "" {
		name, text = e.unbound(message, stack)
	}
	if name == "" {
		name, text = translate(message)
	}
	if n := len(stack); n > 1 && strings.HasPrefix(message, "function ") {
		stack = stack[:n-1] // where it was called, not what was
	}
	return &exception{engine: e, class: e.class(name), args: starlark.Tuple{starlark.String(text)}}, true
}

var decodePlace = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*): line (\d+) column (\d+) \(char (\d+)\)$`) })

// decodeError is an attribute that only JSONDecodeError has, read from the
// text; nil if there is none of that name.
func (x *exception) decodeError(name string) starlark.Value {
	text, err := x.text()
	m := decodePlace().FindStringSubmatch(text)
	if err != nil || m == nil {
		return nil
	}
	if name == "msg" {
		return starlark.String(m[1])
	}
	for i, attribute := range []string{"lineno", "colno", "pos"} {
		if n, err := strconv.Atoi(m[2+i]); attribute == name && err == nil {
			return starlark.MakeInt(n)
		}
	}
	return nil
}
