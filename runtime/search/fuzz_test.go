package search_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/search"
)

// FuzzCatalog: over any catalog, of texts or of entries that nobody analyzed,
// an answer is bounded, in order, explained, and the same whatever the order
// of the documents and however often it is asked.
func FuzzCatalog(f *testing.F) {
	for _, seed := range [][2]string{
		{"read files\nlist the folders of a directory\nfiles, read/reading list", "list my folder"},
		{"a\na\na", "a a a"}, {"", ""}, {"\n\n\n", "n.d0 n.d1"}, {"\xff/,\n, ,/x\nx/y x/z, y/x", "x y z"},
		{strings.Repeat("deep word ", 300) + "\ndeep", "deep word deep"},
	} {
		f.Add(seed[0], seed[1], 3)
	}
	f.Fuzz(func(t *testing.T, texts, query string, max int) {
		var documents []search.Document
		for i, text := range strings.Split(texts, "\n") {
			if i == 40 {
				break
			}
			d := search.Document{Name: fmt.Sprintf("n.d%d", i), Deprecated: i%5 == 4}
			if i%2 == 0 {
				d.Entry = search.Analyze(search.Texts{Name: d.Name, Summary: text, Description: text + query, Phrases: []string{text}})
			} else {
				d.Entry = search.Entry{Name: text, Summary: query, ParameterNames: text}
			}
			documents = append(documents, d)
		}
		x := search.New(documents)
		hits := x.Search(query, search.Options{Max: max})
		if len(hits) > len(documents) || max > 0 && len(hits) > max || max <= 0 && len(hits) > 0 {
			t.Fatalf("%d hits of %d for max %d", len(hits), len(documents), max)
		}
		var names []string
		for i, h := range hits {
			if math.IsNaN(h.Score) || math.IsInf(h.Score, 0) || h.Score < 0 {
				t.Fatalf("hit %+v", h)
			}
			sum := 0.0
			for _, term := range x.Explain(query, h.Document) {
				sum += term.Score
			}
			if math.Abs(sum-h.Score) > 1e-3*(1+h.Score) {
				t.Fatalf("hit %d has %v, its terms make up %v", i, h.Score, sum)
			}
			names = append(names, documents[h.Document].Name)
		}
		if diff := cmp.Diff(hits, x.Search(query, search.Options{Max: max})); diff != "" {
			t.Fatalf("asked again: %s", diff)
		}
		if len(names) > 0 && x.Rank(query, names[0]) != 1 {
			t.Fatalf("%s is first and of rank %d", names[0], x.Rank(query, names[0]))
		}
		// Entries that nobody analyzed may give a word two stems, of which the
		// first counts.
		if strings.Contains(texts+query, "/") {
			return
		}
		slices.Reverse(documents)
		var reversed []string
		for _, h := range search.New(documents).Search(query, search.Options{Max: max}) {
			reversed = append(reversed, documents[h.Document].Name)
		}
		if diff := cmp.Diff(names, reversed); diff != "" {
			t.Fatalf("the other way round: %s", diff)
		}
	})
}
