package program

import (
	"fmt"
	"math"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// compare is x op y for ==, !=, <, <=, > and >=. Each pair of elements that is
// looked at costs a step, however often a value is shared, and values may be
// nested maxNesting deep.
func (e *engine) compare(op syntax.Token, x, y starlark.Value) (bool, error) {
	return e.compareDepth(op, x, y, 0)
}

func (e *engine) compareDepth(op syntax.Token, x, y starlark.Value, depth int) (bool, error) {
	if depth > 0 {
		if err := e.charge(1); err != nil {
			return false, err
		}
		if depth >= maxNesting {
			return false, nestedTooDeeply()
		}
	}
	switch x := x.(type) {
	case starlark.String:
		if y, ok := y.(starlark.String); ok {
			return threeway(op, strings.Compare(string(x), string(y))), e.chargeBytes(min(len(x), len(y)))
		}
	case starlark.Bytes:
		if y, ok := y.(starlark.Bytes); ok {
			return threeway(op, strings.Compare(string(x), string(y))), e.chargeBytes(min(len(x), len(y)))
		}
	case starlark.Int, starlark.Float, starlark.Bool:
		if a, b := number(x), number(y); isNumber(b) {
			if isNaN(a) || isNaN(b) {
				return op == syntax.NEQ, nil
			}
			return starlark.Compare(op, a, b)
		}
	case *starlark.List:
		if y, ok := y.(*starlark.List); ok {
			return e.compareItems(op, x, y, depth)
		}
	case starlark.Tuple:
		if y, ok := y.(starlark.Tuple); ok {
			return e.compareItems(op, x, y, depth)
		}
	case *starlark.Dict, *record:
		if isEquality(op) && isMapping(y) {
			equal, err := e.equalEntries(x.(starlark.IterableMapping), y.(starlark.IterableMapping), depth)
			return equal == (op == syntax.EQL), err
		}
	case *starlark.Set, *frozenSet:
		if y, ok := e.asSet(y); ok {
			return e.compareSets(op, setOf(x), y)
		}
	case *view:
		a, ok := e.asSet(x)
		b, too := e.asSet(y)
		if ok && too {
			return e.compareSets(op, a, b)
		}
	case *object, *exception, *coroutine, *generator, *iterator, *asyncFunction, *class, *module, *union, *alias:
		if isEquality(op) {
			return (x == y) == (op == syntax.EQL), nil
		}
	case *sliceValue:
		if y, ok := y.(*sliceValue); ok {
			return e.compareItems(op, x.bounds(), y.bounds(), depth)
		}
	default: // None, functions, ranges
		if isEquality(op) {
			return starlark.Compare(op, x, y)
		}
	}
	if isEquality(op) {
		return op == syntax.NEQ, nil
	}
	return false, raise("TypeError", "'%s' not supported between instances of '%s' and '%s'", op, className(x), className(y))
}

func isNaN(v starlark.Value) bool {
	f, ok := v.(starlark.Float)
	return ok && f != f
}

func isMapping(v starlark.Value) bool {
	switch v.(type) {
	case *starlark.Dict, *record:
		return true
	}
	return false
}

// asSet is v as a set, if v is a set or a view that is like one.
func (e *engine) asSet(v starlark.Value) (*starlark.Set, bool) {
	switch v := v.(type) {
	case *starlark.Set, *frozenSet:
		return setOf(v), true
	case *view:
		if v.part == "values" {
			return nil, false
		}
		set := new(starlark.Set)
		// Without steps left the program ends whatever follows.
		return set, e.insert(set, v) == nil
	}
	return nil, false
}

// compareSets: < is a proper subset.
func (e *engine) compareSets(op syntax.Token, x, y *starlark.Set) (bool, error) {
	small, large := x, y
	if op == syntax.GT || op == syntax.GE {
		small, large = y, x
	}
	within, err := e.within(small, large)
	if err != nil {
		return false, err
	}
	inside, same := bool(within.Truth()), x.Len() == y.Len()
	switch op {
	case syntax.EQL:
		return inside && same, nil
	case syntax.NEQ:
		return !inside || !same, nil
	case syntax.LT, syntax.GT:
		return inside && !same, nil
	}
	return inside, nil
}

func isEquality(op syntax.Token) bool { return op == syntax.EQL || op == syntax.NEQ }

// compareItems compares as Python does: the first pair that differs decides,
// else the lengths.
func (e *engine) compareItems(op syntax.Token, x, y starlark.Indexable, depth int) (bool, error) {
	if isEquality(op) && x.Len() != y.Len() {
		return op == syntax.NEQ, nil
	}
	// Both may shrink meanwhile in no way: no code of the program runs here.
	for i := range min(x.Len(), y.Len()) {
		a, b := x.Index(i), y.Index(i)
		same, err := e.equalOrSame(a, b, depth+1)
		if err != nil {
			return false, err
		}
		if same {
			continue
		}
		if isEquality(op) {
			return op == syntax.NEQ, nil
		}
		return e.compareDepth(op, a, b, depth+1)
	}
	return threeway(op, x.Len()-y.Len()), nil
}

// equalOrSame is a == b where CPython takes what is one object for equal without
// a look at it: a list that holds itself, and NaN. Floats have no identity here,
// so that each NaN is itself.
func (e *engine) equalOrSame(a, b starlark.Value, depth int) (bool, error) {
	switch a.(type) {
	case *starlark.List, starlark.Tuple, *starlark.Dict, *record:
		if same(a, b) {
			return true, e.charge(1)
		}
	}
	equal, err := e.compareDepth(syntax.EQL, a, b, depth)
	return equal || isNaN(a) && isNaN(b), err
}

func threeway(op syntax.Token, difference int) bool {
	switch op {
	case syntax.EQL:
		return difference == 0
	case syntax.NEQ:
		return difference != 0
	case syntax.LT:
		return difference < 0
	case syntax.LE:
		return difference <= 0
	case syntax.GT:
		return difference > 0
	}
	return difference >= 0
}

func (e *engine) equalEntries(x, y starlark.IterableMapping, depth int) (bool, error) {
	if starlark.Len(x) != starlark.Len(y) {
		return false, nil
	}
	dict, isDict := y.(*starlark.Dict)
	for key, a := range starlark.Entries(x) {
		var b starlark.Value
		var found bool
		var err error
		if isDict {
			b, found, err = e.lookup(dict, key)
		} else {
			b, found, err = y.Get(key)
		}
		if stopped := e.stopped(); stopped != nil {
			return false, stopped
		}
		if err != nil || !found {
			return false, nil //nolint:nilerr // a record says that it has no such field
		}
		if same, err := e.equalOrSame(a, b, depth+1); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// contains is x in y.
func (e *engine) contains(x, y starlark.Value) (bool, error) {
	switch y := y.(type) {
	case *starlark.List:
		return e.hasItem(x, y)
	case starlark.Tuple:
		return e.hasItem(x, y)
	case *starlark.Dict:
		_, found, err := e.lookup(y, x)
		return found, err
	case *starlark.Set, *frozenSet:
		return e.member(setOf(y), x)
	case starlark.String:
		sub, ok := starlark.AsString(x)
		if !ok {
			return false, raise("TypeError", "'in <string>' requires string as left operand, not %s", className(x))
		}
		return strings.Contains(string(y), sub), e.chargeBytes(len(y))
	case starlark.Bytes:
		return e.inBytes(x, y)
	case *record:
		if y.own != nil {
			return e.contains(x, y.own)
		}
		name, ok := starlark.AsString(x)
		i, declared := y.shape.index[name]
		return ok && declared && y.values[i] != nil, nil
	case *view:
		if y.part == "keys" {
			return e.contains(x, y.of)
		}
	}
	if over, ok := y.(starlark.Container); ok { // a range
		if f, ok := x.(starlark.Float); ok && float64(f) == math.Trunc(float64(f)) && !math.IsInf(float64(f), 0) {
			n, err := starlark.NumberToInt(f)
			if err != nil {
				return false, err
			}
			x = n
		}
		if n, ok := number(x).(starlark.Int); ok {
			return over.Has(n)
		}
		return false, nil
	}
	if _, err := e.iter(y); err != nil {
		return false, raise("TypeError", "argument of type '%s' is not iterable", className(y))
	}
	found := false
	err := e.each(y, func(item starlark.Value) error {
		equal, err := e.equalOrSame(item, x, 0)
		if err == nil && equal {
			found = true
			err = errEnough
		}
		return err
	})
	if err == errEnough {
		err = nil
	}
	return found, err
}

func (e *engine) hasItem(x starlark.Value, items starlark.Indexable) (bool, error) {
	for i := range items.Len() {
		if err := e.charge(1); err != nil {
			return false, err
		}
		if same, err := e.equalOrSame(items.Index(i), x, 0); err != nil || same {
			return err == nil, err
		}
	}
	return false, nil
}

const (
	// A key of a dict, or an element of a set, is hashed and compared in one
	// go, which nothing can interrupt.
	maxKeyParts   = 10_000
	maxKeyNesting = 8 // the interpreter compares keys no deeper than 10
)

// key refuses a value that is no key, or too large a one. Parts of tuples count
// each time.
func (e *engine) key(v starlark.Value) error {
	switch v := v.(type) {
	case starlark.String:
		return e.chargeBytes(len(v))
	case starlark.Bytes:
		return e.chargeBytes(len(v))
	case starlark.Tuple:
		parts := 0
		if err := e.keyParts(v, 0, &parts); err != nil {
			return err
		}
		return e.charge(parts)
	case *frozenSet:
		return e.charge(v.parts)
	case *starlark.List, *starlark.Dict, *starlark.Set, *record:
		_, err := v.Hash()
		return err
	}
	return nil
}

func (e *engine) keyParts(v starlark.Tuple, depth int, parts *int) error {
	if depth >= maxKeyNesting {
		return fmt.Errorf("a key is a tuple nested more than %d deep", maxKeyNesting)
	}
	for _, item := range v {
		if *parts++; *parts > maxKeyParts {
			return fmt.Errorf("a key is a tuple of more than %d parts", maxKeyParts)
		}
		switch item := item.(type) {
		case *frozenSet:
			if *parts += item.parts; *parts > maxKeyParts {
				return fmt.Errorf("a key is a tuple of more than %d parts", maxKeyParts)
			}
			if depth+item.depth >= maxKeyNesting {
				return fmt.Errorf("a key is a tuple nested more than %d deep", maxKeyNesting)
			}
		case starlark.Tuple:
			if err := e.keyParts(item, depth+1, parts); err != nil {
				return err
			}
		case starlark.Bytes:
			if err := e.chargeBytes(len(item)); err != nil {
				return err
			}
		case starlark.String:
			if err := e.chargeBytes(len(item)); err != nil {
				return err
			}
		}
	}
	return nil
}

// stopped is the error that ends the program, if it is to end.
func (e *engine) stopped() error {
	if e.outOfSteps {
		return errSteps
	}
	return nil
}
