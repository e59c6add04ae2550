package canon

import "strconv"

// Items of an array with uniqueItems differ in their canonical bytes: 1 and
// 1.0 are one value, and so are objects whose members come in another order.
// Each item is written once and looked up in a hash table, so that the work is
// in proportion to the items' size whoever chose them.

// Unique refuses an array, just left by NextElement, of whose n items two are
// equal. write writes item i.
func (r *Reader) Unique(n int, write func(w *Writer, i int)) {
	if r.err != nil {
		return
	}
	if message := twice(n, write); message != "" {
		r.failAt(CodeDuplicate, r.start, message)
	}
}

// Unique refuses an array, just ended, of whose n items two are equal. write
// writes item i.
func (w *Writer) Unique(n int, write func(w *Writer, i int)) {
	if w.err != nil || w.compared {
		return
	}
	if message := twice(n, write); message != "" {
		w.breach(CodeDuplicate, message)
	}
}

// twice says which two of n items are equal, if any are. What is inside of
// them is checked by now: a writer that compares does not compare again, or
// arrays within arrays would be written 2^depth times.
func twice(n int, write func(w *Writer, i int)) string {
	var scratch []byte
	return duplicate(n, func(i int) []byte {
		w := NewCanonicalWriter(scratch[:0])
		w.compared = true
		write(w, i)
		scratch = w.Bytes()
		if w.err != nil {
			return nil // refused where it was written for good
		}
		return scratch
	})
}

// duplicate says which two of n items have the same bytes; nil is none.
func duplicate(n int, item func(i int) []byte) string {
	if n < 2 {
		return ""
	}
	seen := make(map[string]int, n)
	for i := range n {
		text := item(i)
		if text == nil {
			continue
		}
		if first, known := seen[string(text)]; known {
			return "expected items that differ, got the same as [" + strconv.Itoa(first) + "] and [" + strconv.Itoa(i) + "]"
		}
		seen[string(text)] = i
	}
	return ""
}

// UniqueWire is Unique of n wire values that are still to be decoded, such as a
// worker writes: message says which two are equal, empty if none are. What is
// no wire value at most maxDepth containers deep is equal to nothing.
func UniqueWire(n int, item func(i int) []byte, maxDepth int) (message string) {
	var scratch []byte
	return duplicate(n, func(i int) []byte {
		c := canonicalizer{r: NewWireReader(item(i), maxDepth), wide: true}
		scratch = c.value(scratch[:0])
		if c.r.End() != nil {
			return nil
		}
		return scratch
	})
}
