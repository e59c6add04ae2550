package schema

import (
	"fmt"
	"slices"
)

// IsPropertyName tells whether a manifest takes s as the name of a property:
// letters, digits and _, with a letter as the first that is no _, at most 64
// bytes.
func IsPropertyName(s string) bool { return len(s) <= maxName && isPropertyName(s) }

// IsKeyword tells whether s is a word of the program language, which can name
// no parameter and no segment of a capability's name.
func IsKeyword(s string) bool { return slices.Contains(languageKeywords(), s) }

// CheckNamespace tells why s cannot be what names of capabilities begin with.
func CheckNamespace(s string) error {
	l := &loader{report: newReport(), names: newNames()}
	if _, ok := l.capabilityName(&node{kind: stringNode, text: s + ".x"}); !ok {
		return fmt.Errorf("%s is no namespace: %s", quote(s), l.findings[0].Hint)
	}
	return nil
}
