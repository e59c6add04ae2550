package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/capgen/capgen/schema"
)

// The manifests that people read here, and learn from, are clean.
func TestManifestsAreClean(t *testing.T) {
	for _, file := range []string{"../../capabilities.yaml", "../../examples/quickstart/capabilities.yaml", "../../examples/agentstubs/capabilities.yaml", "../../examples/deployments/capabilities.yaml", "../../examples/evaluate/capabilities.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, diags := schema.LoadFrom(text, filepath.Base(file), func(part string) ([]byte, error) {
			return os.ReadFile(filepath.Join(filepath.Dir(file), part))
		})
		if m == nil {
			t.Fatal(file, diags)
		}
		for _, f := range Check(m) {
			t.Errorf("%s: %s", file, f.Diagnostic)
		}
	}
}

// An allowance accepts one rule about one thing, and nothing else.
func TestAllowances(t *testing.T) {
	text := strings.Replace(clean, "types:\n", `lint:
  allow:
    - {rule: urgency, target: records.lookup, reason: A.}
    - {rule: urgency, target: server, reason: B.}
    - {rule: urgency, target: types.Order, reason: C.}
types:
`, 1)
	text = strings.NewReplacer(inDescription, "WARNING, you must pass a key.", "Looks up records.", "Looks up records!!",
		"up begins", "CRITICAL up begins", "keep an item", "URGENT keep").Replace(text)
	var got []string
	for _, f := range Check(load(t, text)) {
		got = append(got, f.Rule+" "+f.Target)
	}
	if s := strings.Join(got, ", "); s != "order-to-model records.lookup, urgency records.add" {
		t.Error(s)
	}
}

// Findings say where: the text, the parameter, the value itself.
func TestPlaces(t *testing.T) {
	for place, want := range map[string]string{
		inDescription:        "You must.",
		"find stored item":   "You must.",
		"Looks up records.":  "You must.",
		"Key of the record.": "You must.",
		"up begins with the oldest, down with the newest.": "You must.",
	} {
		text := strings.Replace(clean, place, want, 1)
		before, _, _ := strings.Cut(text, want)
		line := strings.Count(before, "\n") + 1
		findings := Check(load(t, text))
		if len(findings) != 1 || findings[0].Line != line || findings[0].Column < 5 {
			t.Errorf("in place of %q, line %d: %v", place, line, findings)
		}
	}
}

// A secret is not told on: logs and pull requests would keep it.
func TestSecretsStayThere(t *testing.T) {
	const key = "AKIAABCDEFGHIJKLMNOP"
	for _, f := range Check(load(t, strings.Replace(clean, inDescription, "Use "+key, 1))) {
		if strings.Contains(f.Message, key[:8]) || f.Severity != schema.SeverityError {
			t.Error(f)
		}
	}
}

// Whatever a manifest says, findings are of rules that there are, sorted, in
// place, and hold nothing that acts on who reads them.
func FuzzCheck(f *testing.F) {
	for _, c := range ruleCases {
		f.Add(strings.Join(c.fires, "\n"))
	}
	known := map[string]bool{}
	for _, id := range ids() {
		known[id] = true
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, _ := schema.Load(map[string][]byte{"m.yaml": []byte(text)}, "m.yaml")
		if m == nil {
			m = &schema.Manifest{Server: schema.Server{Instructions: text, InstructionsAt: schema.Position{File: "m.yaml", Line: 1, Column: 1}}}
			m.Capabilities = []*schema.Capability{{Name: "a.b", Summary: text, Description: text, Search: []string{text}, Effect: "read", World: "closed",
				Input: &schema.Type{Kind: schema.Object}, Output: &schema.Type{Kind: schema.String, Pattern: text, Enum: []string{text}, Pos: m.Server.InstructionsAt}, Pos: m.Server.InstructionsAt}}
		}
		findings := Check(m)
		for i, x := range findings {
			if !known[x.Rule] || x.Line == 0 || x.Target == "" || i > 0 && compare(findings[i-1], x) >= 0 {
				t.Errorf("%+v", x)
			}
			if strings.ContainsFunc(x.Message+x.Hint, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
				t.Errorf("%q", x.Message+x.Hint)
			}
		}
	})
}
