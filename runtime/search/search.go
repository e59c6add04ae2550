package search

import (
	"cmp"
	"slices"
	"strings"
)

// weakBelow is the share of the query's weight under which a hit is weak.
const weakBelow = 1.0 / 3

// Options narrow a search.
type Options struct {
	// Namespace keeps only what lies in it or below it. Empty keeps all.
	Namespace string
	// Max is how many hits are returned; none for zero and below.
	Max int
}

// Hit is one document that shares a term with the query, or is named by it.
type Hit struct {
	// Document is the position in the slice given to New.
	Document int
	// Score orders hits of one query; it says nothing across queries.
	Score float64
	// Weak: the document holds less than a third of what the query asks for,
	// each word weighted by its rarity and unknown ones counted as the rarest.
	// A document that the query names is never weak.
	Weak bool
}

// score is what a document has gathered for one query.
type score struct {
	impact float32
	share  float32
	held   float32
}

// scores are those of all documents; touched are the ones that are not zero.
type scores struct {
	of      []score
	touched []int32
}

// Search returns the best hits, best first; none when no term of the query
// is known. A document whose dotted name stands in the query as a word of its
// own comes before all others, in the order of the query. Equal scores are
// ordered by name, so the answer depends on the documents and the query alone.
// Its time is linear in the query, in the postings of at most 32 words with
// their synonyms and 32 pairs, and for at most eight unknown words in 4,096 words
// of the index that begin with the same letter and are about as long.
func (x *Index) Search(query string, o Options) []Hit {
	if o.Max <= 0 {
		return nil
	}
	p := x.plan(query)
	if len(p.asked) == 0 && len(p.named) == 0 {
		return nil
	}
	s := x.scratch.Get().(*scores)
	defer x.release(s)
	s.add(p.asked)
	for _, document := range p.named {
		if s.of[document] == (score{}) {
			s.touched = append(s.touched, document)
		}
	}
	best := ranking{index: x, max: o.Max, named: p.named}
	for _, document := range s.touched {
		if !within(x.names[document], o.Namespace) {
			continue
		}
		d := s.of[document]
		c := candidate{document: document, score: float64(d.impact) * (1 + float64(d.share)), held: float64(d.held)}
		if x.deprecated[document] {
			c.score *= deprecated
		}
		best.offer(c)
	}
	var hits []Hit
	for _, c := range best.kept {
		hits = append(hits, Hit{
			Document: int(c.document), Score: c.score,
			Weak: best.rank(c.document) == 0 && c.held < weakBelow*p.rarity,
		})
	}
	return hits
}

// add walks the postings of all that is asked.
func (s *scores) add(list []asked) {
	for _, a := range list {
		for _, p := range a.postings {
			d := &s.of[p.document]
			if d.impact == 0 {
				s.touched = append(s.touched, p.document)
			}
			d.impact += a.factor * p.impact
			d.share += a.share * p.share
			d.held += a.held
		}
	}
}

// release clears what was touched and gives the memory to the next query.
func (x *Index) release(s *scores) {
	for _, document := range s.touched {
		s.of[document] = score{}
	}
	s.touched = s.touched[:0]
	x.scratch.Put(s)
}

// within: name lies in the namespace or below it.
func within(name, namespace string) bool {
	return namespace == "" ||
		len(name) > len(namespace) && name[len(namespace)] == '.' && strings.HasPrefix(name, namespace)
}

type candidate struct {
	document    int32
	score, held float64
}

// ranking keeps the best candidates in order. Most of those that are offered
// are worse than the last one and cost one comparison.
type ranking struct {
	index *Index
	max   int
	named []int32
	kept  []candidate
}

// rank of a document that the query names: larger is earlier; 0 for others.
func (r *ranking) rank(document int32) int {
	if i := slices.Index(r.named, document); i >= 0 {
		return len(r.named) - i
	}
	return 0
}

func (r *ranking) compare(a, b candidate) int {
	if len(r.named) > 0 {
		if c := cmp.Compare(r.rank(b.document), r.rank(a.document)); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(b.score, a.score); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(r.index.names[a.document], r.index.names[b.document]), cmp.Compare(a.document, b.document))
}

func (r *ranking) offer(c candidate) {
	if len(r.kept) == r.max {
		if r.compare(c, r.kept[r.max-1]) >= 0 {
			return
		}
		r.kept = r.kept[:r.max-1]
	}
	i, _ := slices.BinarySearchFunc(r.kept, c, r.compare)
	r.kept = slices.Insert(r.kept, i, c)
}
