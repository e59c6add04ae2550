package program_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/program"
)

// TestMistakes holds what is said of the mistakes that programs make most:
// testdata/mistakes.txt has each with where it is, what it is and what to write
// instead, and the program that does so, with its result.
func TestMistakes(t *testing.T) {
	text, err := os.ReadFile("testdata/mistakes.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, mistake := range strings.Split(string(text), "\n====\n") {
		parts := strings.Split(strings.TrimSuffix(mistake, "\n"), "\n----\n")
		name, source, ok := strings.Cut(parts[0], "\n")
		if !ok || len(parts) != 4 {
			t.Fatalf("not a mistake, what is said, the right program and its result:\n%s", mistake)
		}
		t.Run(strings.TrimPrefix(name, "# "), func(t *testing.T) {
			if got := told(t, source); got != parts[1] {
				t.Errorf("got\n%s\nwant\n%s", got, parts[1])
			}
			if got := told(t, parts[2]); got != parts[3] {
				t.Errorf("what to write instead: got\n%s\nwant\n%s", got, parts[3])
			}
		})
	}
}

// told is what an author is told of a program.
func told(t *testing.T, source string) string {
	t.Helper()
	r, f := program.Run(program.Program{Source: source, Limits: limits()}, table(t), &host{t: t})
	switch {
	case f == nil && r.NoValue:
		return "no value"
	case f == nil:
		return "result: " + toJSON(t, r.Value)
	}
	text := fmt.Sprintf("%s: %s", f.Class, f)
	if f.Hint != "" {
		text += "\nhint: " + f.Hint
	}
	if len(f.Trace) > 0 {
		text += "\ntrace: " + strings.Join(f.Trace, "; ")
	}
	return text
}
