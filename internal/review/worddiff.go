package review

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxCells bounds the work for one text: two that are longer, and differ
	// from near their beginning to near their end, are shown one after the
	// other, in full.
	maxCells = 4_000_000
	// diffBudget bounds the work for all texts of a summary.
	diffBudget = 200_000_000
)

// differ shows what words changed. Its budget bounds the time for texts that
// were made to be slow to compare: when it is spent, texts are shown in full
// without a comparison.
type differ struct{ budget int }

// html is the preformatted element that shows the way from one text to another:
// <del> holds what is gone, <ins> what is new.
//
//	<pre>
//	  Look up <del>one</del><ins>two</ins> records.
//	</pre>
func (d *differ) html(before, after string) string {
	var b strings.Builder
	b.WriteString("<pre>\n  ")
	for _, e := range d.edits(words(before), words(after)) {
		text := pre(strings.Join(e.words, ""))
		switch e.kind {
		case same:
			b.WriteString(text)
		case gone:
			b.WriteString("<del>" + text + "</del>")
		case added:
			b.WriteString("<ins>" + text + "</ins>")
		}
	}
	b.WriteString("\n</pre>\n")
	return b.String()
}

// words cuts a text into words and single other characters, each with the white
// space behind it; together they are the text.
func words(s string) []string {
	isWord := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	var out []string
	for s != "" {
		first, n := utf8.DecodeRuneInString(s)
		if isWord(first) {
			n = until(s, n, isWord)
		}
		n = until(s, n, unicode.IsSpace)
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

// until is where, from n on, the first rune stands that is not of a kind.
func until(s string, n int, of func(rune) bool) int {
	if i := strings.IndexFunc(s[n:], func(r rune) bool { return !of(r) }); i >= 0 {
		return n + i
	}
	return len(s)
}

type editKind int

const (
	same editKind = iota
	gone
	added
)

// edit is a run of words of one kind.
type edit struct {
	kind  editKind
	words []string
}

// edits leads from a to b, what is gone before what is new.
func (d *differ) edits(a, b []string) []edit {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out []edit
	add := func(kind editKind, words []string) {
		if len(words) == 0 {
			return
		}
		if n := len(out); n > 0 && out[n-1].kind == kind {
			out[n-1].words = append(out[n-1].words, words...)
			return
		}
		out = append(out, edit{kind, slices.Clone(words)})
	}
	add(same, a[:head])
	middleA, middleB := a[head:len(a)-tail], b[head:len(b)-tail]
	i, j := 0, 0
	for _, m := range d.matches(middleA, middleB) {
		add(gone, middleA[i:m[0]])
		add(added, middleB[j:m[1]])
		add(same, middleA[m[0]:m[0]+1])
		i, j = m[0]+1, m[1]+1
	}
	add(gone, middleA[i:])
	add(added, middleB[j:])
	add(same, a[len(a)-tail:])
	return out
}

// matches are pairs of places of equal words, in order, as many as there can be;
// none where comparing would take too long.
func (d *differ) matches(a, b []string) [][2]int {
	cells := (len(a) + 1) * (len(b) + 1)
	if len(a) == 0 || len(b) == 0 || cells > min(maxCells, d.budget) {
		return nil
	}
	d.budget -= cells
	// common[i*width+j] is how many words a[i:] and b[j:] have in common, at
	// most the root of maxCells.
	width := len(b) + 1
	common := make([]uint16, cells)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	var out [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			out = append(out, [2]int{i, j})
			i, j = i+1, j+1
		case common[(i+1)*width+j] >= common[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return out
}
