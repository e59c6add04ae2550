package canon

import (
	"math"
	"strconv"
)

// Reader reads one value strictly, from JSON text or from wire bytes. Its
// input is hostile: everything that is not exactly what a call asks for ends
// the reading. The first error sticks; after it every call does nothing,
// returns a zero value, and NextMember and NextElement return false. So a
// decoder is straight-line code with one look at Err at its end.
//
// Work is linear in the input (n log n where Skip looks for duplicate
// members), memory is bounded by a small multiple of it. A Reader is for one
// value and one goroutine; it keeps and never changes the bytes it is given.
type Reader struct {
	data     []byte
	pos      int  // of the next byte
	start    int  // of the value read last, for its checks
	wire     bool // wire bytes, else JSON text
	ready    bool // a value may be read at pos
	maxDepth int
	depth    int // open containers
	err      *Error

	first   [inlineFrames]readFrame
	more    []readFrame // the frames beyond first
	scratch []byte      // a string or key that had escapes
	keys    keySet
}

// inlineFrames is how many levels cost no allocation. Readers and writers are
// made for every value: their size is a good part of what a small value costs.
const inlineFrames = 4

// readFrame is one open container. Its numbers are of 32 bits, which is why a
// reader takes no more bytes than that (maxInput).
type readFrame struct {
	object   bool
	keyed    bool  // a map: its keys are data
	entered  bool  // a member or element was begun
	escaped  bool  // the key literal holds escapes
	index    int32 // of the current element, or member of a map
	left     int32 // wire: members or elements not begun yet
	min, max int32 // items an array, or members a map, may have
	// keyStart and keyEnd are the current member's key in data: the wire's
	// text, or the JSON literal without its quotes.
	keyStart, keyEnd int32
	mark             int32 // Skip: where the object's keys begin in keys
}

// maxInput is how many bytes a reader takes. No input holds more members or
// elements than bytes, so that counts fit as well.
const maxInput = math.MaxInt32

// short is n for a frame: no input comes up to a bound beyond maxInput.
func short(n int) int32 { return int32(min(n, maxInput)) }

// NewJSONReader reads data, at most 2^31−1 bytes, as one JSON text (RFC 8259),
// at most maxDepth containers deep; a scalar is depth 0. It refuses, beyond
// what is no JSON, a byte order mark, text that is not UTF-8 and halves of
// surrogate pairs.
func NewJSONReader(data []byte, maxDepth int) *Reader {
	r := &Reader{data: data, maxDepth: maxDepth, ready: true}
	r.checkSize(len(data))
	return r
}

// NewWireReader reads data, at most 2^31−1 bytes, as one wire value, at most
// maxDepth containers deep; a scalar is depth 0. Only what a wire Writer writes
// is accepted.
func NewWireReader(data []byte, maxDepth int) *Reader {
	r := &Reader{data: data, maxDepth: maxDepth, ready: true, wire: true}
	r.checkSize(len(data))
	return r
}

func (r *Reader) checkSize(n int) {
	if n > maxInput {
		r.failAt(CodeSize, 0, "the value takes more than "+strconv.Itoa(maxInput)+" bytes")
	}
}

// Err is the first error, an *Error, or nil.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// End is Err, or the error of a value that was not read to its end, or of
// bytes after it. Call it after the outermost value; a decoder of a part of
// a value calls Err.
func (r *Reader) End() error {
	if r.err != nil {
		return r.err
	}
	if r.ready || r.depth > 0 {
		r.failAt(CodeSyntax, r.pos, "the value was not read to its end")
		return r.err
	}
	if !r.wire {
		r.pos = skipSpace(r.data, r.pos)
	}
	if r.pos < len(r.data) {
		r.failAt(CodeSyntax, r.pos, "unexpected data after the value")
		return r.err
	}
	return nil
}

// Peek is the kind of the next value as its first byte tells it, without
// reading it. It is KindInvalid where no value begins, and after an error.
func (r *Reader) Peek() Kind {
	if r.err != nil || !r.ready {
		return KindInvalid
	}
	r.space()
	if r.pos >= len(r.data) {
		return KindInvalid
	}
	if r.wire {
		return wireKind(r.data[r.pos])
	}
	return jsonKind(r.data[r.pos])
}

// Offset is the byte offset of the next value (JSON: after white space), or of
// what follows the last one read.
func (r *Reader) Offset() int {
	r.space()
	return r.pos
}

// Fail records an error of the caller's at the value read last, or at the
// next one if none was read. It does nothing after an error.
func (r *Reader) Fail(code Code, message string) { r.failAt(code, r.start, message) }

func (r *Reader) failAt(code Code, offset int, message string) {
	if r.err == nil {
		r.err = &Error{Path: r.path(), Code: code, Message: message, Offset: offset}
	}
}

// path leads to the current value. It is built for errors only; while reading
// a frame holds no more than where its key is.
func (r *Reader) path() string {
	var path []byte
	for i := 0; i < r.depth; i++ {
		f := r.frame(i)
		switch {
		case !f.entered:
		case f.keyed:
			path = appendKey(path, r.keyText(f))
		case f.object:
			path = appendMember(path, r.keyText(f))
		default:
			path = appendIndex(path, int(f.index))
		}
	}
	return finishPath(path)
}

func (r *Reader) keyText(f *readFrame) string {
	key := r.data[f.keyStart:f.keyEnd]
	if f.escaped {
		key = appendUnescaped(nil, key)
	}
	return string(key)
}

func (r *Reader) frame(i int) *readFrame {
	if i < inlineFrames {
		return &r.first[i]
	}
	return &r.more[i-inlineFrames]
}

// push opens a container whose value is being begun.
func (r *Reader) push(f readFrame) {
	r.ready = false
	if r.depth < inlineFrames {
		r.first[r.depth] = f
	} else {
		r.more = append(r.more[:r.depth-inlineFrames], f)
	}
	r.depth++
}

// top is the innermost container if it is of the kind asked for. The other
// case is a decoder that mixes up its calls: it must not read on.
func (r *Reader) top(object bool) *readFrame {
	if r.err != nil {
		return nil
	}
	if r.depth == 0 || r.ready {
		r.failAt(CodeSyntax, r.pos, "decoder error: a value was not read")
		return nil
	}
	f := r.frame(r.depth - 1)
	if f.object != object {
		r.failAt(CodeSyntax, r.pos, "decoder error: members of an array, or elements of an object")
		return nil
	}
	return f
}

func (r *Reader) space() {
	if !r.wire {
		r.pos = skipSpace(r.data, r.pos)
	}
}

// stands tells whether a value of JSON text begins here, without space before
// it, with c: what open finds in most texts, sooner.
func (r *Reader) stands(c byte) bool {
	return r.ready && !r.wire && r.err == nil && r.pos < len(r.data) && r.data[r.pos] == c
}

// open begins a value of the kind want and returns false, with the error
// recorded, if it is of another. For numbers want is the kind in messages;
// the callers look closer.
func (r *Reader) open(want Kind) bool {
	if r.err != nil {
		return false
	}
	if !r.ready {
		r.failAt(CodeSyntax, r.pos, "decoder error: no value stands here")
		return false
	}
	r.space()
	r.start = r.pos
	got := r.Peek()
	if got == want {
		return true
	}
	if got == KindInvalid {
		r.failInvalid()
		return false
	}
	wantsNumber := want == KindInt || want == KindFloat
	if wantsNumber && (got == KindNumber || got == KindFloat || got == KindInt && want == KindFloat) {
		return true
	}
	r.failType(want.String())
	return false
}

// failType reports the next value as being of the wrong kind. A number
// literal without fraction and exponent is called an integer.
func (r *Reader) failType(want string) {
	got := r.Peek()
	name := got.String()
	if got == KindNumber {
		_, integral, ok := scanNumber(r.data, r.pos)
		if !ok {
			r.failInvalid()
			return
		}
		if integral {
			name = KindInt.String()
		}
	}
	r.failAt(CodeType, r.pos, "expected "+want+", got "+name)
}

// failInvalid reports that no well-formed value begins at pos.
func (r *Reader) failInvalid() {
	switch {
	case r.pos >= len(r.data):
		r.failAt(CodeSyntax, r.pos, "unexpected end of input")
	case r.wire:
		r.failAt(CodeSyntax, r.pos, wireProblem(r.data[r.pos]))
	case jsonKind(r.data[r.pos]) == KindNumber:
		end, _, _ := scanNumber(r.data, r.pos)
		r.failAt(CodeSyntax, end, "malformed number")
	case r.data[r.pos] == 0xEF && r.pos == 0:
		r.failAt(CodeSyntax, r.pos, "byte order mark before the value")
	default:
		r.failUnexpected()
	}
}

// failUnexpected reports the JSON byte at pos.
func (r *Reader) failUnexpected() {
	if r.pos >= len(r.data) {
		r.failAt(CodeSyntax, r.pos, "unexpected end of input")
		return
	}
	c := r.data[r.pos]
	if c > ' ' && c < 0x7F {
		r.failAt(CodeSyntax, r.pos, "unexpected "+strconv.QuoteRune(rune(c)))
		return
	}
	r.failAt(CodeSyntax, r.pos, "unexpected byte 0x"+string([]byte{hexDigits[c>>4], hexDigits[c&15]}))
}

func jsonKind(c byte) Kind {
	switch c {
	case '{':
		return KindObject
	case '[':
		return KindArray
	case '"':
		return KindString
	case 't', 'f':
		return KindBool
	case 'n':
		return KindNull
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return KindNumber
	}
	return KindInvalid
}
