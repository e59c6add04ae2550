package canon

import (
	"math"
	"strconv"
)

// BeginObject enters an object. NextMember then walks through it.
func (r *Reader) BeginObject() {
	if !r.open(KindObject) || !r.deeper() {
		return
	}
	if !r.wire {
		r.pos++
		r.push(readFrame{object: true})
		return
	}
	n, ok := r.wireMapHeader()
	if !ok {
		return
	}
	r.push(readFrame{object: true, left: short(n)})
}

// NextMember reads the next member's key and stands before its value. It
// returns false at the end of the object, which it leaves, or on error.
func (r *Reader) NextMember() bool {
	f := r.top(true)
	if f == nil {
		return false
	}
	if r.wire {
		if f.left == 0 {
			r.pop()
			return false
		}
		f.left--
		f.entered = false // an error in the key is not the last member's
		key, ok := r.wireString()
		if !ok {
			return false
		}
		f.keyStart, f.keyEnd = short(r.pos-len(key)), short(r.pos)
	} else {
		if !r.nextJSON(f, '}') {
			return false
		}
		f.entered = false
		if f.keyed && f.index+1 >= f.max {
			offset, most := r.pos, f.max
			r.leave()
			r.failAt(CodeLength, offset, "expected at most "+count(int(most), "member")+", got more")
			return false
		}
		if r.pos >= len(r.data) || r.data[r.pos] != '"' {
			r.failUnexpected()
			return false
		}
		end, escaped := plainEnd(r.data, r.pos)+1, false
		if end == 0 {
			s := scanString(r.data, r.pos)
			if s.problem != "" {
				r.failAt(CodeSyntax, s.end, s.problem)
				return false
			}
			end, escaped = s.end, s.escaped
		}
		f.keyStart, f.keyEnd, f.escaped = int32(r.pos+1), int32(end-1), escaped
		f.entered = true
		r.pos = skipSpace(r.data, end)
		if r.pos >= len(r.data) || r.data[r.pos] != ':' {
			r.failUnexpected()
			return false
		}
		r.pos = skipSpace(r.data, r.pos+1)
	}
	if f.keyed {
		f.index++
	}
	f.entered = true
	r.ready = true
	r.start = r.pos
	return true
}

// Key is the key of the member that NextMember entered. The bytes are valid
// until the next call on r and must not be changed.
func (r *Reader) Key() []byte {
	if r.err != nil || r.depth == 0 {
		return nil
	}
	f := r.frame(r.depth - 1)
	if !f.object || !f.entered {
		return nil
	}
	key := r.data[f.keyStart:f.keyEnd]
	if f.escaped {
		r.scratch = appendUnescaped(r.scratch[:0], key)
		return r.scratch
	}
	return key
}

// UnknownMember refuses the member whose key was just read.
func (r *Reader) UnknownMember() { r.failAt(CodeUnknown, r.start, "unknown member") }

// BeginArray enters an array of min to max items, both included. NextElement
// then walks through it.
func (r *Reader) BeginArray(min, max int) {
	if !r.open(KindArray) || !r.deeper() {
		return
	}
	if !r.wire {
		r.pos++
		r.push(readFrame{index: -1, min: short(min), max: short(max)})
		return
	}
	n, ok := r.wireArrayHeader()
	if !ok {
		return
	}
	if problem := checkLength(n, min, max, "item"); problem != "" {
		r.failAt(CodeLength, r.start, problem)
		return
	}
	r.push(readFrame{index: -1, min: short(min), max: short(max), left: short(n)})
}

// NextElement stands before the next element. It returns false at the end of
// the array, which it leaves, or on error.
func (r *Reader) NextElement() bool {
	f := r.top(false)
	if f == nil {
		return false
	}
	if r.wire {
		if f.left == 0 {
			r.pop()
			return false
		}
		f.left--
	} else {
		if !r.nextJSON(f, ']') {
			return false
		}
		if f.index+1 >= f.max {
			offset, most := r.pos, f.max
			r.leave()
			r.failAt(CodeLength, offset, "expected at most "+count(int(most), "item")+", got more")
			return false
		}
	}
	f.index++
	f.entered = true
	r.ready = true
	r.start = r.pos
	return true
}

// nextJSON moves over the comma before a member or element, or over the end
// of the container, and returns false then and on error.
func (r *Reader) nextJSON(f *readFrame, closing byte) bool {
	r.space()
	if r.pos >= len(r.data) {
		r.failUnexpected()
		return false
	}
	switch c := r.data[r.pos]; {
	case c == closing:
		r.pos++
		r.pop()
		return false
	case !f.entered:
		return true
	case c == ',':
		r.pos = skipSpace(r.data, r.pos+1)
		return true
	}
	r.failUnexpected()
	return false
}

// pop leaves the innermost container at its end.
func (r *Reader) pop() {
	f := r.frame(r.depth - 1)
	items, least := int(f.index)+1, int(f.min)
	object, keyed := f.object, f.keyed
	r.leave()
	switch {
	case items >= least:
	case keyed:
		r.failAt(CodeLength, r.pos, checkLength(items, least, math.MaxInt, "member"))
	case !object:
		r.failAt(CodeLength, r.pos, checkLength(items, least, math.MaxInt, "item"))
	}
}

func (r *Reader) leave() {
	r.depth--
	r.ready = false
}

// deeper tells whether one more container may be opened.
func (r *Reader) deeper() bool {
	if r.depth < r.maxDepth {
		return true
	}
	r.failAt(CodeDepth, r.start, "nested deeper than "+strconv.Itoa(max(r.maxDepth, 0))+" levels")
	return false
}

// maxMembers is how many declared members one object may have.
const maxMembers = 256

// Seen records which declared members of one object have been read. The zero
// Seen is empty; members are numbered from 0 to 255.
type Seen struct{ bits [maxMembers / 64]uint64 }

// Mark records member i, whose key r has just read, and returns r to read its
// value; a second time is refused as CodeDuplicate.
func (s *Seen) Mark(r *Reader, i int) *Reader {
	if s.Has(i) || uint(i) >= maxMembers {
		r.again(i)
	} else {
		s.bits[uint(i)/64] |= 1 << (uint(i) % 64)
	}
	return r
}

func (r *Reader) again(i int) {
	if uint(i) >= maxMembers {
		r.failAt(CodeSyntax, r.start, "decoder error: more than 256 members")
		return
	}
	r.failAt(CodeDuplicate, r.start, "given twice")
}

// Has tells whether member i was read.
func (s *Seen) Has(i int) bool {
	return uint(i) < maxMembers && s.bits[uint(i)/64]>>(uint(i)%64)&1 != 0
}

// Require refuses an object, just left by NextMember, without member i, which
// is called name.
func (r *Reader) Require(s *Seen, i int, name string) {
	if !s.Has(i) {
		r.missing(name)
	}
}

func (r *Reader) missing(name string) {
	if r.err != nil {
		return
	}
	path := finishPath(appendMember([]byte(r.path()), name))
	r.err = &Error{Path: path, Code: CodeMissing, Message: "required, but missing", Offset: r.pos}
}
