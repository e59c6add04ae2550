package canon

import (
	"bytes"
	"math"
	"slices"
	"strconv"
)

// Skip reads one value of any kind and keeps nothing of it. It checks it as
// strictly as a decoder would: grammar, depth, UTF-8, finite numbers, and no
// member twice in any object.
func (r *Reader) Skip() {
	base := r.depth
	for {
		r.skipOne()
		for r.depth > base && !r.skipNext() {
		}
		if r.err != nil || r.depth == base {
			return
		}
	}
}

// skipOne reads a scalar or enters a container.
func (r *Reader) skipOne() {
	switch r.Peek() {
	case KindNull:
		r.Null()
	case KindBool:
		r.Bool()
	case KindString:
		r.text()
	case KindInt:
		r.Int(math.MinInt64, math.MaxInt64)
	case KindFloat:
		r.SignedFloat()
	case KindNumber:
		r.skipNumber()
	case KindArray:
		r.BeginArray(0, math.MaxInt)
	case KindObject:
		r.BeginObject()
		if r.err == nil {
			r.frame(r.depth - 1).mark = short(r.keys.len())
		}
	default:
		r.open(KindNull) // no value: says why
	}
}

// skipNumber checks a JSON number. Literals of few digits without exponent
// are finite without a closer look.
func (r *Reader) skipNumber() {
	lit, integral, ok := r.number()
	if !ok {
		return
	}
	r.start = r.pos
	if !integral || len(lit) > 300 {
		if _, err := strconv.ParseFloat(string(lit), 64); err != nil {
			r.failAt(CodeRange, r.start, "expected a number in the range of a 64-bit float, got "+cutLiteral(lit))
			return
		}
	}
	r.took(len(lit))
}

// skipNext stands before the next value of the innermost container, or leaves
// the container and returns false. After an error it returns true.
func (r *Reader) skipNext() bool {
	f := r.frame(r.depth - 1)
	if !f.object {
		return r.NextElement() || r.err != nil
	}
	mark := int(f.mark)
	if r.NextMember() {
		r.keys.add(r.Key(), r.start, f.escaped)
		return true
	}
	if r.err == nil {
		r.checkKeys(mark)
	}
	return r.err != nil
}

// checkKeys refuses the object just left if a key from mark on stands twice.
func (r *Reader) checkKeys(mark int) {
	key, offset, twice := r.keys.release(mark)
	if !twice || r.err != nil {
		return
	}
	path := finishPath(appendMember([]byte(r.path()), string(key)))
	r.err = &Error{Path: path, Code: CodeDuplicate, Message: "given twice", Offset: offset}
}

// keySet holds the keys of the open objects whose members are not known
// beforehand, innermost last. Sorting finds duplicates in n log n whatever the
// keys are; a hash table could be made to degrade.
type keySet struct {
	refs  []keyRef
	arena []byte // keys that had escapes
}

type keyRef struct {
	key    []byte
	offset int // of the member's value
}

func (k *keySet) len() int { return len(k.refs) }

// add notes one key; copied says that the bytes will not last.
func (k *keySet) add(key []byte, offset int, copied bool) {
	if copied {
		from := len(k.arena)
		k.arena = append(k.arena, key...)
		key = k.arena[from:len(k.arena):len(k.arena)]
	}
	k.refs = append(k.refs, keyRef{key: key, offset: offset})
}

// release drops the keys from mark on and returns the first one, in the order
// of the input, that had been there before.
func (k *keySet) release(mark int) (key []byte, offset int, twice bool) {
	refs := k.refs[mark:]
	slices.SortFunc(refs, func(a, b keyRef) int {
		if c := bytes.Compare(a.key, b.key); c != 0 {
			return c
		}
		return a.offset - b.offset
	})
	for i := 1; i < len(refs); i++ {
		if bytes.Equal(refs[i-1].key, refs[i].key) && (!twice || refs[i].offset < offset) {
			key, offset, twice = refs[i].key, refs[i].offset, true
		}
	}
	k.refs = k.refs[:mark]
	if mark == 0 {
		k.arena = k.arena[:0]
	}
	return key, offset, twice
}
