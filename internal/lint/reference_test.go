package lint

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/reference/lint.md")

// The reference page has the table of rules, from the first row to the last.
func TestReferencePage(t *testing.T) {
	const page, head = "../../docs/reference/lint.md", "| Rule | Level | Holds of a good manifest | Looks for, and why |\n|---|---|---|---|\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(text), head)
	if !ok {
		t.Fatal("no table of rules")
	}
	var rows, got strings.Builder
	for _, r := range Rules() {
		fmt.Fprintf(&rows, "| `%s` | %s | %s | %s |\n", r.ID, r.Level, cell(r.Text), cell(r.Explanation))
	}
	for line := range strings.Lines(after) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		got.WriteString(line)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+head+rows.String()+after[got.Len():]), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if got.String() != rows.String() {
		t.Errorf("the table is not that of the rules: go test ./internal/lint -run TestReferencePage -update")
	}
}

func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(s)
}
