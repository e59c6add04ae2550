package breaking

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of rules into the reference")

// The reference page has the table of rules, row by row.
func TestReferencePage(t *testing.T) {
	const page, heading = "../../docs/reference/breaking.md", "\n## Rules\n\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(string(text), heading)
	if !ok {
		t.Fatalf("%s has no heading Rules", page)
	}
	var b strings.Builder
	b.WriteString(before + heading + "| Rule | Level | Category | Breaks | Means |\n|---|---|---|---|---|\n")
	for _, r := range Rules() {
		var breaks []string
		for _, p := range r.Breaks {
			breaks = append(breaks, string(p))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", r.ID, r.Level, r.Category, strings.Join(breaks, ", "), r.Text)
	}
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if b.String() != string(text) {
		t.Errorf("%s has other rules than there are: run this test with -update", page)
	}
}
