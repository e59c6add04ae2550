package nearest

import (
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	words := []string{"minLength", "maxLength", "minItems", "type", "title", "read_many", "stdio", "help"}
	for name, want := range map[string]string{
		"maxlength":                     "maxLength", // case is free: not minLength
		"minLenght":                     "minLength", // neighbours swapped
		"tpye":                          "type",
		"titel":                         "title",
		"readmany":                      "read_many",
		"ReadMany":                      "read_many",
		"http":                          "help",
		"hlp":                           "help",
		"type":                          "", // it is there
		"zzzz":                          "",
		"t":                             "",
		"":                              "",
		"_":                             "",
		"frobnicate":                    "",
		strings.Repeat("a", MaxBytes+1): "",
	} {
		if got := Name(name, words); got != want {
			t.Errorf("nearest to %.20q: %q, want %q", name, got, want)
		}
	}
}

func TestAbbreviations(t *testing.T) {
	types := []string{"object", "array", "string", "integer", "number", "boolean"}
	for _, c := range []struct {
		name       string
		candidates []string
		want       string
	}{
		{"str", types, "string"},
		{"Int", types, "integer"},
		{"bool", types, "boolean"},
		{"readonly", []string{"read", "write", "destroy"}, "read"},
		{"st", types, ""},
		{"strategy", types, ""},
		{"min", []string{"minimum", "minLength"}, ""},
		{"string", []string{"string", "string_list", "string_list"}, "string_list"},
	} {
		if got := Name(c.name, c.candidates); got != c.want {
			t.Errorf("nearest to %q of %q: %q, want %q", c.name, c.candidates, got, c.want)
		}
	}
}

// Equally near: the first in byte order, whatever the order given.
func TestTies(t *testing.T) {
	for _, candidates := range [][]string{{"hat", "bat"}, {"bat", "hat"}, {"bat", "coat", "hat"}} {
		if got := Name("cat", candidates); got != "bat" {
			t.Errorf("%q: %q", candidates, got)
		}
	}
	if got := Name("caat", []string{"coast", "cat"}); got != "cat" {
		t.Error(got)
	}
}

func TestLongCandidatesAreNotCompared(t *testing.T) {
	long := strings.Repeat("a", MaxBytes)
	if got := Name(long, []string{long + "a"}); got != "" {
		t.Errorf("%d bytes", len(got))
	}
}
