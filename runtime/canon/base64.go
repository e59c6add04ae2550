package canon

import (
	"bytes"
	"encoding/base64"
)

// Bytes stand as base64 text in every form but Go's and a program's, and only in
// one form: the alphabet of RFC 4648 section 4, padded, no line ends, no bits
// set that the padding drops.

// Base64 reads base64 text of min to max characters, both included. No bytes
// are nil.
func (r *Reader) Base64(min, max int) []byte {
	text, points, ok := r.text()
	if !ok {
		return nil
	}
	if problem := checkLength(points, min, max, "base64 character"); problem != "" {
		r.failAt(CodeLength, r.start, problem)
		return nil
	}
	if len(text) == 0 {
		return nil
	}
	// The decoder of the standard library skips line ends.
	out := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Strict().Decode(out, text)
	if err != nil || bytes.ContainsAny(text, "\r\n") {
		r.failAt(CodePattern, r.start, "expected base64 text with padding (RFC 4648 section 4)")
		return nil
	}
	return out[:n:n]
}

// Base64 writes b as base64 text of min to max characters, both included.
func (w *Writer) Base64(b []byte, min, max int) {
	size := base64.StdEncoding.EncodedLen(len(b))
	if !w.value(size + stringOverhead) {
		return
	}
	if problem := checkLength(size, min, max, "base64 character"); problem != "" && w.breach(CodeLength, problem) {
		return
	}
	w.text(base64.StdEncoding.EncodeToString(b))
}

// ValidBase64 tells whether s is what Writer.Base64 writes for some bytes.
func ValidBase64(s string) bool {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	return err == nil && base64.StdEncoding.EncodeToString(b) == s
}
