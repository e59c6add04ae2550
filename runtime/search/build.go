package search

import (
	"math"
	"strings"
)

// occurrence is how often a feature stands in each field of one document.
type occurrence struct {
	feature, document int32
	in                [fields]uint8
}

// builder collects occurrences. Documents are added in order.
type builder struct {
	documents   int
	tokens      map[string]form // of entries, by their text
	stems       map[string]int32
	forms       map[string]int32 // words beside their stems
	pairs       map[pair]int32
	made        []made // by feature
	occurrences []occurrence
	lengths     [][fields]int32
}

// made is a feature being built.
type made struct {
	text string
	kind kind
	// stem of a word.
	stem int32
	// last is the latest occurrence, count how many there are.
	last, count int32
}

type kind uint8

const (
	ofStem kind = iota
	ofWord
	ofPair
)

func newBuilder(documents int) *builder {
	return &builder{
		documents: documents,
		tokens:    map[string]form{}, stems: map[string]int32{}, forms: map[string]int32{}, pairs: map[pair]int32{},
		lengths: make([][fields]int32, documents),
	}
}

// intern is the feature of a key, made when it is new.
func intern[K comparable](b *builder, ids map[K]int32, key K, text string, k kind) int32 {
	id, known := ids[key]
	if !known {
		id = int32(len(b.made))
		ids[key] = id
		b.made = append(b.made, made{text: text, kind: k, last: -1})
	}
	return id
}

func (b *builder) add(document int32, f field, text string) {
	var before int32
	parse(text, func(token string, first bool) {
		t, known := b.tokens[token]
		if !known {
			stem, word, differs := strings.Cut(token, "/")
			if !differs {
				word = stem
			}
			t.stem = intern(b, b.stems, stem, stem, ofStem)
			made := len(b.made)
			if t.word = intern(b, b.forms, word, word, ofWord); len(b.made) > made {
				b.made[t.word].stem = t.stem
			}
			b.tokens[token] = t
		}
		if first || !syllabic(token) {
			b.lengths[document][f]++ // syllables side by side do not make a field long
		}
		b.count(document, f, t.stem)
		b.count(document, f, t.word)
		if !first {
			b.count(document, f, intern(b, b.pairs, pair{before, t.stem}, "", ofPair))
		}
		before = t.stem
	})
}

func (b *builder) count(document int32, f field, id int32) {
	m := &b.made[id]
	if m.last < 0 || b.occurrences[m.last].document != document {
		m.last = int32(len(b.occurrences))
		m.count++
		b.occurrences = append(b.occurrences, occurrence{feature: id, document: document})
	}
	if in := &b.occurrences[m.last].in[f]; *in < math.MaxUint8 {
		*in++
	}
}

// words are the forms of all words that the entries hold.
func (b *builder) words() map[string]form {
	out := make(map[string]form, len(b.forms))
	for id, m := range b.made {
		switch {
		case m.kind == ofWord && b.twin(m):
			out[m.text] = form{m.stem, m.stem}
		case m.kind == ofWord:
			out[m.text] = form{m.stem, int32(id)}
		}
	}
	return out
}

// twin tells a word that stands wherever its stem does, as most words do: one
// posting list is kept for both.
func (b *builder) twin(m made) bool { return m.kind == ofWord && m.count == b.made[m.stem].count }

func (b *builder) finish() []feature {
	norms := b.norms()
	features := make([]feature, len(b.made))
	size := 0
	for _, m := range b.made {
		if !b.twin(m) {
			size += int(m.count)
		}
	}
	slab := make([]posting, size)
	for i, m := range b.made {
		if b.twin(m) {
			continue
		}
		features[i] = feature{text: m.text, rarity: rarity(b.documents, int(m.count)), postings: slab[:0:m.count]}
		slab = slab[m.count:]
	}
	// An occurrence of a stem is a part of the name and of the summary.
	totals := make([][2]float64, b.documents)
	for _, o := range b.occurrences {
		if b.made[o.feature].kind == ofStem {
			for i, f := range covered() {
				if o.in[f] > 0 {
					totals[o.document][i] += features[o.feature].rarity
				}
			}
		}
	}
	for _, o := range b.occurrences {
		f := &features[o.feature]
		if cap(f.postings) == 0 {
			continue // a twin
		}
		frequency := 0.0
		for i, n := range o.in {
			if n > 0 {
				frequency += float64(n) * norms.of(field(i), b.lengths[o.document][i])
			}
		}
		p := posting{document: o.document, impact: float32(f.rarity * frequency / (saturation + frequency))}
		if b.made[o.feature].kind == ofStem {
			for i, c := range covered() {
				if o.in[c] > 0 {
					p.share += float32(coverage * f.rarity / totals[o.document][i])
				}
			}
		}
		f.postings = append(f.postings, p)
	}
	return features
}

func covered() [2]field { return [2]field{fieldName, fieldSummary} }

// norms weight one occurrence by its field and the length of that field, which
// is compared with the mean of all documents; that of search phrases, which most
// may lack, with the usual.
type norms struct{ weight, flat, slope [fields]float64 }

func (b *builder) norms() norms {
	n := norms{weight: fieldWeights()}
	lengths := fieldLengths()
	for f := range n.flat {
		total := 0.0
		for i := range b.lengths {
			total += float64(b.lengths[i][f])
		}
		n.flat[f] = 1 - lengths[f]
		switch {
		case field(f) == fieldPhrases:
			n.slope[f] = lengths[f] / usualPhrases
		case total > 0:
			n.slope[f] = lengths[f] * float64(b.documents) / total
		}
	}
	return n
}

func (n *norms) of(f field, length int32) float64 {
	return n.weight[f] / (n.flat[f] + n.slope[f]*float64(length))
}
