package program

import (
	"sort"
	"unicode/utf8"
	"unsafe"

	"github.com/capgen/capgen/runtime/program/text"
)

// points finds code points in one text: what a loop that searches through a
// long text would count anew each time. Strings do not change, and one that is
// kept here keeps its bytes where they are.
type points struct {
	s     string
	n     int     // code points
	marks []int32 // where each code point begins whose number markEvery divides; nil for ASCII
}

const (
	markEvery = 128
	// Shorter texts are looked at in no time, and longer ones would be kept
	// from being collected.
	pointsFrom = 256
	pointsTo   = 4 << 20
)

// pointsCache are those of the long texts that were looked at last.
type pointsCache struct {
	texts [4]points
	next  int
}

// points are those of s, charged for when they are counted.
func (e *engine) points(s string) (points, error) {
	c := &e.pointsOf
	if len(s) >= pointsFrom {
		for i := range c.texts {
			if t := c.texts[i].s; len(t) == len(s) && unsafe.StringData(t) == unsafe.StringData(s) {
				return c.texts[i], nil
			}
		}
	}
	p := points{s: s, n: len(s)}
	if !text.IsASCII(s) {
		p.n = 0
		p.marks = make([]int32, 0, len(s)/markEvery+1)
		for i := range s {
			if p.n%markEvery == 0 {
				p.marks = append(p.marks, int32(i))
			}
			p.n++
		}
	}
	if len(s) >= pointsFrom && len(s) <= pointsTo {
		c.texts[c.next] = p
		c.next = (c.next + 1) % len(c.texts)
	}
	return p, e.chargeBytes(2 * len(s))
}

// offset is the byte where code point n begins, len(s) for the end.
func (p *points) offset(n int) int {
	switch {
	case p.marks == nil:
		return min(n, len(p.s))
	case n >= p.n:
		return len(p.s)
	}
	at := int(p.marks[n/markEvery])
	for range n % markEvery {
		_, size := utf8.DecodeRuneInString(p.s[at:])
		at += size
	}
	return at
}

// number is the code point that begins at a byte.
func (p *points) number(at int) int {
	if p.marks == nil {
		return at
	}
	mark := sort.Search(len(p.marks), func(i int) bool { return int(p.marks[i]) > at }) - 1
	return mark*markEvery + utf8.RuneCountInString(p.s[p.marks[mark]:at])
}

// slice is s[from:to] in code points.
func (p *points) slice(from, to int) string {
	return p.s[p.offset(from):p.offset(to)]
}

// window is s[start:end] as methods that search take it, and the byte where it
// begins; ok is false where start is behind its end.
func (p *points) window(start, end int) (part string, from int, ok bool) {
	if start < 0 {
		start = max(start+p.n, 0)
	}
	if end < 0 {
		end = max(end+p.n, 0)
	}
	end = min(end, p.n)
	if start > end {
		return "", 0, false
	}
	from = p.offset(start)
	return p.s[from:p.offset(end)], from, true
}
