package program

import "go.starlark.net/starlark"

// keys goes over a dict by its keys and fails, as CPython does, when the dict
// changes its size meanwhile. Keys that take the place of others are reached
// behind those that stay; the dict fails where that makes more than there were.
func (e *engine) keys(d *starlark.Dict, shown func(key starlark.Value) starlark.Value) *loop {
	keys := d.Keys()
	n, removals := len(keys), e.removals
	// Without removals, of which only those of other dicts are usual, there can
	// be no other keys.
	stale := func(at int) bool {
		if removals == e.removals {
			return false
		}
		if at >= len(keys) {
			removals = e.removals // so that it is looked for once
			return true
		}
		_, found, _ := d.Get(keys[at])
		return !found
	}
	return &loop{engine: e, next: func(l *loop) (starlark.Value, bool) {
		if d.Len() != n {
			e.endEarly(raise("RuntimeError", "dictionary changed size during iteration"))
			n = -1 // and from now on
			return nil, false
		}
		if stale(l.at) {
			if err := e.chargeCopy(2 * n); err != nil {
				e.endEarly(err)
				return nil, false
			}
			keys = append(keys[:l.at:l.at], left(keys, l.at, d.Keys())...)
		}
		if l.at >= len(keys) {
			return nil, false
		}
		if l.at >= n {
			e.endEarly(raise("RuntimeError", "dictionary keys changed during iteration"))
			return nil, false
		}
		return shown(keys[l.at]), true
	}}
}

// left are the keys that a loop has before it, which went over at keys of
// before, in a dict that has the keys of now. Those that stayed have kept their
// order, and others stand behind them.
func left(before []starlark.Value, at int, now []starlark.Value) []starlark.Value {
	i := 0
	for n, key := range now {
		j := i
		for j < len(before) && !sameKey(before[j], key) {
			j++
		}
		if j == len(before) {
			return now[n:]
		}
		if j >= at {
			return now[n:]
		}
		i = j + 1
	}
	return nil
}

// sameKey tells whether two keys of one dict are one.
func sameKey(x, y starlark.Value) bool {
	equal, err := starlark.Equal(x, y)
	return err == nil && equal
}
