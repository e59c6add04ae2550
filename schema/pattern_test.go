package schema

import (
	"regexp"
	"strings"
	"testing"
)

func patternFindings(s string) []*finding {
	l := &loader{report: newReport()}
	l.pattern(s, Position{})
	return l.findings
}

func TestPatternsTaken(t *testing.T) {
	for _, s := range []string{
		"", "a", "^a$", "a|b|", "(a)(?:b)()", "a*b+c?d*?e+?f??", "a{2}b{2,}c{0,1000}d{1,2}?", ".", `\d\D\w\W\b\B`, `\t\n\r\f\v\x41`,
		`\^\$\\\.\*\+\?\(\)\[\]\{\}\|\/`, `[a-z][^a-z][a\-z][-a][a-][\d\w-][^^]`, `[\]\[\\]`, `\p{L}\P{Lu}[\p{Nd}_]`, "日本[あ-ん]", "[(){}*+?.|$/]",
		`^[a-z]+(?:\.[a-z]{2,10})*$`, "(a|)+", "[+--]", `[\x00-\xff]`,
	} {
		for _, f := range patternFindings(s) {
			t.Errorf("%s: %s (%s)", s, f.Message, f.Hint)
		}
	}
}

func TestPatternsRefused(t *testing.T) {
	for s, want := range map[string]string{
		"(":                       "opening parenthesis",
		"a)":                      "character 2: a closing",
		"(?=a)":                   "character 1: a group",
		"(?!a)":                   "a group",
		"(?<=a)":                  "a group",
		"(?<n>a)":                 "a group",
		"(?P<n>a)":                "a group",
		"(?i)a":                   "a group",
		"(?i:a)":                  "a group",
		"*a":                      "nothing to repeat",
		"a**":                     "character 3: nothing to repeat",
		"a*+":                     "nothing to repeat",
		"^*":                      "nothing to repeat",
		`\b+`:                     "nothing to repeat",
		"a|*":                     "nothing to repeat",
		"(*a)":                    "nothing to repeat",
		"{1}":                     "nothing to repeat",
		"a{":                      "a count",
		"a{,3}":                   "a count",
		"a{3,2}":                  "a count",
		"a{1001}":                 "a count",
		"a{x}":                    "a count",
		"a{1,2,3}":                "a count",
		"a{-1}":                   "a count",
		"a{99999999999999999999}": "a count",
		"}":                       "stands alone",
		"]":                       "stands alone",
		"[":                       "without its ]",
		"[]":                      "an empty class",
		"[^]":                     "an empty class",
		"[]a]":                    "an empty class",
		"[[:alpha:]]":             "a [ in a class",
		"[z-a]":                   "a range without order",
		`[\d-z]`:                  "a range without order",
		`[a-\d]`:                  "a range without order",
		`[\b]`:                    "escape",
		`\`:                       "a backslash at the end",
		`\s`:                      "means other characters",
		`[\S]`:                    "means other characters",
		`\u0041`:                  `RE2 has no \u`,
		`\1`:                      "escape",
		`\k<n>`:                   "escape",
		`\0`:                      "escape",
		`\A\z`:                    "escape",
		`\Q*\E`:                   "escape",
		`\C`:                      "escape",
		`\cA`:                     "escape",
		`\a`:                      "escape",
		`\-`:                      "escape",
		`\x4`:                     "escape",
		`\x{41}`:                  "escape",
		`\pL`:                     "general category",
		`\p{Greek}`:               "general category",
		`\p{^L}`:                  "general category",
		`\p{C}`:                   "general category",
		`\p{L`:                    "general category",
		`\é`:                      "escape",
		"日本(?=a)":                 "character 3: a group",
		"(a{500}){500}":           "repeat count",
		strings.Repeat("(", 1001) + strings.Repeat(")", 23): "opening parenthesis",
		strings.Repeat("a", 1025):                           "limit is 1024",
		strings.Repeat("a{1000}", 11):                       "instructions",
	} {
		found := patternFindings(s)
		if len(found) != 1 || !strings.Contains(found[0].Message, want) || found[0].Hint == "" {
			t.Errorf("%.40s: %v, want %q", s, found, want)
		}
	}
}

// Whatever is taken compiles, and walking over it ends.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"^a$", `[\d-]{2,3}?`, `\p{L}|(?:x)`, "[", `\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		found := patternFindings(s)
		if len(found) > 1 {
			t.Errorf("%d findings", len(found))
		}
		if len(found) == 0 {
			if _, err := regexp.Compile(s); err != nil {
				t.Errorf("%q is taken: %v", s, err)
			}
		}
	})
}
