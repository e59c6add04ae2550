package program

import (
	"slices"
	"sort"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

func (e *engine) sorted(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) != 1 {
		return nil, raise("TypeError", "sorted expected 1 argument, got %d", len(args))
	}
	var by, reverse starlark.Value = starlark.None, starlark.False
	if err := unpackArguments("sort", nil, kwargs, "key?", &by, "reverse?", &reverse); err != nil {
		return nil, err
	}
	items, err := e.collect(args[0])
	if err != nil {
		return nil, err
	}
	sorted, err := e.order(thread, items, by, reverse)
	return starlark.NewList(sorted), err
}

// sorter orders values by their keys. After the first error every comparison
// is over at once.
type sorter struct {
	engine       *engine
	values, keys []starlark.Value
	paired       bool // keys are not the values themselves
	reverse      bool
	err          error
}

func (s *sorter) Len() int { return len(s.values) }

func (s *sorter) Less(i, j int) bool {
	if s.err != nil {
		return false
	}
	if s.err = s.engine.charge(1); s.err != nil {
		return false
	}
	if s.reverse {
		i, j = j, i
	}
	var less bool
	less, s.err = s.engine.compare(syntax.LT, s.keys[i], s.keys[j])
	return less
}

func (s *sorter) Swap(i, j int) {
	s.values[i], s.values[j] = s.values[j], s.values[i]
	if s.paired {
		s.keys[i], s.keys[j] = s.keys[j], s.keys[i]
	}
}

// shortRun is how many values CPython sorts in one run.
const shortRun = 64

// sort orders stably. A short list is sorted with the comparisons that CPython
// makes (Objects/listsort.txt): of values that cannot all be compared, the
// error tells of the same pair.
func (s *sorter) sort() {
	if len(s.values) >= shortRun {
		sort.Stable(s)
		return
	}
	if s.reverse {
		s.turn(len(s.values))
		s.reverse = false
		defer s.turn(len(s.values))
	}
	for at := s.run(); at < len(s.values) && s.err == nil; at++ {
		low, high := 0, at
		for low < high {
			if middle := int(uint(low+high) >> 1); s.Less(at, middle) {
				high = middle
			} else {
				low = middle + 1
			}
		}
		for i := at; i > low; i-- {
			s.Swap(i, i-1)
		}
	}
}

// run is how many values are in order from the first on; a descending run is
// turned round.
func (s *sorter) run() int {
	if len(s.values) < 2 {
		return len(s.values)
	}
	descending := s.Less(1, 0)
	n := 2
	for n < len(s.values) && s.Less(n, n-1) == descending {
		n++
	}
	if descending {
		s.turn(n)
	}
	return n
}

// turn turns the first n values round.
func (s *sorter) turn(n int) {
	slices.Reverse(s.values[:n])
	if s.paired {
		slices.Reverse(s.keys[:n])
	}
}

// order sorts items, stably.
func (e *engine) order(thread *starlark.Thread, items []starlark.Value, by, reverse starlark.Value) ([]starlark.Value, error) {
	if _, ok := number(reverse).(starlark.Int); !ok {
		return nil, raise("TypeError", "'%s' object cannot be interpreted as an integer", className(reverse))
	}
	s := &sorter{engine: e, values: items, keys: items, reverse: bool(reverse.Truth())}
	if by != starlark.None {
		s.paired = true
		s.keys = make([]starlark.Value, len(items))
		for i, v := range items {
			key, err := starlark.Call(thread, by, starlark.Tuple{v}, nil)
			if err != nil {
				return nil, err
			}
			s.keys[i] = key
		}
	}
	s.sort()
	return s.values, s.err
}
