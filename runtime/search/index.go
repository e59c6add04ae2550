package search

import (
	"math"
	"strings"
	"sync"
)

// Document is one capability to rank.
type Document struct {
	// Name is the dotted name; a query that holds it finds this one first.
	Name  string
	Entry Entry
	// Was are the dotted names it had before. A query that holds one of them
	// finds it as its own name does, unless another has that name now.
	Was []string
	// Deprecated capabilities are on their way out: their scores are halved.
	Deprecated bool
}

// The parameters of the ranking. They were chosen by coordinate descent on one
// half of the retrieval suite's queries and then rounded; docs/reference/performance.md
// has the figures of both halves.
const (
	// saturation is BM25's k1: how fast repetition stops to count.
	saturation = 1.0
	// The weight of a pair of adjacent stems, of a word beside its stem, and
	// of a synonym, each to its own rarity.
	pairWeight    = 0.6
	wordWeight    = 0.4
	synonymWeight = 0.3
	// coverage is how much a score rises when the query holds an entry's whole
	// name, and once more for its summary.
	coverage = 0.2
	// usualPhrases is how many words search phrases have together. It is no mean
	// of the catalog: beside a mean near zero the first phrase of a catalog would
	// be endlessly long and count for nothing, and a catalog's only phrases,
	// however many words were stuffed into them, would be of usual length.
	usualPhrases = 10
	// deprecated is what is left of the score of a deprecated capability.
	deprecated = 0.5
)

// Weights and length normalisations per field. A word in a name or in a
// phrase was chosen to be found; parameters are long lists in which a match
// is weak evidence.
func fieldWeights() [fields]float64 { return [fields]float64{4, 3.5, 3, 2, 0.9, 0.9, 0.6} }
func fieldLengths() [fields]float64 { return [fields]float64{0.7, 0.3, 0.7, 0.6, 0.5, 0.8, 0.8} }

// posting says how much one document is about a feature.
type posting struct {
	document int32
	// impact is the rarity of the feature times its weighted,
	// length-normalised frequency after saturation.
	impact float32
	// share is the part of the document's name and summary that the feature
	// makes up, as a part of the score.
	share float32
}

// feature is a stem, a word beside its stem or a pair of adjacent stems. Its
// postings are ordered by document.
type feature struct {
	text     string // of a stem
	rarity   float64
	postings []posting
}

// form is what a word stands for: its stem, and itself. Where every document
// that holds the stem holds this word, the two are one feature.
type form struct{ stem, word int32 }

// pair is two adjacent stems.
type pair struct{ a, b int32 }

// Index ranks a fixed set of documents. It is immutable and safe for concurrent
// use. Its size and the time to build it are linear in the entries' text.
type Index struct {
	names      []string // by document
	deprecated []bool
	exact      map[string]int32 // dotted name to document
	features   []feature
	words      map[string]form
	spellings  []string // of words, ordered by bySpelling
	stems      map[string]int32
	pairs      map[pair]int32
	synonyms   map[string][]int32 // by stem: features that mean the same
	scratch    sync.Pool          // of *scores, all zero
}

// New builds an index. Hits refer to documents by their position in the slice,
// which New does not keep. Names are expected to be unique; of two equal ones
// the first is the exact match.
func New(documents []Document) *Index {
	x := &Index{
		names:      make([]string, len(documents)),
		deprecated: make([]bool, len(documents)),
		exact:      make(map[string]int32, len(documents)),
	}
	b := newBuilder(len(documents))
	for i, d := range documents {
		x.names[i], x.deprecated[i] = d.Name, d.Deprecated
		// A name without a dot is a word like any other.
		if _, taken := x.exact[d.Name]; !taken && strings.Contains(d.Name, ".") {
			x.exact[d.Name] = int32(i)
		}
		for f, text := range d.Entry.texts() {
			b.add(int32(i), field(f), text)
		}
	}
	for i, d := range documents {
		for _, old := range d.Was {
			if _, taken := x.exact[old]; !taken && strings.Contains(old, ".") {
				x.exact[old] = int32(i)
			}
		}
	}
	x.features, x.words, x.stems, x.pairs = b.finish(), b.words(), b.stems, b.pairs
	x.synonyms = knownSynonyms(x.stems)
	x.spellings = spellings(x.words)
	x.scratch.New = func() any { return &scores{of: make([]score, len(documents))} }
	return x
}

// knownSynonyms maps stems, of which a query may hold any, to those that the
// index knows.
func knownSynonyms(stems map[string]int32) map[string][]int32 {
	out := map[string][]int32{}
	for _, group := range synonyms() {
		for i, word := range group {
			from := stem(singular(word))
			for j, other := range group {
				to := stem(singular(other))
				if id, known := stems[to]; known && i != j && to != from {
					out[from] = append(out[from], id)
				}
			}
		}
	}
	return out
}

// rarity is the inverse document frequency in the form that is never negative.
func rarity(documents, holding int) float64 {
	return math.Log1p((float64(documents-holding) + 0.5) / (float64(holding) + 0.5))
}
