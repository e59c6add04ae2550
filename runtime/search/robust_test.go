package search_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/search"
)

// The first search phrase of a catalog in which nothing else has one counts as
// much as where all have some.
func TestFirstPhraseOfACatalogCounts(t *testing.T) {
	entries := []search.Document{
		document(search.Texts{Name: "invoices.void", Summary: "Void an invoice.", Phrases: []string{"money back"}}),
		document(search.Texts{Name: "ledger.post", Summary: "Post an entry.",
			Parameters: []search.Parameter{{Name: "amount", Description: "The money that moves."}}}),
	}
	for i := range 60 {
		entries = append(entries, document(search.Texts{Name: fmt.Sprintf("other.n%c%c", 'a'+i/26, 'a'+i%26), Summary: "Something else entirely.",
			Parameters: []search.Parameter{{Name: "amount", Description: "The number that counts."}}}))
	}
	if got := names(search.New(entries), entries, "money", 1); len(got) != 1 || got[0] != "invoices.void" {
		t.Errorf("first = %v, want invoices.void", got)
	}
}

// A capability whose phrases hold the words of all others does not come before
// them, though nothing else has phrases.
func TestStuffedPhrasesDoNotComeFirst(t *testing.T) {
	var entries []search.Document
	var words []string
	for i := range 100 {
		word := fmt.Sprintf("word%c%c", 'a'+i/26, 'a'+i%26)
		words = append(words, word)
		entries = append(entries, document(search.Texts{Name: fmt.Sprintf("plain.n%d", i), Summary: "Tell the state of a " + word + "."}))
	}
	entries = append(entries, document(search.Texts{Name: "a.stuffed", Summary: "Tell nothing.", Phrases: []string{strings.Join(words, " ")}}))
	x := search.New(entries)
	for i, word := range words {
		if got := names(x, entries, word, 1); len(got) != 1 || got[0] != entries[i].Name {
			t.Fatalf("%s: first = %v, want %s", word, got, entries[i].Name)
		}
	}
}
