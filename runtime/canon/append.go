package canon

import "bytes"

// Append adds the element that r has read last to list, which starts empty.
// The first one makes room for those that follow it, so that a list of any
// length is one allocation. After an error it returns list.
func Append[T any](r *Reader, list []T, element T) []T {
	if r.err != nil {
		return list
	}
	if list == nil {
		list = make([]T, 0, 1+r.following())
	}
	return append(list, element)
}

// following is how many elements of the innermost array stand behind the one
// that was read. It is a hint: the text behind it is not checked yet. It is
// bounded by what the array may hold and by the bytes that are left. Each level
// of arrays looks ahead once, so that work is bounded by the input times its
// depth.
func (r *Reader) following() int {
	if r.depth == 0 {
		return 0
	}
	f := r.frame(r.depth - 1)
	most := min(int(f.max-f.index)-1, len(r.data)-r.pos)
	if r.wire {
		return max(0, min(int(f.left), most))
	}
	n, open := 0, 0
	for i := r.pos; i < len(r.data) && n < most; i++ {
		switch r.data[i] {
		case '"':
			end := stringEnd(r.data[i+1:])
			if end < 0 {
				return n
			}
			i += 1 + end
		case '[', '{':
			open++
		case ']', '}':
			if open == 0 {
				return n
			}
			open--
		case ',':
			if open == 0 {
				n++
			}
		}
	}
	return max(0, n)
}

// stringEnd is the index of the quote that ends a string literal, of which text
// is what follows the first one; -1 if there is none.
func stringEnd(text []byte) int {
	for from := 0; ; {
		end := bytes.IndexByte(text[from:], '"')
		if end < 0 {
			return -1
		}
		end += from
		escapes := 0
		for end-escapes > from && text[end-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end
		}
		from = end + 1
	}
}
