package program

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/program/format"
	"github.com/capgen/capgen/runtime/program/text"
)

// textWriter writes values as str and repr do, into at most limit bytes. Parts
// that several values share count each time they are written.
type textWriter struct {
	engine *engine
	out    strings.Builder
	limit  int
	cut    bool // stop at limit, which is then no error
	path   []starlark.Value
}

// errCut ends a text that may be cut.
var errCut = fmt.Errorf("cut")

// str is str(v).
func (e *engine) str(v starlark.Value) (string, error) {
	switch v := v.(type) {
	case starlark.String:
		return string(v), nil
	case *exception:
		return v.text()
	}
	return e.repr(v)
}

// repr is v as a program would write it. It fails where the text would be too
// long, v is nested too deeply or an int has too many digits.
func (e *engine) repr(v starlark.Value) (string, error) {
	w := textWriter{engine: e, limit: maxStringBytes}
	if err := w.value(v, 0); err != nil {
		return "", err
	}
	return w.out.String(), nil
}

// brief is the beginning of repr, for messages.
func (e *engine) brief(v starlark.Value) string {
	w := textWriter{engine: e, limit: 200, cut: true}
	if w.value(v, 0) != nil {
		w.out.WriteString("…")
	}
	return strings.ToValidUTF8(w.out.String(), "�")
}

func (w *textWriter) text(s string) error {
	room := w.limit - w.out.Len()
	if len(s) <= room {
		w.out.WriteString(s)
		return w.engine.chargeBytes(len(s))
	}
	if w.cut {
		w.out.WriteString(s[:room])
		return errCut
	}
	return w.engine.tooLarge("a text of that many bytes")
}

func (w *textWriter) quoted(s string) error {
	room := w.limit - w.out.Len()
	if len(s) > room {
		if !w.cut {
			return w.engine.tooLarge("a text of that many bytes")
		}
		s = s[:room]
	}
	return w.text(text.Repr(s, false))
}

func (w *textWriter) value(v starlark.Value, depth int) error {
	if err := w.engine.charge(1); err != nil {
		return err
	}
	switch v := v.(type) {
	case starlark.String:
		return w.quoted(string(v))
	case starlark.Bytes:
		return w.quotedBytes(v)
	case starlark.Float:
		return w.text(format.Repr(float64(v)))
	case starlark.Int:
		if err := w.engine.chargeWords(bits(v), bits(v)); err != nil {
			return err
		}
		s, err := digits(v)
		if err != nil {
			return err
		}
		return w.text(s)
	case *starlark.List:
		return w.list("[", "]", v, depth)
	case starlark.Tuple:
		if len(v) == 1 {
			return w.list("(", ",)", v, depth)
		}
		return w.list("(", ")", v, depth)
	case *frozenSet:
		if v.Len() == 0 {
			return w.text("frozenset()")
		}
		return w.list("frozenset({", "})", v.set, depth)
	case *starlark.Set:
		if v.Len() == 0 {
			return w.text("set()")
		}
		return w.list("{", "}", v, depth)
	case *starlark.Dict:
		return w.mapping(v, depth)
	case *record:
		return w.mapping(v, depth)
	case *view:
		return w.list("dict_"+v.part+"([", "])", v.list(), depth)
	case *exception:
		if err := w.text(v.class.name); err != nil {
			return err
		}
		if len(v.args) == 1 {
			return w.list("(", ")", v.args, depth)
		}
		return w.value(v.args, depth)
	}
	if className(v) == "range" {
		if n, ok := strings.CutPrefix(v.String(), "range("); ok && !strings.Contains(n, ",") {
			return w.text("range(0, " + n)
		}
	}
	return w.text(v.String())
}

// inside writes a container, or … for one that holds itself.
func (w *textWriter) inside(open, close string, v starlark.Value, depth int, elements func() error) error {
	if depth >= maxNesting {
		return nestedTooDeeply()
	}
	if err := w.text(open); err != nil {
		return err
	}
	// Only lists, dicts and records can hold themselves.
	mutable := false
	switch v.(type) {
	case *starlark.List, *starlark.Dict, *record:
		mutable = true
	}
	if mutable && slices.Contains(w.path, v) {
		if err := w.text("..."); err != nil {
			return err
		}
		return w.text(close)
	}
	if mutable {
		w.path = append(w.path, v)
		defer func() { w.path = w.path[:len(w.path)-1] }()
	}
	if err := elements(); err != nil {
		return err
	}
	return w.text(close)
}

func (w *textWriter) list(open, close string, v starlark.Iterable, depth int) error {
	return w.inside(open, close, v, depth, func() error {
		first := true
		for item := range starlark.Elements(v) {
			if !first {
				if err := w.text(", "); err != nil {
					return err
				}
			}
			first = false
			if err := w.value(item, depth+1); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *textWriter) mapping(v starlark.IterableMapping, depth int) error {
	return w.inside("{", "}", v, depth, func() error {
		separator := ""
		for key, item := range starlark.Entries(v) {
			if err := w.text(separator); err != nil {
				return err
			}
			separator = ", "
			if err := w.value(key, depth+1); err != nil {
				return err
			}
			if err := w.text(": "); err != nil {
				return err
			}
			if err := w.value(item, depth+1); err != nil {
				return err
			}
		}
		return nil
	})
}

func nestedTooDeeply() error {
	return raise("RecursionError", "maximum recursion depth exceeded: the value is nested more than %d deep", maxNesting)
}
