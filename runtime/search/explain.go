package search

import (
	"cmp"
	"slices"
	"strings"
)

// Term is a term of a query that a document holds, and what it adds to the
// document's score.
type Term struct {
	Text  string
	Score float64
}

// Explain lists the terms that make up a document's score for a query, the
// weightiest first; their scores add up to the document's. A term is a word,
// which counts for its stem, two words side by side, or "word = stem" of a
// synonym or of what a misspelt word may mean. It is for those who write the texts: what it costs grows with the
// postings, as a search's.
func (x *Index) Explain(query string, document int) []Term {
	if document < 0 || document >= len(x.names) {
		return nil
	}
	scores, share := map[string]float64{}, 0.0
	for _, a := range x.plan(query).asked {
		i, holds := slices.BinarySearchFunc(a.postings, int32(document), func(p posting, d int32) int { return cmp.Compare(p.document, d) })
		if holds {
			scores[a.term] += float64(a.factor * a.postings[i].impact)
			share += float64(a.share * a.postings[i].share)
		}
	}
	factor := 1 + share
	if x.deprecated[document] {
		factor *= deprecated
	}
	out := make([]Term, 0, len(scores))
	for text, score := range scores {
		out = append(out, Term{Text: text, Score: factor * score})
	}
	slices.SortFunc(out, func(a, b Term) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Text, b.Text))
	})
	return out
}

// Rank is the place, from 1, of the document with that dotted name among all
// that match the query; 0 when it does not. A report on a change of texts
// compares the ranks in the index before and after.
func (x *Index) Rank(query, name string) int {
	for i, h := range x.Search(query, Options{Max: len(x.names)}) {
		if x.names[h.Document] == name {
			return i + 1
		}
	}
	return 0
}
