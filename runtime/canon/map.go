package canon

import (
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/tinylib/msgp/msgp"
)

// A map is an object whose keys are data: any number of members, any keys. Its
// members are walked like those of an object, by NextMember; in paths they
// stand as labels['env'], so that no key looks like a declared name.

// BeginMap enters a map of min to max members, both included. NextMember then
// walks through it.
func (r *Reader) BeginMap(min, max int) {
	if !r.open(KindObject) || !r.deeper() {
		return
	}
	if !r.wire {
		r.pos++
		r.push(readFrame{object: true, keyed: true, index: -1, min: short(min), max: short(max)})
		return
	}
	n, ok := r.wireMapHeader()
	if !ok {
		return
	}
	if problem := checkLength(n, min, max, "member"); problem != "" {
		r.failAt(CodeLength, r.start, problem)
		return
	}
	r.push(readFrame{object: true, keyed: true, index: -1, min: short(min), max: short(max), left: short(n)})
}

// MapKey is a copy of the key of the member that NextMember entered, which has
// min to max code points, both included.
func (r *Reader) MapKey(min, max int) string {
	key := string(r.Key())
	if r.err == nil {
		if problem := checkLength(utf8.RuneCountInString(key), min, max, "character"); problem != "" {
			r.failAt(CodeLength, r.start, keyProblem+problem)
		}
	}
	return key
}

// keyProblem begins messages about a key, whose path is its member's.
const keyProblem = "the key: "

// MatchKey checks a key against a pattern.
func (r *Reader) MatchKey(key string, p *Pattern) {
	if r.err == nil && !p.MatchString(key) {
		r.failAt(CodePattern, r.start, keyProblem+noMatch(p))
	}
}

// Put adds a member that r has read to m, and makes m for the first one. A key
// that is there already is refused as CodeDuplicate. An empty map stays nil.
func Put[T any](r *Reader, m *map[string]T, key string, value T) {
	if r.err != nil {
		return
	}
	if _, twice := (*m)[key]; twice {
		r.failAt(CodeDuplicate, r.start, "given twice")
		return
	}
	if *m == nil {
		*m = make(map[string]T)
	}
	(*m)[key] = value
}

// SortedKeys are the keys of m in RFC 8785 order.
func SortedKeys[T any](m map[string]T) []string {
	return slices.SortedFunc(maps.Keys(m), CompareKeys)
}

// BeginMap begins a map of exactly n members, of which there must be min to
// max, both included.
func (w *Writer) BeginMap(n, min, max int) {
	if w.err != nil {
		return
	}
	if problem := checkLength(n, min, max, "member"); problem != "" && w.breach(CodeLength, problem) {
		return
	}
	if !w.begin(true, n) {
		return
	}
	w.frame(w.depth - 1).keyed = true
	if w.wire {
		w.buf = msgp.AppendMapHeader(w.buf, uint32(n))
	} else {
		w.buf = append(w.buf, '{')
	}
}

// MapKey begins a member of a map, whose key has min to max code points, and
// returns w, to write its value. Order is as for Key.
func (w *Writer) MapKey(key string, min, max int) *Writer {
	w.Key(key)
	if w.err == nil {
		if problem := checkLength(utf8.RuneCountInString(key), min, max, "character"); problem != "" {
			w.breach(CodeLength, keyProblem+problem)
		}
	}
	return w
}

// MatchKey checks the key of the member begun last against a pattern.
func (w *Writer) MatchKey(key string, p *Pattern) {
	if w.err == nil && !p.MatchString(key) {
		w.breach(CodePattern, keyProblem+noMatch(p))
	}
}

// EndMap ends the map.
func (w *Writer) EndMap() { w.end(true, '}') }
