package program

import (
	"cmp"
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program/lower"
	"github.com/capgen/capgen/runtime/program/python"
)

// Check looks at p and runs nothing of it: its syntax, its names, and the
// arguments of its calls of capabilities, their names and, as far as they are
// literals, their values. What depends on values that only a run has, it does
// not judge: a program without problems may fail all the same, but none that
// it finds would go away. The fault is a limit, or internal; problems of the
// program stand in the report. table is only read. Check does not panic.
func Check(p Program, table *binding.Table) (report *Report, failure *fault.Fault) {
	e := newEngine(p, table, nil)
	defer func() {
		if recover() != nil {
			report, failure = nil, e.fault(fault.Internal, "the interpreter failed on this program")
		}
	}()
	if err := p.Limits.Check(); err != nil {
		return nil, e.fault(fault.Internal, "the limits of this check are not valid")
	}
	code, problems := compile(p, e)
	c := &checker{engine: e, problems: problems}
	if code == nil {
		if problems[0].Class == fault.Limit {
			return nil, problems[0]
		}
		return c.report(), nil
	}
	for i := range code.lowered.Uses {
		if failure := c.use(&code.lowered.Uses[i]); failure != nil {
			return nil, failure
		}
	}
	return c.report(), nil
}

type checker struct {
	engine   *engine
	problems []*fault.Fault
	reached  []Reached
}

// report sorts what was found, drops what was found twice, as in a body that
// is lowered twice, and cuts it.
func (c *checker) report() *Report {
	slices.SortStableFunc(c.problems, func(a, b *fault.Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	r := &Report{}
	for _, f := range c.problems {
		if n := len(r.Problems); n > 0 {
			if last := r.Problems[n-1]; last.Line == f.Line && last.Column == f.Column && last.Message == f.Message {
				continue
			}
		}
		if len(r.Problems) < MaxProblems {
			r.Problems = append(r.Problems, bounded(f))
		}
	}
	slices.SortStableFunc(c.reached, func(a, b Reached) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	seen := map[string]bool{}
	for _, u := range c.reached {
		if !seen[u.ID] && len(r.Reached) < MaxReached {
			seen[u.ID] = true
			r.Reached = append(r.Reached, u)
		}
	}
	return r
}

func (c *checker) problem(p python.Pos, f *fault.Fault) {
	copied := *f
	copied.Line, copied.Column = int(p.Line), int(p.Col)
	c.problems = append(c.problems, &copied)
}

// use checks one place where a capability is named. The fault is internal.
func (c *checker) use(u *lower.Use) *fault.Fault {
	capability, err := c.engine.capability(u.Name)
	switch {
	case err != nil:
		return c.engine.fault(fault.Internal, "the binding of "+excerpt(u.Name)+" cannot be read")
	case capability != nil:
	case c.engine.isNamespace(u.Name):
		if u.Called && u.By == "" {
			f := c.engine.fault(fault.InvalidProgram, u.Name+" is a namespace, which cannot be called")
			f.Hint = "call a capability in it: " + u.Name + ".name(…)"
			c.problem(u.Paren, f)
		}
		return nil
	case u.Hidden:
		return nil
	default:
		c.problem(u.Pos, c.engine.unknownCapability(u.Name))
		return nil
	}
	c.reached = append(c.reached, Reached{ID: capability.id, Line: int(u.Pos.Line), Column: int(u.Pos.Col)})
	if !u.Called {
		return nil
	}
	if c.engine.requireMain && u.TopLevel {
		c.problem(u.Paren, outsideMain(capability))
	}
	if u.By == "pages" && capability.pages == nil {
		return nil // what pages itself says of it is for the run
	}
	c.arguments(capability, u)
	return nil
}

// arguments checks those of one call.
func (c *checker) arguments(called *capability, u *lower.Use) {
	given := map[string]bool{}
	positionals, spread := 0, false
	for _, a := range u.Arguments {
		switch {
		case a.Star > 0:
			spread = true // of what is in it nothing is known
		case a.Name == "":
			positionals++
		case u.By == "pages" && a.Name == "max":
		default:
			given[a.Name] = true
			i, ok := called.input.index[a.Name]
			if !ok {
				c.problem(a.Pos, called.refuse(unknown("parameter", a.Name, called.input)))
				continue
			}
			f := &called.input.fields[i]
			if isNone(a.Value) && !f.required && !f.takesNull() {
				continue // it is left out
			}
			if r := c.value(f.shape, a.Value); r != nil {
				c.problem(a.Value.Start(), called.refuse(r.within(a.Name)))
			}
		}
	}
	if positionals > 0 {
		c.problem(u.Paren, called.refuse(positional(called, positionals)))
		return
	}
	if spread {
		return
	}
	for i := range called.input.fields {
		if f := &called.input.fields[i]; f.required && !given[f.name] {
			c.problem(u.Paren, called.refuse(&refusal{path: f.name, message: "required parameter is missing"}))
		}
	}
}

func isNone(e python.Expr) bool {
	k, ok := e.(*python.Constant)
	return ok && k.Value == "None"
}

// value checks an expression as far as its value is written in it.
func (c *checker) value(s *shape, e python.Expr) *refusal {
	if v, ok := literal(e); ok {
		enc := &encoder{w: canon.NewWireWriter(nil), limits: c.engine.limits}
		return enc.value(s, v, 1)
	}
	kind := kindOf(e)
	if kind == nil {
		return nil
	}
	switch s.kind {
	case binding.Union, binding.Opaque:
		return nil
	case binding.Array:
		if list, ok := e.(*python.List); ok {
			return c.items(s, list.Items)
		}
		if tuple, ok := e.(*python.Tuple); ok {
			return c.items(s, tuple.Items)
		}
	case binding.Object:
		if d, ok := e.(*python.Dict); ok {
			return c.members(s, d)
		}
	}
	if !s.admits(kind) {
		return mistyped(s, kind)
	}
	return nil
}

// admits tells whether some value of v's type may be one of s.
func (s *shape) admits(v starlark.Value) bool {
	switch v.(type) {
	case starlark.String:
		return s.kind == binding.String
	case *starlark.List, starlark.Tuple:
		return s.kind == binding.Array
	case *starlark.Dict:
		return s.kind == binding.Object || s.kind == binding.Map || s.kind == binding.Free
	}
	return false
}

func (c *checker) items(s *shape, items []python.Expr) *refusal {
	for i, item := range items {
		if _, ok := item.(*python.Starred); ok {
			return nil // what follows has another index
		}
		if r := c.value(s.items, item); r != nil {
			return r.within(fmt.Sprintf("[%d]", i))
		}
	}
	return nil
}

func (c *checker) members(s *shape, d *python.Dict) *refusal {
	given, open := map[string]bool{}, false
	for i, key := range d.Keys {
		name, ok := key.(*python.Str)
		if !ok {
			open = true
			continue
		}
		given[name.Value] = true
		at, ok := s.index[name.Value]
		if !ok {
			return unknown("field", name.Value, s)
		}
		f := &s.fields[at]
		if isNone(d.Values[i]) && !f.required {
			continue
		}
		if r := c.value(f.shape, d.Values[i]); r != nil {
			return r.within(f.name)
		}
	}
	for i := range s.fields {
		if f := &s.fields[i]; f.required && !given[f.name] && !open {
			return &refusal{path: f.name, message: "required field is missing"}
		}
	}
	return nil
}

// kindOf is some value of the type that an expression surely has; nil if that
// depends on the run.
func kindOf(e python.Expr) starlark.Value {
	switch e := e.(type) {
	case *python.JoinedStr:
		return starlark.String("")
	case *python.List:
		return &starlark.List{}
	case *python.Tuple:
		return starlark.Tuple{}
	case *python.Dict:
		return &starlark.Dict{}
	case *python.Set:
		return &starlark.Set{}
	case *python.Comprehension:
		switch e.Kind {
		case python.ListComp:
			return &starlark.List{}
		case python.SetComp:
			return &starlark.Set{}
		case python.DictComp:
			return &starlark.Dict{}
		}
	}
	return nil
}
