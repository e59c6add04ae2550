package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/search"
)

// described is a capability with a name and a summary to search.
func described(name, summary string) Capability {
	c := named(name, lookup)
	c.info.Summary, c.info.Search = summary, search.Analyze(search.Texts{Name: name, Summary: summary})
	return c
}

func found(t *testing.T, s *Server, r SearchRequest) SearchResult {
	t.Helper()
	result, err := s.Search(t.Context(), authz.Local(), r)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func hitNames(r SearchResult) []string {
	var out []string
	for _, h := range r.Results {
		out = append(out, h.Name)
	}
	return out
}

func TestSearchRequest(t *testing.T) {
	var capabilities []Capability
	for i := range 30 {
		capabilities = append(capabilities, described(fmt.Sprintf("files.n%c%c", 'a'+i/26, 'a'+i%26), "Read a file."))
	}
	capabilities = append(capabilities, described("files.deep.read", "Read a file."), described("filesystem.read", "Read a file."))
	s := build(t, Options{}, capabilities...)
	for _, tt := range []struct {
		request   SearchRequest
		results   int
		truncated bool
	}{
		{SearchRequest{Query: "file"}, 10, true},
		{SearchRequest{Query: "file", Limit: 3}, 3, true},
		{SearchRequest{Query: "file", Limit: 20}, 20, true},
		{SearchRequest{Query: "file", Namespace: "files.deep"}, 1, false},
		{SearchRequest{Query: "file", Namespace: "filesystem"}, 1, false},
		{SearchRequest{Query: "file", Namespace: "files", Limit: 20}, 20, true},
		{SearchRequest{Query: "filesystem.read", Namespace: "files.deep"}, 1, false},
	} {
		r := found(t, s, tt.request)
		if len(r.Results) != tt.results || r.Truncated != tt.truncated || len(r.Namespaces) != 0 {
			t.Errorf("%+v: %d results, truncated %v, namespaces %v", tt.request, len(r.Results), r.Truncated, r.Namespaces)
		}
		for _, name := range hitNames(r) {
			if tt.request.Namespace != "" && !strings.HasPrefix(name, tt.request.Namespace+".") {
				t.Errorf("%+v finds %s", tt.request, name)
			}
		}
	}
	for _, bad := range []SearchRequest{{Query: "x", Limit: 21}, {Query: "x", Limit: -1}, {Query: "x", Namespace: strings.Repeat("n", 65)}} {
		if _, err := s.Search(t.Context(), authz.Local(), bad); !errors.Is(err, ErrInvalidArguments) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if r := found(t, build(t, Options{Limits: Limits{MaxSearchResults: 4}}, capabilities...), SearchRequest{Query: "file"}); len(r.Results) != 4 || !r.Truncated {
		t.Errorf("a host's lower limit: %d results", len(r.Results))
	}
}

func TestSearchNamespaces(t *testing.T) {
	s := build(t, Options{}, described("a.one", "Read."), described("a.two", "Read."), described("a.b.three", "Read."), described("c.four", "Read."))
	all := []NamespaceCount{{"a", 2}, {"a.b", 1}, {"c", 1}}
	for _, tt := range []struct {
		request SearchRequest
		want    []NamespaceCount
	}{
		{SearchRequest{}, all},
		{SearchRequest{Query: " \t the of"}, all},
		{SearchRequest{Query: "zebra"}, all},
		{SearchRequest{Query: "zebra", Namespace: "a"}, all[:2]},
		{SearchRequest{Namespace: "a.b"}, all[1:2]},
		{SearchRequest{Query: "read", Namespace: "nothing.here"}, all},
		{SearchRequest{Query: "read"}, []NamespaceCount{}},
	} {
		r := found(t, s, tt.request)
		if diff := cmp.Diff(tt.want, r.Namespaces); diff != "" {
			t.Errorf("%+v: %s", tt.request, diff)
		}
		if blank := len(tt.want) > 0; blank != (len(r.Results) == 0) || r.Weak != blank {
			t.Errorf("%+v: %d results, weak %v", tt.request, len(r.Results), r.Weak)
		}
	}
}

// Two capabilities of the same words: the one that is to stay comes first.
func TestSearchRanksDeprecatedDown(t *testing.T) {
	old := described("a.old", "Read one file.")
	other := described("b.other", "Read one file.")
	if names := hitNames(found(t, build(t, Options{}, old, other), SearchRequest{Query: "read file"})); names[0] != "a.old" {
		t.Fatalf("%v", names)
	}
	old.info.Deprecated = &Deprecation{Since: "2026-11-29"}
	s := build(t, Options{}, old, other)
	if names := hitNames(found(t, s, SearchRequest{Query: "read file"})); len(names) != 2 || names[0] != "b.other" {
		t.Errorf("%v", names)
	}
	if names := hitNames(found(t, s, SearchRequest{Query: "read file a.old"})); names[0] != "a.old" {
		t.Errorf("by its exact name: %v", names)
	}
}

func TestExplainSearch(t *testing.T) {
	s := build(t, Options{}, described("files.list", "List one folder."), described("files.read", "Read a file."))
	got, err := s.ExplainSearch(t.Context(), authz.Local(), SearchRequest{Query: "list a directory", Limit: 5})
	if err != nil || len(got) != 1 || got[0].Name != "files.list" || got[0].Weak {
		t.Fatalf("%+v %v", got, err)
	}
	sum, terms := 0.0, []string{}
	for _, term := range got[0].Terms {
		sum += term.Score
		terms = append(terms, term.Text)
	}
	if diff := cmp.Diff([]string{"list", "directory = folder"}, terms); diff != "" {
		t.Error(diff)
	}
	if d := sum - got[0].Score; d > 1e-4 || d < -1e-4 {
		t.Errorf("the terms make up %v, the score is %v", sum, got[0].Score)
	}
	if _, err := s.ExplainSearch(t.Context(), authz.Subject{}, SearchRequest{Query: "x"}); !errors.Is(err, ErrUnauthenticated) {
		t.Errorf("without a subject: %v", err)
	}
}

// FuzzSearchIgnoresDisabled: whatever the query and the texts of a disabled
// capability are, the answer is that of a server that never had it.
func FuzzSearchIgnoresDisabled(f *testing.F) {
	for _, seed := range [][3]string{
		{"read file", "read file", "s"}, {"secrets.reveal", "a secret", "secrets"}, {"files.hide", "hidden fihes", "files"}, {"", "", ""}, {"files read the zebra", "zebra, read file", "files"},
		{"\xff ÄÖ files.read?", "a/b, c,,d /", "read"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	enabled := []Capability{described("files.read", "Read one file."), described("files.list", "List a folder."), described("notes.find", "Find notes by words.")}
	index := func(t testing.TB, capabilities []Capability, off []string) *Server {
		c, problems := newCatalog(capabilities, off)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		limits, err := Limits{}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		return newServer(Options{}, limits, c, nil)
	}
	plain := index(f, enabled, nil)
	f.Fuzz(func(t *testing.T, query, summary, namespace string) {
		hidden := described("secrets.reveal", "Reveal "+strings.ToValidUTF8(summary, "?"))
		hidden.info.Was = []string{"files.hide"}
		hidden.info.Search.Phrases = strings.ToValidUTF8(summary, "?")
		both := index(t, append([]Capability{hidden}, enabled...), []string{"secrets.reveal"})
		for _, r := range []SearchRequest{{Query: query}, {Query: query, Namespace: namespace}, {Query: query + " " + summary, Limit: 1}} {
			want, wantErr := plain.Search(t.Context(), authz.Local(), r)
			got, gotErr := both.Search(t.Context(), authz.Local(), r)
			if diff := cmp.Diff(want, got); diff != "" || fmt.Sprint(wantErr) != fmt.Sprint(gotErr) {
				t.Fatalf("%+v: %s %v %v", r, diff, wantErr, gotErr)
			}
			// Scores tell whether a disabled capability counts in how rare words are.
			wantScores, _ := plain.ExplainSearch(t.Context(), authz.Local(), r)
			gotScores, _ := both.ExplainSearch(t.Context(), authz.Local(), r)
			if diff := cmp.Diff(wantScores, gotScores); diff != "" {
				t.Fatalf("%+v: %s", r, diff)
			}
			text, err := json.Marshal(got)
			if err != nil || len(text) > plain.limits.MaxSearchResponseBytes {
				t.Fatalf("%d bytes, %v", len(text), err)
			}
		}
	})
}
