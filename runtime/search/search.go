package search

import (
	"cmp"
	"slices"
	"strings"
)

// MaxQueryTerms is how many different terms of a query count: the rarest of
// those that the index knows.
const MaxQueryTerms = 32

// Hit is one entry that shares a term with the query, or is named by it.
type Hit struct {
	// Entry is the position in the slice given to New.
	Entry int
	// Score orders hits of one query; it says nothing across queries.
	Score float64
	// Coverage is the share of the query's known terms, weighted by rarity,
	// that the entry holds: in (0, 1], and 1 for an entry that is named. A
	// best hit with a low coverage is a weak answer.
	Coverage float64
}

// Search returns at most max hits, best first; nil when no term of the query
// is known. An entry whose dotted name stands in the query as a word of its
// own comes before all others, in the order of the query. Equal scores are
// ordered by name, so the answer depends on the entries and the query alone.
func (x *Index) Search(query string, max int) []Hit {
	if max <= 0 {
		return nil
	}
	known, total := x.queryTerms(query)
	named := x.named(query)
	if len(known) == 0 && len(named) == 0 {
		return nil
	}
	// One slot an entry costs less than a map does once a common word
	// matches a good part of them.
	found := make([]Hit, len(x.names))
	var touched []int32
	for _, t := range known {
		for _, p := range t.postings {
			h := &found[p.entry]
			if h.Coverage == 0 {
				touched = append(touched, p.entry)
			}
			h.Score += t.idf * float64(p.weight)
			h.Coverage += t.idf / total
		}
	}
	rank := make(map[int]int, len(named)) // larger is earlier
	for i, entry := range named {
		if found[entry].Coverage == 0 {
			touched = append(touched, entry)
		}
		found[entry].Coverage = 1
		rank[int(entry)] = len(named) - i
	}
	hits := make([]Hit, 0, len(touched))
	for _, entry := range touched {
		h := found[entry]
		h.Entry = int(entry)
		h.Coverage = min(h.Coverage, 1) // a sum of shares may exceed it by rounding
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(
			cmp.Compare(rank[b.Entry], rank[a.Entry]),
			cmp.Compare(b.Score, a.Score),
			strings.Compare(x.names[a.Entry], x.names[b.Entry]),
			cmp.Compare(a.Entry, b.Entry),
		)
	})
	return slices.Clip(hits[:min(max, len(hits))])
}

// queryTerms looks up the terms of a query, rarest first, and sums their
// rarity. The order fixes the order of floating-point additions, and with it
// the scores.
func (x *Index) queryTerms(query string) (known []term, total float64) {
	type candidate struct {
		text string
		term term
	}
	var list []candidate
	seen := map[string]bool{}
	for _, text := range terms(query) {
		if t, ok := x.terms[text]; ok && !seen[text] {
			seen[text] = true
			list = append(list, candidate{text, t})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(len(a.term.postings), len(b.term.postings)), strings.Compare(a.text, b.text))
	})
	for _, c := range list[:min(len(list), MaxQueryTerms)] {
		known = append(known, c.term)
		total += c.term.idf
	}
	return known, total
}

// named finds the entries whose dotted name is a word of the query, bare, in
// quotes or before a parenthesis as models write them.
func (x *Index) named(query string) []int32 {
	var out []int32
	for word := range strings.FieldsFuncSeq(query, notInName) {
		entry, ok := x.exact[strings.Trim(word, ".")]
		if ok && !slices.Contains(out, entry) {
			if out = append(out, entry); len(out) == MaxQueryTerms {
				break
			}
		}
	}
	return out
}

func notInName(r rune) bool {
	return r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}
