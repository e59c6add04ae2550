package program

import (
	"unsafe"

	"github.com/capgen/capgen/runtime/program/text"
)

// asciiCache remembers of the texts that were looked at last whether they are
// ASCII: a loop that searches through one text looks at it once. Strings do not
// change, and those that are kept here keep their bytes where they are.
type asciiCache struct {
	texts [4]string
	ascii [4]bool
	next  int
}

const (
	// Shorter texts are looked at in no time, and longer ones would be kept
	// from being collected.
	asciiFrom = 256
	asciiTo   = 4 << 20
)

// isASCII is text.IsASCII(s), charged for.
func (e *engine) isASCII(s string) (bool, error) {
	if len(s) < asciiFrom {
		return text.IsASCII(s), nil
	}
	c := &e.asciis
	for i, t := range c.texts {
		if len(t) == len(s) && unsafe.StringData(t) == unsafe.StringData(s) {
			return c.ascii[i], nil
		}
	}
	is := text.IsASCII(s)
	if len(s) <= asciiTo {
		c.texts[c.next], c.ascii[c.next] = s, is
		c.next = (c.next + 1) % len(c.texts)
	}
	return is, e.chargeBytes(len(s))
}

// window is s[start:end] of an ASCII text, as methods that search take it, and
// where it begins; ok is false where start is behind its end.
func window(s string, start, end int) (part string, from int, ok bool) {
	n := len(s)
	if start < 0 {
		start = max(start+n, 0)
	}
	if end < 0 {
		end = max(end+n, 0)
	}
	end = min(end, n)
	if start > end {
		return "", 0, false
	}
	return s[start:end], start, true
}
