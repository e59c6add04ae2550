package program

import "go.starlark.net/starlark"

// sliceValue is what slice(start, stop, step) returns: x[s] is x[start:stop:step].
type sliceValue struct {
	engine            *engine
	start, stop, step starlark.Value
}

var _ starlark.HasAttrs = (*sliceValue)(nil)

func (s *sliceValue) Type() string         { return "slice" }
func (s *sliceValue) Freeze()              {}
func (s *sliceValue) Truth() starlark.Bool { return true }
func (s *sliceValue) Hash() (uint32, error) {
	return 0, raise("TypeError", "unhashable type: 'slice'")
}

func (s *sliceValue) String() string { return "slice" + s.engine.brief(s.bounds()) }

func (s *sliceValue) bounds() starlark.Tuple { return starlark.Tuple{s.start, s.stop, s.step} }

// AttrNames implements starlark.HasAttrs.
func (s *sliceValue) AttrNames() []string { return []string{"indices", "start", "step", "stop"} }

// Attr has the bounds, and indices(length).
func (s *sliceValue) Attr(name string) (starlark.Value, error) {
	switch name {
	case "start":
		return s.start, nil
	case "stop":
		return s.stop, nil
	case "step":
		return s.step, nil
	case "indices":
		return s.engine.native(name, positionalOnly("slice.indices", 1, 1, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			n, err := intArgument(args[0])
			if err != nil {
				return nil, err
			}
			if n < 0 {
				return nil, raise("ValueError", "length should not be negative")
			}
			from, to, by, err := sliceBounds(n, s.start, s.stop, s.step)
			return starlark.Tuple{starlark.MakeInt(from), starlark.MakeInt(to), starlark.MakeInt(by)}, err
		})), nil
	}
	return nil, nil
}

func (e *engine) newSlice(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	s := &sliceValue{engine: e, start: starlark.None, stop: starlark.None, step: starlark.None}
	switch len(args) {
	case 1:
		s.stop = args[0]
	case 2:
		s.start, s.stop = args[0], args[1]
	default:
		s.start, s.stop, s.step = args[0], args[1], args[2]
	}
	return s, nil
}
