package canon

import (
	"math"
	"strconv"
)

// MaxOpaqueDepth is how many containers an Opaque made by ParseOpaque may
// nest. One that is read in place is bounded by its reader.
const MaxOpaqueDepth = 32

// Opaque is a JSON value that no schema describes, as its text in one fixed
// form: members in the order of CompareKeys, shortest strings and numbers,
// no white space. It is immutable, compares with ==, and its zero value is
// null.
//
// In arguments, which Decode reads, the form is RFC 8785's, and a number that
// the form would write as an integer outside ±MaxInteger is refused with its
// path, never rounded. In results, which ParseOpaque makes, integers of 64
// bits stand exactly, and floats from 2^53 to 10^21, which RFC 8785 would
// write as integers, with an exponent.
type Opaque struct{ text string } // empty for null

// ParseOpaque reads one strict JSON text, at most MaxOpaqueDepth deep, for a
// result. An integer beyond 64 bits is refused, as is all that NewJSONReader
// and CanonicalizeJSON refuse otherwise; the error is an *Error.
func ParseOpaque(json []byte) (Opaque, error) {
	return parseOpaque(canonicalizer{r: NewJSONReader(json, MaxOpaqueDepth), exact: true})
}

// CanonicalOpaque is ParseOpaque of what a canonical writer has written. That
// writes no integer outside ±MaxInteger, so what reads as one is a float.
func CanonicalOpaque(json []byte) (Opaque, error) {
	return parseOpaque(canonicalizer{r: NewJSONReader(json, MaxOpaqueDepth), exact: true, written: true})
}

func parseOpaque(c canonicalizer) (Opaque, error) {
	text := c.value(nil)
	if err := c.r.End(); err != nil {
		return Opaque{}, err
	}
	return opaque(text), nil
}

// MustOpaque is ParseOpaque of a constant. It panics with the *Error.
func MustOpaque(json string) Opaque {
	o, err := ParseOpaque([]byte(json))
	if err != nil {
		panic(err)
	}
	return o
}

func opaque(text []byte) Opaque {
	if string(text) == jsonNull {
		return Opaque{}
	}
	return Opaque{string(text)}
}

const jsonNull = "null"

// String is the JSON text.
func (v Opaque) String() string {
	if v.text == "" {
		return jsonNull
	}
	return v.text
}

// JSON is the JSON text in bytes of the caller's own.
func (v Opaque) JSON() []byte { return []byte(v.String()) }

// IsNull tells whether v is null.
func (v Opaque) IsNull() bool { return v.text == "" }

// Equal tells whether v and w are the same text.
func (v Opaque) Equal(w Opaque) bool { return v == w }

// Decode reads any one value as an argument.
func (v *Opaque) Decode(r *Reader) error {
	c := canonicalizer{r: r}
	text := c.value(nil)
	*v = Opaque{}
	if r.err == nil {
		*v = opaque(text)
	}
	return r.Err()
}

// Encode writes v. A canonical writer refuses a number that it would write as
// an integer outside ±MaxInteger; a wire writer keeps integers of 64 bits.
func (v *Opaque) Encode(w *Writer) {
	if w.err != nil {
		return
	}
	text := []byte(v.String())
	o := opaqueWriter{w: w, r: NewJSONReader(text, math.MaxInt)}
	o.count(NewJSONReader(text, math.MaxInt))
	o.value()
	if err := o.r.err; err != nil {
		w.fail(CodeSyntax, "encoder error: "+err.Message)
	}
}

// AppendCanonical appends the RFC 8785 bytes of v, which must hold no integer
// outside ±MaxInteger.
func (v *Opaque) AppendCanonical(b []byte) []byte { return AppendCanonical(b, v) }

// opaqueWriter writes a text that is in Opaque's form. Containers announce
// how much they hold, so that it is counted first.
type opaqueWriter struct {
	w     *Writer
	r     *Reader
	sizes []int // of the containers, in the order in which they begin
	next  int
}

// count goes over the whole value once.
func (o *opaqueWriter) count(r *Reader) {
	switch r.Peek() {
	case KindArray:
		i := len(o.sizes)
		o.sizes = append(o.sizes, 0)
		r.BeginArray(0, math.MaxInt)
		for r.NextElement() {
			o.sizes[i]++
			o.count(r)
		}
	case KindObject:
		i := len(o.sizes)
		o.sizes = append(o.sizes, 0)
		r.BeginObject()
		for r.NextMember() {
			o.sizes[i]++
			o.count(r)
		}
	default:
		r.Skip()
	}
}

func (o *opaqueWriter) size() int {
	o.next++
	return o.sizes[o.next-1]
}

// value recurses once per level, which the parser of the text has bounded.
func (o *opaqueWriter) value() {
	r, w := o.r, o.w
	if w.err != nil {
		return
	}
	switch r.Peek() {
	case KindNull:
		r.Null()
		w.Null()
	case KindBool:
		w.Bool(r.Bool())
	case KindNumber:
		o.number()
	case KindString:
		w.String(r.String(0, math.MaxInt), 0, math.MaxInt)
	case KindArray:
		n := o.size()
		w.BeginArray(n, 0, math.MaxInt)
		r.BeginArray(0, math.MaxInt)
		for i := 0; w.err == nil && r.NextElement(); i++ {
			w.Element(i)
			o.value()
		}
		w.EndArray()
	case KindObject:
		w.BeginObject(o.size())
		r.BeginObject()
		for w.err == nil && r.NextMember() {
			w.Key(string(r.Key()))
			o.value()
		}
		w.EndObject()
	default:
		r.Skip() // no value: says why
	}
}

func (o *opaqueWriter) number() {
	lit := o.r.RawNumber()
	if n, err := strconv.ParseInt(lit, 10, 64); err == nil {
		if o.w.wire {
			o.w.Int(n, math.MinInt64, math.MaxInt64)
		} else {
			o.w.Int(n, -MaxInteger, MaxInteger)
		}
		return
	}
	f, err := strconv.ParseFloat(lit, 64)
	switch {
	case err != nil:
		o.w.fail(CodeRange, "expected a number in the range of a 64-bit float, got "+cutLiteral([]byte(lit)))
	case !o.w.wire && readsAsWideInteger(f):
		o.w.fail(CodeRange, expectedInteger(-MaxInteger, MaxInteger, lit))
	default:
		o.w.Float(f)
	}
}

// readsAsWideInteger tells whether RFC 8785 writes f as an integer outside
// ±MaxInteger: below 10^21 it writes no exponent.
func readsAsWideInteger(f float64) bool {
	a := math.Abs(f)
	return a > MaxInteger && a < 1e21
}
