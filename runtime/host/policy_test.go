package host

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/canon"
)

// FuzzCases looks for a file of cases that is taken although it is not what a
// server can be asked.
func FuzzCases(f *testing.F) {
	f.Add(`{"cases": [{"title": "t", "subject": "oidc:https://login.example#ann", "scopes": ["a"], "capability": "a.b", "arguments": {"x": [1]}, "expect": "deny", "reason": "r"}]}`)
	f.Add(`{"cases": [{"subject": "local", "capability": "a.b", "expect": "allow"}], "x": 1}`)
	f.Add("{\"cases\": [\n{\"subject\": \"\\ud800\"")
	f.Fuzz(func(t *testing.T, text string) {
		cases, err := readCases([]byte(text), grant{})
		if err != nil {
			var refused *canon.Error
			line, column := position([]byte(text), 0)
			if !errors.As(err, &refused) || refused.Offset < 0 || refused.Offset > len(text) || line != 1 || column != 1 {
				t.Errorf("an error without a place: %#v", err)
			}
			return
		}
		if len(cases) == 0 || len(cases) > maxCases {
			t.Errorf("%d cases", len(cases))
		}
		for _, c := range cases {
			r := canon.NewJSONReader(c.arguments, maxCaseDepth)
			r.Skip()
			if c.subject.IsZero() || c.capability == "" || r.End() != nil || c.arguments[0] != '{' || c.at < c.offset || c.at >= len(text) {
				t.Errorf("%+v", c)
			}
		}
	})
}

// What a file may hold is bounded, whatever its size.
func TestCasesAreBounded(t *testing.T) {
	one := `{"subject":"local","capability":"a.b","expect":"allow"}`
	for name, text := range map[string]string{
		"cases":            `{"cases":[` + strings.Repeat(one+",", maxCases) + one + `]}`,
		"a long title":     `{"cases":[{"title":"` + strings.Repeat("x", maxCaseText+1) + `","subject":"local","capability":"a.b","expect":"allow"}]}`,
		"many scopes":      `{"cases":[{"scopes":[` + strings.Repeat(`"a",`, maxCaseScopes) + `"a"],"subject":"local","capability":"a.b","expect":"allow"}]}`,
		"nested arguments": `{"cases":[{"arguments":{"x":` + strings.Repeat("[", maxCaseDepth) + strings.Repeat("]", maxCaseDepth) + `},"subject":"local","capability":"a.b","expect":"allow"}]}`,
	} {
		if _, err := readCases([]byte(text), grant{}); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if list, err := readCases([]byte(`{"cases":[`+strings.Repeat(one+",", maxCases-1)+one+`]}`), grant{}); err != nil || len(list) != maxCases {
		t.Errorf("as many as may be: %d, %v", len(list), err)
	}
	if line, column := position([]byte("ab\ncd\n"), 4); fmt.Sprint(line, column) != "2 2" {
		t.Errorf("%d:%d", line, column)
	}
}
