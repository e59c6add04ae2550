package search

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What Analyze writes stands in generated code: a change here makes every
// generated tree stale, and a tree that is not generated again finds less.
func TestAnalyze(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"files.read_many", "file read mani/many"},
		{"readMany", "read mani/many"},
		{"HTTPServer", "http server"},
		{"parseHTTPRequest2JSON", "pars/parse http request 2 json"},
		{"int64s", "int 64"}, // the lone s is a connector, as in "file's"
		{"v2", "v 2"},
		{"How do I get the file's size?", "file size"},
		{"a-b/c,d", "b c"},
		{"One thing. Another one! Files.read; then", "one thing, anoth/another one, file read"},
		{"Straße ÄHRE ÄHREnFeld", "straße ähre ähr en feld"},
		{"日本語 ファイルを読むAPI", "日 本 語 フ ァ イ ル を 読 む api"},
		{"파일을 읽다, サーバー", "파 일 을 읽 다 サ ー バ ー"},
		{"entries classes status boxes address", "entri/entry class status box address"},
		{"calculation of calculated directories", "calcul/calculation calcul/calculated directori/directory"},
		{"X", "x"},
		{"aB", "b"},
		{"\xffok\xff", "ok"},
		{"and the of", "and the of"}, // nothing else to go by
		{"?!. ,", ""},
	} {
		if got := analyze(tt.in); got != tt.want {
			t.Errorf("analyze(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	got := Analyze(Texts{
		Name: "data.files.read_many", Summary: "Read files.", Description: "Read files.",
		Phrases:    []string{"open file", "cat"},
		Parameters: []Parameter{{"paths", "Which files. At most ten."}, {Name: "maxBytes"}, {"n", "How many."}},
	})
	want := Entry{
		Name: "read mani/many", Namespace: "data file", Phrases: "open file, cat", Summary: "read file",
		ParameterNames: "path, max byte, n", ParameterDescriptions: "file, ten, mani/many",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, ",": nil, "a": {"^a"}, "a b": {"^a", "b"}, "a, b c": {"^a", "^b", "c"}, "entri/entry, b,": {"^entri/entry", "^b"},
	} {
		var got []string
		parse(text, func(token string, first bool) {
			if first {
				token = "^" + token
			}
			got = append(got, token)
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("parse(%q): %s", text, diff)
		}
	}
}

func TestTermIsCutOnARune(t *testing.T) {
	got := terms(strings.Repeat("ä", 4000))
	if len(got) != 1 || got[0].word != strings.Repeat("ä", maxTermBytes/2) {
		t.Errorf("terms = %v", got)
	}
}

// Reading is linear: thirty times the text must not take a thousand times as
// long. The bound is loose, for a loaded machine; quadratic work misses it by
// far.
func TestTermsAreLinear(t *testing.T) {
	unit := strings.Repeat("aB1.HTTPServerX ", 2000)
	took := func(s string) time.Duration {
		start := time.Now()
		terms(s)
		return time.Since(start)
	}
	small := max(took(unit), time.Millisecond)
	if big := took(strings.Repeat(unit, 30)); big > 300*small {
		t.Errorf("30 times the text took %v, the text %v", big, small)
	}
}
