package search

import (
	"math"
	"strings"
)

// Entry is what the ranking knows of one capability.
type Entry struct {
	// Name is the dotted name; Namespace is all of it but the last segment.
	Name, Namespace string
	Summary         string
	Description     string
	// Phrases are search phrases of the manifest: words that users say and
	// the other texts do not hold.
	Phrases    []string
	Parameters []Parameter
	// Deprecated capabilities are on their way out.
	Deprecated bool
}

// Parameter is one input of a capability.
type Parameter struct{ Name, Description string }

// field tells the parts of an entry apart.
type field uint8

const (
	fieldName field = iota
	fieldPhrases
	fieldSummary
	fieldDescription
	fieldParameters
	fields
)

// Weights and length normalisations per field. A word in a name or in a
// phrase was chosen to be found; parameters are long lists in which a match
// is weak evidence.
func fieldWeights() [fields]float64 { return [fields]float64{3, 2.5, 2, 1, 0.6} }
func fieldLengths() [fields]float64 { return [fields]float64{0.5, 0.6, 0.6, 0.7, 0.8} }

// saturation is BM25's k1: how fast repetition stops to count.
const saturation = 1.2

// posting says how much one entry is about a term: weighted, length-normalised
// frequency after saturation, in [0, 1).
type posting struct {
	entry  int32
	weight float32
}

// term is one word of the vocabulary. Its postings are ordered by entry.
type term struct {
	idf      float64
	postings []posting
}

// Index ranks a fixed set of entries. It is immutable and safe for concurrent
// use. Its size and the time to build it are linear in the entries' text.
type Index struct {
	names []string         // by entry
	exact map[string]int32 // dotted name to entry
	terms map[string]term
}

// New builds an index. Hits refer to entries by their position in the slice,
// which New does not keep. Names are expected to be unique; of two equal ones
// the first is the exact match.
func New(entries []Entry) *Index {
	x := &Index{
		names: make([]string, len(entries)),
		exact: make(map[string]int32, len(entries)),
	}
	b := builder{counts: map[string][]count{}, lengths: make([][fields]int, len(entries))}
	for i, e := range entries {
		x.names[i] = e.Name
		if _, taken := x.exact[e.Name]; !taken {
			x.exact[e.Name] = int32(i)
		}
		b.add(int32(i), fieldName, e.Name)
		if !strings.HasPrefix(e.Name, e.Namespace) {
			b.add(int32(i), fieldName, e.Namespace)
		}
		for _, phrase := range e.Phrases {
			b.add(int32(i), fieldPhrases, phrase)
		}
		b.add(int32(i), fieldSummary, e.Summary)
		if e.Description != e.Summary { // a manifest without one repeats the summary
			b.add(int32(i), fieldDescription, e.Description)
		}
		for _, p := range e.Parameters {
			b.add(int32(i), fieldParameters, p.Name)
			b.add(int32(i), fieldParameters, p.Description)
		}
	}
	x.terms = b.finish()
	return x
}

// count is how often a term stands in each field of one entry.
type count struct {
	entry int32
	in    [fields]uint16
}

// builder collects frequencies; entries are added in order, so that the last
// count of a term is the only one that can belong to the current entry.
type builder struct {
	counts  map[string][]count
	lengths [][fields]int
}

func (b *builder) add(entry int32, f field, text string) {
	for _, t := range terms(text) {
		b.lengths[entry][f]++
		list := b.counts[t]
		if n := len(list); n == 0 || list[n-1].entry != entry {
			list = append(list, count{entry: entry})
			b.counts[t] = list
		}
		if in := &list[len(list)-1].in[f]; *in < math.MaxUint16 {
			*in++
		}
	}
}

func (b *builder) finish() map[string]term {
	var average [fields]float64
	for _, lengths := range b.lengths {
		for f, n := range lengths {
			average[f] += float64(n)
		}
	}
	for f := range average {
		average[f] /= math.Max(1, float64(len(b.lengths)))
	}
	weights, lengths := fieldWeights(), fieldLengths()
	out := make(map[string]term, len(b.counts))
	for text, counts := range b.counts {
		t := term{idf: idf(len(b.lengths), len(counts)), postings: make([]posting, len(counts))}
		for i, c := range counts {
			var frequency float64
			for f, n := range c.in {
				if n == 0 {
					continue
				}
				relative := float64(b.lengths[c.entry][f]) / average[f]
				frequency += weights[f] * float64(n) / (1 - lengths[f] + lengths[f]*relative)
			}
			t.postings[i] = posting{entry: c.entry, weight: float32(frequency / (saturation + frequency))}
		}
		out[text] = t
	}
	return out
}

// idf is the inverse document frequency in the form that is never negative.
func idf(entries, holding int) float64 {
	return math.Log1p((float64(entries-holding) + 0.5) / (float64(holding) + 0.5))
}
