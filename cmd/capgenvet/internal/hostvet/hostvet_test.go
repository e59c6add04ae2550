package hostvet_test

import (
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/capgen/capgen/cmd/capgenvet/internal/hostvet"
)

func analyzer(t *testing.T, name string) *analysis.Analyzer {
	t.Helper()
	for _, a := range hostvet.Analyzers() {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("no analyzer %s", name)
	return nil
}

// All rules over the module testdata/host, whose dependencies are vendored:
// comments say what is to be found, and that nothing else is.
func TestRules(t *testing.T) {
	all := &analysis.Analyzer{
		Name:     "all",
		Doc:      "all rules at once: loading is what takes long",
		Requires: []*analysis.Analyzer{analyzer(t, "reach")},
	}
	rules := slices.DeleteFunc(hostvet.Analyzers(), func(a *analysis.Analyzer) bool { return a.Name == "reach" })
	if len(rules) != 4 {
		t.Fatalf("%d rules", len(rules))
	}
	all.Run = func(pass *analysis.Pass) (any, error) {
		for _, rule := range rules {
			for _, required := range rule.Requires {
				pass.ResultOf[required] = pass.ResultOf[all.Requires[0]]
			}
			if _, err := rule.Run(pass); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	analysistest.Run(t, host(), all, "./entry/...", "./quiet/...", "./stdout/...", "./readonly/...")
}

// The comments themselves, and the facts.
func TestComments(t *testing.T) {
	analysistest.Run(t, host(), analyzer(t, "reach"), "./comments")
}

func host() string { return filepath.Join(analysistest.TestData(), "host") }
