package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/capgen/capgen/examples/evaluate/generated/filters"
)

// What people approve is all that runs: the source as it came, and what measures
// it behind that.
func TestEvaluatePlans(t *testing.T) {
	const source = "def is_spam(text):\n    return False"
	run, err := evaluation{}.Evaluate(t.Context(), filters.EvaluateInput{Source: source, Summary: "never"})
	if err != nil || run.Summary != "never" || len(run.Files) != 1 || run.Files[0].Path != "main.star" {
		t.Fatalf("%+v, %v", run, err)
	}
	if text := string(run.Files[0].Content); !strings.HasPrefix(text, source+"\n") || !strings.HasSuffix(text, measure) {
		t.Errorf("it runs\n%s", text)
	}
	if !json.Valid(run.Arguments) {
		t.Errorf("it is given %s", run.Arguments)
	}
	for _, none := range []string{"def main():\n    pass", "x = 'def is_spam('", "    def is_spam(text):\n        return True"} {
		if _, err := (evaluation{}).Evaluate(t.Context(), filters.EvaluateInput{Source: none}); !errors.Is(err, filters.ErrEvaluateNoFilter) {
			t.Errorf("%q: %v", none, err)
		}
	}
}
