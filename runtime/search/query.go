package search

import (
	"cmp"
	"slices"
	"strings"
)

// MaxQueryTerms is how many different words of a query count: the rarest of
// those that the index knows. As many pairs of them count.
const MaxQueryTerms = 32

// asked is one feature that a query asks for.
type asked struct {
	*feature
	// factor of its impacts.
	factor float32
	// held is added to what a document holds of the query; 0 for what is only
	// more of a stem that counts already. share tells whether its shares count.
	held  float32
	share float32
	// term is the word of the query that it comes from, for explanations.
	term string
}

// plan is what a query asks of the index.
type plan struct {
	asked []asked
	// rarity of all that it asks for, unknown words counted as the rarest.
	rarity float64
	// named documents, in the order of the query.
	named []int32
}

// queryWord is a different word of a query.
type queryWord struct {
	word, stem string
	form       form // negative where the index does not know it
	documents  int
	// same are features that stand for the word beside its own: synonyms, or
	// what it may be a misspelling of.
	same []int32
}

// plan reads a query. The order of what is asked fixes the order of
// floating-point additions, and with it the scores: it depends on texts and
// counts alone.
func (x *Index) plan(query string) plan {
	list, pairs := x.read(query)
	p := plan{named: x.named(query)}
	inQuery := map[int32]bool{}
	for _, w := range list {
		inQuery[w.form.stem] = true
	}
	known := 0
	for _, w := range list {
		if w.form.stem < 0 && len(w.same) == 0 || known == MaxQueryTerms {
			continue
		}
		known++
		own := rarity(len(x.names), w.documents)
		p.rarity += own
		if w.form.stem >= 0 {
			a := asked{feature: &x.features[w.form.stem], factor: 1, held: float32(own), share: 1, term: w.word}
			if w.form.word == w.form.stem {
				a.factor += wordWeight
			}
			p.asked = append(p.asked, a)
			if w.form.word >= 0 && w.form.word != w.form.stem {
				p.asked = append(p.asked, asked{feature: &x.features[w.form.word], factor: wordWeight, term: w.word})
			}
		}
		for _, id := range w.same {
			if !inQuery[id] {
				f := &x.features[id]
				part := min(1, own/f.rarity)
				p.asked = append(p.asked, asked{
					feature: f, factor: float32(synonymWeight * part), held: float32(part * f.rarity), share: synonymWeight,
					term: w.word + " = " + f.text,
				})
			}
		}
	}
	unknown := min(unknown(list), MaxQueryTerms-known)
	p.rarity += float64(unknown) * rarity(len(x.names), 0)
	p.asked = append(p.asked, pairs...)
	return p
}

// unknown counts the words that find nothing.
func unknown(list []queryWord) int {
	n := 0
	for _, w := range list {
		if w.form.stem < 0 && len(w.same) == 0 {
			n++
		}
	}
	return n
}

// read splits a query into its different words, rarest first, and the rarest
// pairs of them that the index knows.
func (x *Index) read(query string) (list []queryWord, pairs []asked) {
	seen, stems, paired := map[string]form{}, map[string]bool{}, map[pair]bool{}
	type namedPair struct {
		id   int32
		text string
	}
	var found []namedPair
	before, beforeWord, typed := int32(-1), "", 0
	words(query, func(word string, first bool) {
		f, again := seen[word]
		if !again {
			w := x.lookUp(word)
			f = w.form
			seen[word] = f
			if !stems[w.stem] {
				stems[w.stem] = true
				if w.same = x.synonyms[w.stem]; w.form.stem < 0 && len(w.same) == 0 && typed < maxTyped {
					typed++
					w.same = x.near(w.word)
				}
				list = append(list, w)
			}
		}
		if !first && before >= 0 && f.stem >= 0 {
			key := pair{before, f.stem}
			if id, known := x.pairs[key]; known && !paired[key] {
				paired[key] = true
				found = append(found, namedPair{id, beforeWord + " " + word})
			}
		}
		before, beforeWord = f.stem, word
	})
	slices.SortFunc(list, func(a, b queryWord) int {
		return cmp.Or(cmp.Compare(a.documents, b.documents), strings.Compare(a.stem, b.stem))
	})
	slices.SortFunc(found, func(a, b namedPair) int {
		return cmp.Or(cmp.Compare(len(x.features[a.id].postings), len(x.features[b.id].postings)), strings.Compare(a.text, b.text))
	})
	for _, f := range found[:min(len(found), MaxQueryTerms)] {
		pairs = append(pairs, asked{feature: &x.features[f.id], factor: pairWeight, term: f.text})
	}
	return list, pairs
}

func (x *Index) lookUp(word string) queryWord {
	w := queryWord{word: word, form: form{-1, -1}}
	if f, known := x.words[word]; known {
		w.form = f
		w.stem = x.features[f.stem].text
	} else {
		w.stem = stem(word)
		if id, known := x.stems[w.stem]; known {
			w.form.stem = id
		}
	}
	if w.form.stem >= 0 {
		w.documents = len(x.features[w.form.stem].postings)
	}
	return w
}

// named finds the documents whose dotted name is a word of the query, bare, in
// quotes or before a parenthesis as models write them.
func (x *Index) named(query string) []int32 {
	var out []int32
	for word := range strings.FieldsFuncSeq(query, notInName) {
		document, ok := x.exact[strings.Trim(word, ".")]
		if ok && !slices.Contains(out, document) {
			if out = append(out, document); len(out) == MaxQueryTerms {
				break
			}
		}
	}
	return out
}

func notInName(r rune) bool {
	return r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}
