package schema

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func renderSample() []Diagnostic {
	return []Diagnostic{
		{
			Position: Position{"a,b:c.yaml", 3, 5}, Severity: SeverityError, Rule: ruleUnknownKey,
			Message: `a schema takes no key "tpye"`, Hint: "remove it\n100%", Nearest: "type",
			Related: &Position{"a,b:c.yaml", 1, 2},
		},
		{Position: Position{File: "x"}, Severity: SeverityWarning, Rule: ruleTooManyFindings, Message: "7 more findings are not shown"},
	}
}

func TestRender(t *testing.T) {
	for _, c := range []struct {
		format Format
		want   string
	}{
		{FormatText, `a,b:c.yaml:3:5: error: a schema takes no key "tpye" [unknown-key]
    hint: remove it
100%
    did you mean "type"?
    see also a,b:c.yaml:1:2
x: warning: 7 more findings are not shown [too-many-findings]
`},
		{FormatGitHub, `::error file=a%2Cb%3Ac.yaml,line=3,col=5,title=unknown-key::a schema takes no key "tpye"%0Ahint: remove it%0A100%25%0Adid you mean "type"?%0Asee also a,b:c.yaml:1:2
::warning file=x,title=too-many-findings::7 more findings are not shown
`},
		{FormatJSON, `{
  "diagnostics": [
    {
      "file": "a,b:c.yaml",
      "line": 3,
      "column": 5,
      "severity": "error",
      "rule": "unknown-key",
      "message": "a schema takes no key \"tpye\"",
      "hint": "remove it\n100%",
      "nearest": "type",
      "related": {
        "file": "a,b:c.yaml",
        "line": 1,
        "column": 2
      }
    },
    {
      "file": "x",
      "severity": "warning",
      "rule": "too-many-findings",
      "message": "7 more findings are not shown"
    }
  ]
}
`},
	} {
		var b strings.Builder
		if err := Render(&b, renderSample(), c.format); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, b.String()); diff != "" {
			t.Errorf("%s:\n%s", c.format, diff)
		}
	}
}

func TestRenderNothing(t *testing.T) {
	var b strings.Builder
	if err := Render(&b, nil, FormatJSON); err != nil || b.String() != "{\n  \"diagnostics\": []\n}\n" {
		t.Errorf("%q %v", b.String(), err)
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestRenderErrors(t *testing.T) {
	if err := Render(brokenWriter{}, renderSample(), FormatText); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	var b strings.Builder
	if err := Render(&b, renderSample(), "xml"); err == nil || b.Len() > 0 {
		t.Error("an unknown format was written")
	}
}

// Whatever a manifest says, a finding stays on its lines and shows no
// character that acts.
func TestMessagesAreEscaped(t *testing.T) {
	for _, hostile := range []string{
		"\x1b[31m", "a\nb", "::error::x", "\u202eevil", "zero\u200bwidth", "%0A::warning::", strings.Repeat("long", 1000), "\u2028", "q\"q\\",
	} {
		text, err := json.Marshal(hostile)
		if err != nil {
			t.Fatal(err)
		}
		manifest := `{"capgen": 1, ` + string(text) + `: 1, "types": {` + string(text) + `: {"type": ` + string(text) + `}}}`
		_, diags := Load(map[string][]byte{"m.json": []byte(manifest)}, "m.json")
		if len(diags) < 3 {
			t.Fatalf("%q: %v", hostile, diags)
		}
		for _, d := range diags {
			for _, s := range []string{d.Message, d.Hint, d.Nearest} {
				if len(s) > 1000 {
					t.Errorf("%d bytes: %.80s", len(s), s)
				}
				for _, r := range s {
					if isControl(r) || isInvisible(r) {
						t.Errorf("U+%04X in %q", r, s)
					}
				}
			}
		}
		var b strings.Builder
		if err := Render(&b, diags, FormatGitHub); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if !strings.HasPrefix(line, "::error file=m.json") && !strings.HasPrefix(line, "::warning file=m.json") {
				t.Errorf("a line of its own: %q", line)
			}
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                 `"plain"`,
		"é 日本":                  `"é 日本"`,
		"a\"b\\c":               `"a\"b\\c"`,
		"\n\t\r\x00\x7f\u0085":  `"\n\t\r\u{0000}\u{007f}\u{0085}"`,
		"\u202e\u200b\ufeff":    `"\u{202e}\u{200b}\u{feff}"`,
		"\U000E0041\u00a0":      `"\u{e0041}\u{00a0}"`,
		"\xff":                  `"\xff"`,
		strings.Repeat("é", 64): `"` + strings.Repeat("é", 64) + `"`,
		strings.Repeat("é", 65): `"` + strings.Repeat("é", 64) + `…"`,
	} {
		if got := quote(in); got != want {
			t.Errorf("quote(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestNearestHasABudget(t *testing.T) {
	words := []string{"minLength", "type"}
	budget := 3
	if got := nearestName("tpye", words, &budget); got != "type" || budget != 1 {
		t.Errorf("%q, %d left", got, budget)
	}
	if got := nearestName("tpye", words, &budget); got != "" || budget != 0 {
		t.Errorf("without a budget: %q, %d left", got, budget)
	}
}
