package search_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/search"
)

func texts() []search.Texts {
	return []search.Texts{
		{Name: "files.list", Summary: "List the entries of a directory.",
			Phrases:    []string{"show folder content", "ls"},
			Parameters: []search.Parameter{{Name: "path", Description: "The directory to list."}}},
		{Name: "files.read", Summary: "Read parts of files.",
			Phrases:    []string{"show file content", "cat"},
			Parameters: []search.Parameter{{Name: "paths", Description: "Up to 100 paths."}, {Name: "maxBytes"}}},
		{Name: "files.search", Summary: "Search file contents with a regular expression.",
			Phrases: []string{"grep", "find text"}},
		{Name: "http.server_start", Summary: "Start a server.",
			Description: "Starts an HTTPServer on a port and answers with its address."},
		{Name: "records.lookup", Summary: "Look up one record by key.",
			Description: "The record's fields come from the store; files are not involved."},
		{Name: "records.lookup_many", Summary: "Look up records by key.",
			Description: "The record's fields come from the store; files are not involved."},
	}
}

func document(t search.Texts) search.Document {
	return search.Document{Name: t.Name, Entry: search.Analyze(t)}
}

func catalog() []search.Document {
	var out []search.Document
	for _, t := range texts() {
		out = append(out, document(t))
	}
	return out
}

func names(x *search.Index, documents []search.Document, query string, max int) []string {
	var out []string
	for _, h := range x.Search(query, search.Options{Max: max}) {
		out = append(out, documents[h.Document].Name)
	}
	return out
}

func TestSearchFirst(t *testing.T) {
	entries := catalog()
	x := search.New(entries)
	for _, tt := range []struct{ query, first string }{
		{"list directory", "files.list"},
		{"what is in this folder", "files.list"},
		{"read files", "files.read"},
		{"grep", "files.search"},
		{"find text in file", "files.search"},
		{"HTTP", "http.server_start"},
		{"serverStart", "http.server_start"},
		{"lookup", "records.lookup"},
		{"MAX bytes", "files.read"},
		// The exact dotted name wins over every score, bare, quoted or called.
		{"files.read", "files.read"},
		{"search text grep find regular expression contents records.lookup", "records.lookup"},
		{"grep `files.list` find text", "files.list"},
		{"how do I use files.search(pattern=…)?", "files.search"},
		{"tell me about files.read.", "files.read"},
	} {
		got := names(x, entries, tt.query, 1)
		if len(got) != 1 || got[0] != tt.first {
			t.Errorf("Search(%q) = %v, want %s first", tt.query, got, tt.first)
		}
	}
}

func TestSearchEmpty(t *testing.T) {
	x := search.New(catalog())
	for _, query := range []string{"", " ", "\t\n", "...", "the of and", "zzzz", "\xff\xfe", "🦀"} {
		if got := x.Search(query, search.Options{Max: 20}); len(got) != 0 {
			t.Errorf("Search(%q) = %v, want no hits", query, got)
		}
	}
	if got := x.Search("files", search.Options{Max: 0}); got != nil {
		t.Errorf("max 0: %v", got)
	}
	if got := x.Search("files", search.Options{Max: -1}); got != nil {
		t.Errorf("max -1: %v", got)
	}
	if got := search.New(nil).Search("files", search.Options{Max: 5}); got != nil {
		t.Errorf("empty index: %v", got)
	}
}

// There is no gate: one known word among many unknown ones is enough.
func TestSearchHasNoGate(t *testing.T) {
	entries := catalog()
	x := search.New(entries)
	query := "utterly " + strings.Repeat("unheard-of ", 40) + "grep"
	if got := names(x, entries, query, 5); len(got) == 0 || got[0] != "files.search" {
		t.Errorf("Search = %v, want files.search", got)
	}
}

func TestWeak(t *testing.T) {
	x := search.New(catalog())
	for query, want := range map[string]bool{
		"grep":             false,
		"grep port":        false,
		"look up a record": false,
		"files.list":       false,
		"book a flight to Oslo and then show files.list, thank you very much": false,
		"book a flight to Oslo and send the receipt to my boss as a file":     true,
		"weather on Mars by key": true,
	} {
		if hits := x.Search(query, search.Options{Max: 1}); len(hits) != 1 || hits[0].Weak != want {
			t.Errorf("Search(%q) = %+v, want one hit with Weak = %v", query, hits, want)
		}
	}
}

func TestTiesAreOrderedByName(t *testing.T) {
	var entries []search.Document
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(30) {
		entries = append(entries, document(search.Texts{Name: fmt.Sprintf("same.n%c%c", 'a'+i/10, 'a'+i%10), Summary: "Equal."}))
	}
	got := names(search.New(entries), entries, "equal", 30)
	for i := 1; i < len(got); i++ {
		if got[i-1] >= got[i] {
			t.Fatalf("ties out of order: %v", got)
		}
	}
	if len(got) != 30 {
		t.Fatalf("%d hits, want 30", len(got))
	}
}

// The 32 rarest terms of a long query count: a common word at its front must
// not push out a rare one at its end.
func TestLongQueryKeepsItsRarestTerms(t *testing.T) {
	var entries []search.Document
	var query strings.Builder
	for i := range 40 {
		word := fmt.Sprintf("common%c%c", 'a'+i/26, 'a'+i%26)
		for j := range 3 {
			entries = append(entries, document(search.Texts{Name: fmt.Sprintf("c.n%dx%d", i, j), Summary: word}))
		}
		query.WriteString(word + " ")
	}
	entries = append(entries, document(search.Texts{Name: "r.rare", Summary: "needle"}))
	query.WriteString("needle")
	x := search.New(entries)
	hits := x.Search(query.String(), search.Options{Max: 1000})
	if got := entries[hits[0].Document].Name; got != "r.rare" {
		t.Errorf("first = %s, want r.rare", got)
	}
	if want := 1 + 31*3; len(hits) != want {
		t.Errorf("%d hits, want %d: one rare term and 31 of the 40 common ones", len(hits), want)
	}
}

func TestOrderOfEntriesDoesNotMatter(t *testing.T) {
	entries := catalog()
	reversed := catalog()
	for i, j := 0, len(reversed)-1; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	a, b := search.New(entries), search.New(reversed)
	for _, query := range []string{"files", "look up record", "show content", "server"} {
		if diff := cmp.Diff(names(a, entries, query, 20), names(b, reversed, query, 20)); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	entries := catalog()
	x := search.New(entries)
	want := names(x, entries, "read file content", 20)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if diff := cmp.Diff(want, names(x, entries, "read file content", 20)); diff != "" {
					t.Error(diff)
					return
				}
			}
		})
	}
	wg.Wait()
}

func FuzzSearch(f *testing.F) {
	entries := catalog()
	x := search.New(entries)
	for _, seed := range []string{"", "files.read", "HTTPServer2x", "the files of ÄÖü ß", "\xff.\x00", "ǅx", strings.Repeat("aB1.", 900)} {
		f.Add(seed, 20)
	}
	f.Fuzz(func(t *testing.T, query string, max int) {
		hits := x.Search(query, search.Options{Max: max})
		if len(hits) > 0 && len(hits) > max || len(hits) > len(entries) {
			t.Fatalf("%d hits for max %d", len(hits), max)
		}
		seen := map[int]bool{}
		for _, h := range hits {
			if seen[h.Document] || h.Score < 0 {
				t.Fatalf("bad hit %+v in %v", h, hits)
			}
			seen[h.Document] = true
		}
		if diff := cmp.Diff(hits, x.Search(query, search.Options{Max: max})); diff != "" {
			t.Fatalf("not deterministic: %s", diff)
		}
		// An index over the query itself must hold together too.
		own := search.New([]search.Document{
			document(search.Texts{Name: "a.b", Summary: query, Phrases: []string{query, query}}),
			{Name: query, Entry: search.Entry{Name: query, Summary: query}},
		})
		own.Search(query, search.Options{Max: 5})
	})
}
