package program

import (
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// The interpreter's iterators cannot fail. Those here keep the error that ends
// an iteration early, and end every other iteration of the thread too, until
// the loop's Done raises it (package lower).

func (e *engine) endEarly(err error) {
	if e.early == nil {
		e.early = map[*starlark.Thread]error{}
	}
	if e.early[e.thread] == nil {
		e.early[e.thread] = err
	}
}

// endsEarly tells whether an error waits to be raised.
func (e *engine) endsEarly() bool { return len(e.early) > 0 && e.early[e.thread] != nil }

// done returns v, or raises what ended an iteration.
func (e *engine) done(v starlark.Value) (starlark.Value, error) {
	if len(e.early) == 0 {
		return v, nil
	}
	err := e.early[e.thread]
	if err == nil {
		return v, nil
	}
	delete(e.early, e.thread)
	return nil, err
}

// iter is what a loop over v goes over.
func (e *engine) iter(v starlark.Value) (starlark.Value, error) {
	if e.endsEarly() {
		return e.done(v)
	}
	switch v := v.(type) {
	case *starlark.List:
		return &listLoop{engine: e, list: v}, nil
	case starlark.Tuple, *generator:
		return v, nil
	case starlark.String:
		return e.characters(string(v)), nil
	case starlark.Bytes:
		return &loop{engine: e, next: func(l *loop) (starlark.Value, bool) {
			if l.at >= len(v) {
				return nil, false
			}
			return starlark.MakeInt(int(v[l.at])), true
		}}, nil
	case *record:
		return e.iter(v.dict())
	case *starlark.Dict:
		return e.keys(v, func(key starlark.Value) starlark.Value { return key }), e.chargeCopy(v.Len())
	case *frozenSet:
		return e.iter(v.set)
	case *starlark.Set:
		items := make([]starlark.Value, 0, v.Len())
		for item := range v.Elements() {
			items = append(items, item)
		}
		return e.fixed(items, v.Len, "Set changed size during iteration"), e.chargeCopy(len(items))
	}
	if view, ok := v.(*view); ok {
		return v, e.chargeCopy(view.of.Len())
	}
	if _, ok := v.(starlark.Iterable); ok {
		return v, nil
	}
	return nil, notIterable(v)
}

func notIterable(v starlark.Value) error {
	return raise("TypeError", "'%s' object is not iterable", className(v))
}

// listLoop goes through a list as it is meanwhile: elements that are appended
// are reached.
type listLoop struct {
	starlark.NoneType
	engine *engine
	list   *starlark.List
	at     int
}

// Iterate returns the loop itself.
func (l *listLoop) Iterate() starlark.Iterator { return l }

// Next implements starlark.Iterator.
func (l *listLoop) Next(p *starlark.Value) bool {
	if l.at >= l.list.Len() || l.engine.endsEarly() {
		return false
	}
	*p = l.list.Index(l.at)
	l.at++
	return true
}

// Done implements starlark.Iterator.
func (l *listLoop) Done() {}

// loop is an iterable that is gone through once.
type loop struct {
	starlark.NoneType
	engine *engine
	at     int
	next   func(*loop) (starlark.Value, bool)
}

var _ starlark.Iterable = (*loop)(nil)

// Iterate returns the loop itself.
func (l *loop) Iterate() starlark.Iterator { return l }

// Next implements starlark.Iterator.
func (l *loop) Next(p *starlark.Value) bool {
	if l.engine.endsEarly() {
		return false
	}
	v, ok := l.next(l)
	if ok {
		*p = v
		l.at++
	}
	return ok
}

// Done implements starlark.Iterator.
func (l *loop) Done() {}

func (e *engine) characters(s string) *loop {
	if e.letters == nil {
		e.letters = new([utf8.RuneSelf]starlark.Value)
	}
	at := 0
	return &loop{engine: e, next: func(*loop) (starlark.Value, bool) {
		if at >= len(s) {
			return nil, false
		}
		if c := s[at]; c < utf8.RuneSelf {
			at++
			v := e.letters[c]
			if v == nil {
				v = starlark.String(s[at-1 : at])
				e.letters[c] = v
			}
			return v, true
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
		return starlark.String(s[at-size : at]), true
	}}
}

// fixed goes over items and fails when size changes meanwhile.
func (e *engine) fixed(items []starlark.Value, size func() int, changed string) *loop {
	before := size()
	return &loop{engine: e, next: func(l *loop) (starlark.Value, bool) {
		if size() != before {
			e.endEarly(raise("RuntimeError", "%s", changed))
			return nil, false
		}
		if l.at >= len(items) {
			return nil, false
		}
		return items[l.at], true
	}}
}

// generator is the value of a generator expression: it asks f for each element
// when somebody asks it.
type generator struct {
	engine *engine
	source starlark.Iterator // nil at its end
	f      starlark.Value
	// nested: f returns the generators of the next clause.
	nested  bool
	inner   *generator
	running bool
}

var _ starlark.Iterable = (*generator)(nil)

func (g *generator) String() string        { return "<generator object>" }
func (g *generator) Type() string          { return "generator" }
func (g *generator) Freeze()               {}
func (g *generator) Truth() starlark.Bool  { return true }
func (g *generator) Hash() (uint32, error) { return 0, nil }

// Iterate returns the generator itself: it can be gone through once.
func (g *generator) Iterate() starlark.Iterator { return g }

// Done implements starlark.Iterator; the generator goes on where it was.
func (g *generator) Done() {}

// Next implements starlark.Iterator.
func (g *generator) Next(p *starlark.Value) bool {
	e := g.engine
	if g.running {
		e.endEarly(raise("ValueError", "generator already executing"))
		return false
	}
	g.running = true
	defer func() { g.running = false }()
	for {
		if e.endsEarly() {
			g.source = nil
			return false
		}
		if g.inner != nil {
			if g.inner.Next(p) {
				return true
			}
			g.inner = nil
			continue
		}
		var x starlark.Value
		if g.source == nil || !g.source.Next(&x) {
			g.source = nil
			return false
		}
		v, err := starlark.Call(e.thread, g.f, starlark.Tuple{x}, nil)
		switch inner, _ := v.(*generator); {
		case err != nil:
			e.endEarly(noStop("generator", err))
		case v == skip:
		case g.nested:
			g.inner = inner
		default:
			*p = v
			return true
		}
	}
}

func (e *engine) newGenerator(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	return &generator{engine: e, source: args[0].(starlark.Iterable).Iterate(), f: args[1], nested: bool(args[2].Truth())}, nil
}

// unpack is `a, *b = x`: a tuple of as many values as there are targets.
func (e *engine) unpack(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	n, _ := starlark.AsInt32(args[1])
	star, _ := starlark.AsInt32(args[2])
	if t, ok := args[0].(starlark.Tuple); ok && star < 0 && len(t) == n {
		return t, nil
	}
	over, err := e.iter(args[0])
	if err != nil {
		return nil, raise("TypeError", "cannot unpack non-iterable %s object", className(args[0]))
	}
	var items []starlark.Value
	it := over.(starlark.Iterable).Iterate()
	defer it.Done()
	var x starlark.Value
	for it.Next(&x) {
		if err := e.charge(1); err != nil {
			return nil, err
		}
		if star < 0 && len(items) == n {
			return nil, raise("ValueError", "too many values to unpack (expected %d)", n)
		}
		items = append(items, x)
		if err := e.roomItems(len(items)); err != nil {
			return nil, err
		}
	}
	if _, err := e.done(starlark.None); err != nil {
		return nil, err
	}
	if star < 0 {
		if len(items) < n {
			return nil, raise("ValueError", "not enough values to unpack (expected %d, got %d)", n, len(items))
		}
		return starlark.Tuple(items), nil
	}
	if len(items) < n-1 {
		return nil, raise("ValueError", "not enough values to unpack (expected at least %d, got %d)", n-1, len(items))
	}
	out := make(starlark.Tuple, 0, n)
	out = append(out, items[:star]...)
	end := len(items) - (n - 1 - star)
	out = append(out, starlark.NewList(append([]starlark.Value(nil), items[star:end]...)))
	return append(out, items[end:]...), nil
}
