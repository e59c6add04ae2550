package canon

import (
	"math"
	"strconv"

	"github.com/tinylib/msgp/msgp"
)

// Writer writes one value as canonical JSON (RFC 8785) or as wire bytes, and
// checks it while it does: bounds, finite numbers, valid UTF-8, and that as
// many members and elements come as were announced. The first error sticks;
// after it every call does nothing. A Writer is for one value and one
// goroutine.
type Writer struct {
	buf      []byte
	base     int // length of what the caller gave
	wire     bool
	ready    bool // a value may be written
	depth    int  // open containers
	maxDepth int  // 0: no limit
	maxBytes int  // 0: no limit
	err      *Error
	compared bool    // what is written is compared, and was checked before
	report   *Report // nil: what breaks its schema is an error

	first [inlineFrames]writeFrame
	more  []writeFrame // the frames beyond first
}

// writeFrame is one open container.
type writeFrame struct {
	object bool
	keyed  bool   // a map: its keys are data
	n      int32  // announced members or elements
	count  int32  // begun so far
	key    string // of the current member
}

// NewCanonicalWriter appends RFC 8785 JSON to dst.
func NewCanonicalWriter(dst []byte) *Writer {
	return &Writer{buf: dst, base: len(dst), ready: true}
}

// NewWireWriter appends wire bytes to dst.
func NewWireWriter(dst []byte) *Writer {
	return &Writer{buf: dst, base: len(dst), ready: true, wire: true}
}

// Limit bounds what follows: how many containers may be nested (CodeDepth) and
// how many bytes may be written (CodeSize), zero for no bound. No value is
// appended that would exceed maxBytes, so that memory is bounded while a value
// of unknown size is written.
func (w *Writer) Limit(maxDepth, maxBytes int) { w.maxDepth, w.maxBytes = maxDepth, maxBytes }

// Err is the first error, an *Error, or nil.
func (w *Writer) Err() error {
	if w.err == nil {
		return nil
	}
	return w.err
}

// End is Err, or the error of a value that was not written to its end.
func (w *Writer) End() error {
	if w.err == nil && (w.ready || w.depth > 0) {
		w.fail(CodeSyntax, "encoder error: the value was not written to its end")
	}
	return w.Err()
}

// Bytes is the caller's dst with the value appended; after an error dst alone.
func (w *Writer) Bytes() []byte {
	if w.err != nil {
		return w.buf[:w.base]
	}
	return w.buf
}

// MustBytes is Bytes of a canonical writer whose value satisfies its schema, as
// every decoded value does; for one that does not it panics with the *Error,
// because bytes that stand for no valid value must never be hashed.
func (w *Writer) MustBytes() []byte {
	if err := w.End(); err != nil {
		panic(err)
	}
	return w.Bytes()
}

func (w *Writer) fail(code Code, message string) {
	if w.err == nil {
		w.err = &Error{Path: w.path(), Code: code, Message: message, Offset: -1}
	}
}

func (w *Writer) path() string {
	var path []byte
	for i := 0; i < w.depth; i++ {
		f := w.frame(i)
		switch {
		case f.count == 0:
		case f.keyed:
			path = appendKey(path, f.key)
		case f.object:
			path = appendMember(path, f.key)
		default:
			path = appendIndex(path, int(f.count)-1)
		}
	}
	return finishPath(path)
}

func (w *Writer) frame(i int) *writeFrame {
	if i < inlineFrames {
		return &w.first[i]
	}
	return &w.more[i-inlineFrames]
}

// value begins a value of about size bytes.
func (w *Writer) value(size int) bool {
	if w.err != nil {
		return false
	}
	if !w.ready {
		w.fail(CodeSyntax, "encoder error: no value stands here")
		return false
	}
	if w.maxBytes > 0 && !w.fits(size) {
		return false
	}
	w.ready = false
	return true
}

func (w *Writer) fits(size int) bool {
	if w.maxBytes > 0 && size > w.maxBytes-(len(w.buf)-w.base) {
		w.fail(CodeSize, "the value takes more than "+strconv.Itoa(w.maxBytes)+" bytes")
		return false
	}
	return true
}

// begin opens a container of n members or elements.
func (w *Writer) begin(object bool, n int) bool {
	if !w.value(1) {
		return false
	}
	if n < 0 || n > math.MaxInt32 {
		w.fail(CodeSyntax, "encoder error: bad number of members or elements")
		return false
	}
	if most := w.most(); w.depth >= most {
		w.fail(CodeDepth, "nested deeper than "+strconv.Itoa(most)+" levels")
		return false
	}
	f := writeFrame{object: object, n: int32(n)}
	if w.depth < inlineFrames {
		w.first[w.depth] = f
	} else {
		w.more = append(w.more[:w.depth-inlineFrames], f)
	}
	w.depth++
	return true
}

// unlimitedDepth bounds writers without a limit: a value that holds itself
// would otherwise never end.
const unlimitedDepth = 10_000

func (w *Writer) most() int {
	if w.maxDepth > 0 {
		return w.maxDepth
	}
	return unlimitedDepth
}

// Guard begins a value of a type that may hold itself. It returns false after
// an error, so that a value that holds itself ends at the limit of depth, and
// refuses nil, which stands for no value, as CodeMissing.
func (w *Writer) Guard(isNil bool) bool {
	if isNil {
		w.fail(CodeMissing, "required, but nil")
	}
	return w.err == nil
}

// top is the innermost container if it is of the kind asked for and its last
// value was written.
func (w *Writer) top(object bool) *writeFrame {
	if w.err != nil {
		return nil
	}
	if w.ready || w.depth == 0 || w.frame(w.depth-1).object != object {
		w.fail(CodeSyntax, "encoder error: calls out of order")
		return nil
	}
	return w.frame(w.depth - 1)
}

// next begins a member or element of f.
func (w *Writer) next(f *writeFrame) bool {
	if f.count >= f.n {
		w.fail(CodeSyntax, "encoder error: more members or elements than announced")
		return false
	}
	if f.count > 0 && !w.wire {
		w.buf = append(w.buf, ',')
	}
	f.count++
	w.ready = true
	return true
}

// end closes the innermost container.
func (w *Writer) end(object bool, closing byte) {
	f := w.top(object)
	if f == nil {
		return
	}
	if f.count != f.n {
		w.fail(CodeSyntax, "encoder error: fewer members or elements than announced")
		return
	}
	if !w.wire && w.fits(1) {
		w.buf = append(w.buf, closing)
	}
	w.depth--
}

// BeginObject begins an object of exactly that many members.
func (w *Writer) BeginObject(members int) {
	if !w.begin(true, members) {
		return
	}
	if w.wire {
		w.buf = msgp.AppendMapHeader(w.buf, uint32(members))
	} else {
		w.buf = append(w.buf, '{')
	}
}

// Key begins a member and returns w, to write its value. Callers write keys in
// RFC 8785 order (CompareKeys): a canonical writer refuses any other, and a key
// twice.
func (w *Writer) Key(name string) *Writer {
	f := w.top(true)
	if f == nil || w.maxBytes > 0 && !w.fits(len(name)+2) {
		return w
	}
	if !w.wire && f.count > 0 && CompareKeys(f.key, name) >= 0 {
		w.fail(CodeSyntax, "encoder error: member "+quoted(name)+" out of order")
		return w
	}
	if !w.next(f) {
		return w
	}
	f.key = name
	plain := isPlain(name)
	if !plain && !w.validText(name) {
		return w
	}
	switch {
	case w.wire:
		w.buf = msgp.AppendString(w.buf, name)
	case plain:
		w.buf = append(append(append(w.buf, '"'), name...), '"', ':')
	default:
		w.buf = append(appendJSONString(w.buf, name), ':')
	}
	return w
}

// EndObject ends the object.
func (w *Writer) EndObject() { w.end(true, '}') }

// BeginArray begins an array of exactly n elements, of which there must be min
// to max, both included.
func (w *Writer) BeginArray(n, min, max int) {
	if w.err != nil {
		return
	}
	if problem := checkLength(n, min, max, "item"); problem != "" && w.breach(CodeLength, problem) {
		return
	}
	if !w.begin(false, n) {
		return
	}
	if w.wire {
		w.buf = msgp.AppendArrayHeader(w.buf, uint32(n))
	} else {
		w.buf = append(w.buf, '[')
	}
}

// Element begins element i and returns w, to write it.
func (w *Writer) Element(i int) *Writer {
	f := w.top(false)
	if f == nil {
		return w
	}
	if i != int(f.count) {
		w.fail(CodeSyntax, "encoder error: elements out of order")
		return w
	}
	w.next(f)
	return w
}

// EndArray ends the array.
func (w *Writer) EndArray() { w.end(false, ']') }
