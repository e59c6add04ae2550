package search

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTerms(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{"files.read_many", []string{"file", "read", "many"}},
		{"readMany", []string{"read", "many"}},
		{"HTTPServer", []string{"http", "server"}},
		{"parseHTTPRequest2JSON", []string{"parse", "http", "request", "2", "json"}},
		{"int64s", []string{"int", "64"}}, // the lone s is a connector, as in "file's"
		{"v2", []string{"v", "2"}},
		{"How do I get the file's size?", []string{"file", "size"}},
		{"a-b/c,d", []string{"b", "c", "d"}},
		{"Straße ÄHRE ÄHREnFeld", []string{"straße", "ähre", "ähr", "en", "feld"}},
		{"日本語 ファイル", []string{"日本語", "ファイル"}},
		{"entries classes status boxes address", []string{"entry", "class", "status", "box", "address"}},
		{"X", []string{"x"}},
		{"aB", []string{"b"}},
		{"\xffok\xff", []string{"ok"}},
	} {
		if diff := cmp.Diff(tt.want, terms(tt.in)); diff != "" {
			t.Errorf("terms(%q): %s", tt.in, diff)
		}
	}
}

func TestTermIsCutOnARune(t *testing.T) {
	got := terms(strings.Repeat("ä", 4000))
	if len(got) != 1 || got[0] != strings.Repeat("ä", maxTermBytes/2) {
		t.Errorf("terms = %q", got)
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
