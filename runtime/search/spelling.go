package search

import (
	"cmp"
	"slices"
	"strings"
)

const (
	// minTyped is the length in bytes from which a word is long enough for a
	// slip to leave it recognisable: among shorter ones most of what is one
	// letter away is another word.
	minTyped = 5
	// maxTyped is how many unknown words of a query are looked up by spelling,
	// the first ones; maxSpellings how many known words may stand for one.
	maxTyped, maxSpellings = 8, 4
	// maxCompared is how many known words one is compared with: a catalog of
	// millions of like words must not make each query long.
	maxCompared = 4_096
)

// spellings are the words that a misspelt one may stand for. Those of one first
// letter and length lie together.
func spellings(words map[string]form) []string {
	out := make([]string, 0, len(words))
	for word := range words {
		if len(word) >= minTyped-1 && alphabetic(word) {
			out = append(out, word)
		}
	}
	slices.SortFunc(out, bySpelling)
	return out
}

func bySpelling(a, b string) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// near are the stems of known words that differ from an unknown one by one
// letter too many, missing or other, or by two that changed places. The first
// letter is taken as right: it mostly is, and it bounds the work to the words of
// the index that begin with it and are about as long.
func (x *Index) near(word string) []int32 {
	if len(word) < minTyped || !alphabetic(word) {
		return nil
	}
	from, _ := slices.BinarySearchFunc(x.spellings, word, func(s, word string) int {
		return cmp.Or(cmp.Compare(s[0], word[0]), cmp.Compare(len(s), len(word)-1), 1)
	})
	var out []int32
	for _, s := range x.spellings[from:min(len(x.spellings), from+maxCompared)] {
		if s[0] != word[0] || len(s) > len(word)+1 || len(out) == maxSpellings {
			break
		}
		if id := x.words[s].stem; oneSlip(s, word) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// oneSlip: two words, neither the other, are one slip of the finger apart.
func oneSlip(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(b) && a[i] == b[i] {
		i++
	}
	switch {
	case len(a) > len(b):
		return a[i+1:] == b[i:]
	case i == len(a):
		return true
	case a[i+1:] == b[i+1:]:
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

func alphabetic(word string) bool {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return false
		}
	}
	return true
}
