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

// A word that nothing holds is looked for as it may have been meant.
func TestMisspeltWords(t *testing.T) {
	entries := catalog()
	x := search.New(entries)
	for query, want := range map[string]string{
		"regulr expresion": "files.search", // a letter missing
		"regularr":         "files.search", // one too many, at the end
		"regukar":          "files.search", // another one
		"reuglar":          "files.search", // two that changed places
		"seerver":          "http.server_start",
		"directiry":        "files.list",
		"xegular":          "", // the first letter is taken as right
		"rgeulra":          "", // two slips
		"grip":             "", // too short to tell
		"reg1lar":          "",
	} {
		got := strings.Join(names(x, entries, query, 1), "")
		if got != want {
			t.Errorf("Search(%q) = %q, want %q", query, got, want)
		}
	}
	// A known word is what it says, though another is near.
	near := []search.Document{
		document(search.Texts{Name: "a.forms", Summary: "Fill forms."}),
		document(search.Texts{Name: "b.farms", Summary: "Visit farms."}),
		document(search.Texts{Name: "c.first", Summary: "Make firsts."}),
	}
	if got := names(search.New(near), near, "farms", 9); len(got) != 1 || got[0] != "b.farms" {
		t.Errorf("farms: %v", got)
	}
	terms := x.Explain("directiry", 0)
	if len(terms) != 1 || terms[0].Text != "directiry = directori" {
		t.Errorf("explained as %v", terms)
	}
}

// Scripts without spaces are compared by syllables and pairs of them.
func TestScriptsWithoutSpaces(t *testing.T) {
	entries := []search.Document{
		document(search.Texts{Name: "files.read", Summary: "Read a file.", Phrases: []string{"ファイルを読む", "读取文件内容"}}),
		document(search.Texts{Name: "files.list", Summary: "List a folder.", Phrases: []string{"フォルダの一覧", "列出目录"}}),
		document(search.Texts{Name: "mail.send", Summary: "Send mail.", Phrases: []string{"메일을 보내다", "发送邮件"}}),
	}
	x := search.New(entries)
	for query, want := range map[string]string{
		"このファイルの内容を読んで": "files.read", "请读取这个文件": "files.read", "フォルダを見せて": "files.list", "目录里有什么": "files.list", "메일 보내기": "mail.send", "邮件": "mail.send",
	} {
		if got := names(x, entries, query, 1); len(got) != 1 || got[0] != want {
			t.Errorf("Search(%q) = %v, want %s", query, got, want)
		}
	}
}

// Connectors count where there is nothing else, in a name and in a query.
func TestNamesOfConnectors(t *testing.T) {
	entries := []search.Document{
		document(search.Texts{Name: "users.who_am_i", Summary: "Name the caller."}),
		document(search.Texts{Name: "to_do.add", Summary: "Note a task."}),
		document(search.Texts{Name: "records.get", Summary: "Fetch a record by key."}),
	}
	x := search.New(entries)
	for query, want := range map[string]string{
		"who am I": "users.who_am_i", "get": "records.get", "to-do": "to_do.add", "how do I get a task": "to_do.add",
	} {
		if got := names(x, entries, query, 1); len(got) != 1 || got[0] != want {
			t.Errorf("Search(%q) = %v, want %s", query, got, want)
		}
	}
}

// An old name finds what has it no longer, unless another has it now.
func TestOldNames(t *testing.T) {
	entries := catalog()
	entries[0].Was = []string{"folders.dir", "files.read", "bare"}
	x := search.New(entries)
	for query, want := range map[string]string{
		"grep find text folders.dir": "files.list", "files.read": "files.read", "bare": "",
	} {
		hits := x.Search(query, search.Options{Max: 1})
		got := ""
		if len(hits) > 0 {
			got = entries[hits[0].Document].Name
		}
		if got != want || len(hits) > 0 && hits[0].Weak {
			t.Errorf("Search(%q) = %v, want %s", query, hits, want)
		}
	}
}

// How many words a misspelt one is compared with has a bound, whatever the
// catalog: of more than 4,096 that may be meant, the last are not looked at.
func TestMisspeltWordsAreBounded(t *testing.T) {
	var words strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&words, "q%c%c%caaa ", 'a'+i/676, 'a'+i/26%26, 'a'+i%26)
	}
	x := search.New([]search.Document{document(search.Texts{Name: "a.b", Summary: words.String()})})
	for query, want := range map[string]int{"qaaaaax": 1, "qhihaax": 0} {
		if hits := x.Search(query, search.Options{Max: 1}); len(hits) != want {
			t.Errorf("Search(%q) = %v, want %d", query, hits, want)
		}
	}
}
