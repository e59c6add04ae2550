package canon

// STUB: signatures only, replaced by the real package.

type Code string

const (
	CodeSyntax    Code = "syntax"    // not strict JSON, not minimal wire, bad UTF-8, trailing bytes
	CodeType      Code = "type"      // a value of another kind
	CodeMissing   Code = "missing"   // a required member is absent
	CodeUnknown   Code = "unknown"   // a member the schema does not declare
	CodeDuplicate Code = "duplicate" // a member twice
	CodeRange     Code = "range"     // minimum, maximum, multipleOf, integer bounds, not finite
	CodeLength    Code = "length"    // minLength, maxLength, minItems, maxItems
	CodePattern   Code = "pattern"
	CodeEnum      Code = "enum"
	CodeDepth     Code = "depth"
)

type Error struct {
	Path    string // filter.owner, tags[1], labels['env']; empty for the value itself
	Code    Code
	Message string // without the path: "expected string, got integer"
	Offset  int    // byte offset in the input, or -1 when writing
}

func (e *Error) Error() string { panic("stub") }

type Kind uint8

const (
	KindInvalid Kind = iota // end of input or malformed
	KindNull
	KindBool
	KindInt    // wire only
	KindFloat  // wire only
	KindNumber // JSON only
	KindString
	KindArray
	KindObject
)

type Reader struct{}

func NewJSONReader(data []byte, maxDepth int) *Reader { panic("stub") }
func NewWireReader(data []byte, maxDepth int) *Reader { panic("stub") }

func (r *Reader) Err() error                    { panic("stub") } // first error, *Error
func (r *Reader) End() error                    { panic("stub") } // Err, or trailing bytes after the value
func (r *Reader) Peek() Kind                    { panic("stub") }
func (r *Reader) Offset() int                   { panic("stub") } // of the next value (JSON: after white space)
func (r *Reader) BeginObject()                  { panic("stub") }
func (r *Reader) NextMember() bool              { panic("stub") } // false at the end of the object, or on error
func (r *Reader) Key() []byte                   { panic("stub") } // valid until the next call
func (r *Reader) UnknownMember()                { panic("stub") }
func (r *Reader) BeginArray(min, max int)       { panic("stub") }
func (r *Reader) NextElement() bool             { panic("stub") }
func (r *Reader) Null() bool                    { panic("stub") } // consumes a null and reports true
func (r *Reader) Bool() bool                    { panic("stub") }
func (r *Reader) Int(min, max int64) int64      { panic("stub") }
func (r *Reader) Float() float64                { panic("stub") }
func (r *Reader) RawNumber() string             { panic("stub") } // JSON: the literal's text
func (r *Reader) String(min, max int) string    { panic("stub") } // code points
func (r *Reader) Enum(allowed ...string) string { panic("stub") }
func (r *Reader) Skip()                         { panic("stub") } // one value of any kind, checked strictly

// Checks on a value just read; each fails at that value's path.
func (r *Reader) Match(s string, p *Pattern)      { panic("stub") }
func (r *Reader) AtLeast(v, min float64)          { panic("stub") }
func (r *Reader) AtMost(v, max float64)           { panic("stub") }
func (r *Reader) Above(v, min float64)            { panic("stub") }
func (r *Reader) Below(v, max float64)            { panic("stub") }
func (r *Reader) MultipleOf(v float64, n float64) { panic("stub") } // n and v by their shortest decimals
func (r *Reader) IntMultipleOf(v, n int64)        { panic("stub") }

// Fail records an error of the caller's at the current value.
func (r *Reader) Fail(code Code, message string) { panic("stub") }

// Seen records which declared members of one object have been read (up to 256).
type Seen struct{}

func (s *Seen) Mark(r *Reader, i int)                 { panic("stub") } // a second time: CodeDuplicate
func (s *Seen) Has(i int) bool                        { panic("stub") }
func (r *Reader) Require(s *Seen, i int, name string) { panic("stub") } // CodeMissing

// Pattern is an RE2 pattern compiled at its first use.
type Pattern struct{ Expr string }

func (p *Pattern) MatchString(s string) bool { panic("stub") }

type Writer struct{}

func NewCanonicalWriter(dst []byte) *Writer { panic("stub") } // RFC 8785
func NewWireWriter(dst []byte) *Writer      { panic("stub") }

func (w *Writer) Err() error                       { panic("stub") }
func (w *Writer) Bytes() []byte                    { panic("stub") }
func (w *Writer) BeginObject(members int)          { panic("stub") }
func (w *Writer) Key(name string)                  { panic("stub") } // callers write keys in RFC 8785 order
func (w *Writer) EndObject()                       { panic("stub") }
func (w *Writer) BeginArray(n, min, max int)       { panic("stub") }
func (w *Writer) Element(i int)                    { panic("stub") } // before each element: separator and path
func (w *Writer) EndArray()                        { panic("stub") }
func (w *Writer) Null()                            { panic("stub") }
func (w *Writer) Bool(v bool)                      { panic("stub") }
func (w *Writer) Int(v, min, max int64)            { panic("stub") }
func (w *Writer) Float(v float64)                  { panic("stub") } // -0.0 is written as 0; not finite is an error
func (w *Writer) String(s string, min, max int)    { panic("stub") }
func (w *Writer) Enum(s string, allowed ...string) { panic("stub") }
func (w *Writer) Match(s string, p *Pattern)       { panic("stub") }
func (w *Writer) AtLeast(v, min float64)           { panic("stub") }
func (w *Writer) AtMost(v, max float64)            { panic("stub") }
func (w *Writer) Above(v, min float64)             { panic("stub") }
func (w *Writer) Below(v, max float64)             { panic("stub") }
func (w *Writer) MultipleOf(v float64, n float64)  { panic("stub") }
func (w *Writer) IntMultipleOf(v, n int64)         { panic("stub") }

// Encoder is implemented by every generated type.
type Encoder interface{ Encode(w *Writer) }

// AppendCanonical appends the RFC 8785 bytes of v. v must satisfy its schema, as every decoded value does; for a value that does not it panics with the *Error.
func AppendCanonical(dst []byte, v Encoder) []byte { panic("stub") }

// AppendWire appends the wire bytes of v, or returns the *Error of the first member that breaks its schema.
func AppendWire(dst []byte, v Encoder) ([]byte, error) { panic("stub") }

// JSONOptions bounds WireToJSON.
type JSONOptions struct{ MaxDepth int }

// WireToJSON appends the JSON text of one untyped wire value: member order kept, integers outside ±(2^53-1) as decimal strings (wide reports that one was), floats shortest with ".0" when integral.
func WireToJSON(dst, wire []byte, o JSONOptions) (text []byte, wide bool, err error) { panic("stub") }
