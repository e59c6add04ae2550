package search

import (
	"cmp"
	"slices"
	"strings"
)

// MaxQueryTerms is how many different terms of a query count: the rarest of
// those that the index knows.
const MaxQueryTerms = 32

// weakBelow is the share of the query's weight under which a hit is weak.
const weakBelow = 1.0 / 3

// Hit is one entry that shares a term with the query, or is named by it.
type Hit struct {
	// Entry is the position in the slice given to New.
	Entry int
	// Score orders hits of one query; it says nothing across queries.
	Score float64
	// Weak: the entry holds less than a third of what the query asks for,
	// each term weighted by its rarity and unknown ones counted as the rarest.
	// An entry that the query names is never weak.
	Weak bool
}

// Search returns at most max hits, best first; nil when no term of the query
// is known. An entry whose dotted name stands in the query as a word of its
// own comes before all others, in the order of the query. Equal scores are
// ordered by name, so the answer depends on the entries and the query alone.
func (x *Index) Search(query string, max int) []Hit {
	if max <= 0 {
		return nil
	}
	known, asked := x.queryTerms(query)
	named := x.named(query)
	if len(known) == 0 && len(named) == 0 {
		return nil
	}
	// One slot an entry costs less than a map does once a common word
	// matches a good part of them.
	found := make([]match, len(x.names))
	var touched []int32
	touch := func(entry int32) *match {
		m := &found[entry]
		if m.held == 0 && m.rank == 0 {
			touched = append(touched, entry)
		}
		return m
	}
	for _, t := range known {
		for _, p := range t.postings {
			m := touch(p.entry)
			m.score += t.idf * float64(p.weight)
			m.held += t.idf
		}
	}
	for i, entry := range named {
		touch(entry).rank = len(named) - i
	}
	slices.SortFunc(touched, func(a, b int32) int {
		return cmp.Or(
			cmp.Compare(found[b].rank, found[a].rank),
			cmp.Compare(found[b].score, found[a].score),
			strings.Compare(x.names[a], x.names[b]),
			cmp.Compare(a, b),
		)
	})
	hits := make([]Hit, min(max, len(touched)))
	for i := range hits {
		m := found[touched[i]]
		hits[i] = Hit{
			Entry: int(touched[i]),
			Score: m.score,
			Weak:  m.rank == 0 && m.held < weakBelow*asked,
		}
	}
	return hits
}

// match is what an entry has gathered for one query.
type match struct {
	score float64
	held  float64 // rarity of the terms it holds
	rank  int     // of an entry that the query names: larger is earlier
}

// queryTerms looks up the terms of a query, rarest first, and sums the rarity
// of all it asks for. The order fixes the order of floating-point additions,
// and with it the scores.
func (x *Index) queryTerms(query string) (known []term, asked float64) {
	type candidate struct {
		text string
		term term
	}
	var list []candidate
	unknown := 0
	seen := map[string]bool{}
	for _, text := range terms(query) {
		if seen[text] {
			continue
		}
		seen[text] = true
		if t, ok := x.terms[text]; ok {
			list = append(list, candidate{text, t})
		} else {
			unknown++
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(len(a.term.postings), len(b.term.postings)), strings.Compare(a.text, b.text))
	})
	for _, c := range list[:min(len(list), MaxQueryTerms)] {
		known = append(known, c.term)
		asked += c.term.idf
	}
	unknown = min(unknown, MaxQueryTerms-len(known))
	return known, asked + float64(unknown)*idf(len(x.names), 0)
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
