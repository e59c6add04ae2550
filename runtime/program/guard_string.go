package program

import (
	"strconv"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/capgen/capgen/runtime/program/text"
)

// haystacks is the global of x in y, which the lowering writes as
// x in ($in - y): a string is itself, for the interpreter looks into it as
// CPython does, and all else becomes a haystack.
type haystacks struct {
	starlark.NoneType
	engine *engine
	free   []*haystack
}

// haystack is y of x in y.
type haystack struct {
	starlark.NoneType
	of *haystacks
	y  starlark.Value
}

// cutter is the global of x[low:high], which the lowering writes as
// (($cut - x) - low) - high.
type cutter struct {
	starlark.NoneType
	engine *engine
	free   []*cut
}

// cut is x of x[low:high], and low as soon as that is known.
type cut struct {
	starlark.NoneType
	of     *cutter
	x, low starlark.Value
}

var (
	_ starlark.HasBinary = (*haystacks)(nil)
	_ starlark.HasBinary = (*haystack)(nil)
	_ starlark.HasBinary = (*cutter)(nil)
	_ starlark.HasBinary = (*cut)(nil)
)

// Binary implements starlark.HasBinary.
func (h *haystacks) Binary(_ syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	if side != starlark.Left {
		return nil, nil
	}
	if s, ok := y.(starlark.String); ok {
		return y, h.engine.chargeBytes(len(s))
	}
	if last := len(h.free) - 1; last >= 0 {
		found := h.free[last]
		h.free = h.free[:last]
		found.y = y
		return found, nil
	}
	return &haystack{of: h, y: y}, nil
}

// Binary implements starlark.HasBinary.
func (h *haystack) Binary(_ syntax.Token, x starlark.Value, side starlark.Side) (starlark.Value, error) {
	if side != starlark.Right {
		return nil, nil
	}
	y := h.y
	h.y = nil
	h.of.free = append(h.of.free, h)
	is, err := h.of.engine.contains(x, y)
	return starlark.Bool(is), err
}

// Binary implements starlark.HasBinary.
func (c *cutter) Binary(_ syntax.Token, x starlark.Value, side starlark.Side) (starlark.Value, error) {
	if side != starlark.Left {
		return nil, nil
	}
	if last := len(c.free) - 1; last >= 0 {
		next := c.free[last]
		c.free = c.free[:last]
		next.x = x
		return next, nil
	}
	return &cut{of: c, x: x}, nil
}

// Binary implements starlark.HasBinary.
func (c *cut) Binary(_ syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	if side != starlark.Left {
		return nil, nil
	}
	if c.low == nil {
		c.low = y
		return c, nil
	}
	x, low := c.x, c.low
	c.x, c.low = nil, nil
	c.of.free = append(c.of.free, c)
	if s, ok := shortCut(x, low, y); ok {
		return s, nil
	}
	return c.of.engine.slice(x, low, y, starlark.None)
}

// shortCut is x[low:high] of what programs cut mostly: a short string in ASCII,
// at ints.
func shortCut(x, low, high starlark.Value) (starlark.Value, bool) {
	s, ok := x.(starlark.String)
	if !ok || len(s) >= pointsFrom || !text.IsASCII(string(s)) {
		return nil, false
	}
	end := func(v starlark.Value, missing int) (int, bool) {
		if v == starlark.None {
			return missing, true
		}
		i, ok := v.(starlark.Int)
		if !ok {
			return 0, false
		}
		at, ok := i.Int64()
		if at < 0 {
			at += int64(len(s))
		}
		return int(min(max(at, 0), int64(len(s)))), ok
	}
	from, ok := end(low, 0)
	to, too := end(high, len(s))
	if !ok || !too {
		return nil, false
	}
	return s[from:max(from, to)], true
}

// cutAt is x[low:high] for bounds that the lowering has written down.
func (e *engine) cutAt(bounds string) check {
	first, last, _ := strings.Cut(bounds, ":")
	value := func(s string) starlark.Value {
		n, err := strconv.Atoi(s)
		if err != nil {
			return starlark.None // it is left out
		}
		return starlark.MakeInt(n)
	}
	low, high := value(first), value(last)
	return func(x starlark.Value) (starlark.Value, error) {
		if s, ok := shortCut(x, low, high); ok {
			return s, nil
		}
		return e.slice(x, low, high, starlark.None)
	}
}
