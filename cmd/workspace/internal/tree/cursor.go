package tree

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
)

// MaxCursorBytes bounds the text of a cursor.
const MaxCursorBytes = 16384

// position is what a cursor holds. Which fields are used depends on the
// request; the others are zero.
type position struct {
	// After is the last path that was dealt with. Bytes of names on disk: it
	// is compared, never opened. It may end with doneSuffix.
	After string
	// File is the path of the file that the page ended in.
	File string
	// Index of an item of the request.
	Index int64
	// Offset, in bytes, and Line, counting from 1, where reading goes on; for
	// a search Line is the last line that was dealt with.
	Offset, Line int64
	// Size and Modified (nanoseconds since 1970) of the file then.
	Size, Modified int64
}

// doneSuffix after the path of a directory says that it was dealt with whole:
// no name on disk holds a NUL.
const doneSuffix = "/\x00"

// A cursor is base64url of: 8 bytes of the digest of the request it belongs
// to, 4 bytes of the digest of what follows, two strings and five integers.
// The digests detect mistakes. They are no authentication and need none: a
// forged position reaches nothing that its request may not reach.
func (p position) cursor(request string) string {
	payload := appendString(appendString(nil, p.After), p.File)
	for _, n := range []int64{p.Index, p.Offset, p.Line, p.Size, p.Modified} {
		payload = binary.AppendVarint(payload, n)
	}
	belongs, check := sha256.Sum256([]byte(request)), sha256.Sum256(payload)
	all := append(append(belongs[:8:8], check[:4]...), payload...)
	return base64.RawURLEncoding.EncodeToString(all)
}

// parseCursor reads a cursor of the given request; "" is its beginning.
func parseCursor(text, request string) (position, error) {
	if text == "" {
		return position{}, nil
	}
	bad := invalid("this is not a cursor that a page of this capability returned")
	if len(text) > MaxCursorBytes {
		return position{}, bad
	}
	all, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") || len(all) < 12 {
		return position{}, bad
	}
	payload := all[12:]
	if belongs := sha256.Sum256([]byte(request)); string(belongs[:8]) != string(all[:8]) {
		return position{}, invalid("the cursor belongs to a request with other arguments; repeat them all, change only cursor")
	}
	var p position
	var ok bool
	if p.After, payload, ok = cutString(payload); !ok {
		return position{}, bad
	}
	if p.File, payload, ok = cutString(payload); !ok {
		return position{}, bad
	}
	for _, n := range []*int64{&p.Index, &p.Offset, &p.Line, &p.Size, &p.Modified} {
		value, size := binary.Varint(payload)
		if size <= 0 {
			return position{}, bad
		}
		*n, payload = value, payload[size:]
	}
	if len(payload) != 0 || p.Index < 0 || p.Offset < 0 || p.Line < 0 || p.Size < 0 {
		return position{}, bad
	}
	// Only what cursor would have written is a cursor; this compares the digest
	// of the payload, too.
	if p.cursor(request) != text {
		return position{}, bad
	}
	if strings.Contains(strings.TrimSuffix(p.After, doneSuffix), "\x00") || strings.Contains(p.File, "\x00") {
		return position{}, bad
	}
	return p, nil
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func cutString(b []byte) (string, []byte, bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return "", nil, false
	}
	b = b[size:]
	return string(b[:n]), b[n:], true
}

// identity is a text that tells requests apart: Go syntax, in which every
// string is quoted. No part may hold a pointer.
func identity(parts ...any) string { return fmt.Sprintf("%#v", parts) }
