package canon

// Encoder is implemented by every generated type.
type Encoder interface{ Encode(w *Writer) }

// AppendCanonical appends the RFC 8785 bytes of v. v must satisfy its schema,
// as every decoded value does; for one that does not it panics with the *Error,
// because bytes that stand for no valid value must never be hashed.
func AppendCanonical(dst []byte, v Encoder) []byte {
	w := NewCanonicalWriter(dst)
	v.Encode(w)
	return w.MustBytes()
}

// AppendWire appends the wire bytes of v, or returns dst and the *Error of the
// first member that breaks its schema.
func AppendWire(dst []byte, v Encoder) ([]byte, error) {
	w := NewWireWriter(dst)
	v.Encode(w)
	err := w.End()
	return w.Bytes(), err
}
