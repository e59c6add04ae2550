package schema

import (
	"os"
	"strings"
	"testing"
)

// Every key that a manifest takes stands on the reference page, in a table.
func TestReferencePage(t *testing.T) {
	text, err := os.ReadFile("../docs/reference/manifest.md")
	if err != nil {
		t.Fatal(err)
	}
	var tables strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "|") {
			tables.WriteString(line)
		}
	}
	w := newWords()
	for _, v := range []vocabulary{w.manifest, w.part, w.server, w.capability, w.deprecated, w.source, w.mcpSource, w.claimed, w.retry, w.limits, w.runLimits, w.pagination, w.deployments, w.deployment, w.selector, w.credential, w.lint, w.allowance, w.schema} {
		for _, key := range v.known {
			// go and default are written as go.package and default: {}.
			if key != "go" && !strings.Contains(tables.String(), "`"+key+"`") && !strings.Contains(tables.String(), "`"+key+":") {
				t.Errorf("%s: no row names %s", v.what, key)
			}
		}
	}
}
