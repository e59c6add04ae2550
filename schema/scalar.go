package schema

import (
	"regexp"
	"slices"
	"strings"
)

// A plain (unquoted) scalar means different things to different YAML parsers:
// 017 is 15 to YAML 1.1, 17 to YAML 1.2 and a string to others. A manifest
// takes only those on which all agree and which JSON has too; everything else
// has to be quoted.
//
// The forms below are YAML 1.1's (yaml.org/type/, with the float form's
// well-known misprint read as [0-9_]) and YAML 1.2.2's core schema (section
// 10.3.2) together.

// ambiguousWords are plain words that some parser reads as something else
// than a string. They are compared without regard to case: parsers differ in
// the spellings they take.
func ambiguousWords() []string {
	return []string{"", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "=", "<<"}
}

const longestWord = len("false")

// scalarForms matches plain texts that some parser reads as a number or date.
type scalarForms struct {
	words     []string
	ambiguous *regexp.Regexp
}

func newScalarForms() scalarForms {
	return scalarForms{ambiguousWords(), regexp.MustCompile(`^(?:` + strings.Join([]string{
		`[-+]?0b[01_]+`,                      // 1.1 binary
		`[-+]?0o?[0-7_]+`,                    // 1.1 and 1.2 octal
		`[-+]?0x[0-9a-fA-F_]+`,               // hexadecimal
		`[-+]?[0-9][0-9_]*`,                  // decimal
		`[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+`, // 1.1 base 60
		`[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*`,
		`[-+]?(?:[0-9][0-9_]*)?\.[0-9_]*(?:[eE][-+]?[0-9_]+)?`, // floats, also a lone "."
		`[-+]?[0-9][0-9_]*[eE][-+]?[0-9_]+`,
		`[-+]?\.(?:inf|Inf|INF)`,
		`\.(?:nan|NaN|NAN)`,
		`[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}`, // dates and timestamps
		`[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?.*`,
	}, `|`) + `)$`)}
}

// classify decides what a plain scalar is; ok is false for one that has to be
// quoted.
func (f scalarForms) classify(s string) (kind nodeKind, ok bool) {
	switch s {
	case "null":
		return nullNode, true
	case "true", "false":
		return boolNode, true
	}
	if isNumber(s) {
		return numberNode, true
	}
	if len(s) <= longestWord && slices.Contains(f.words, strings.ToLower(s)) {
		return invalidNode, false
	}
	// Every form starts with a sign, a digit or a dot; most scalars do not.
	if strings.IndexByte("+-.0123456789", s[0]) >= 0 && f.ambiguous.MatchString(s) {
		return invalidNode, false
	}
	return stringNode, true
}
