package codegen_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/capgen/capgen/schema"
)

// suiteSkip is a reason why no manifest takes a schema of the suite, as it is
// or lifted.
type suiteSkip struct {
	id, reason string
	// why matches what the manifest's check says of the schema.
	why           *regexp.Regexp
	groups, tests int
}

type suiteSkips struct{ list []*suiteSkip }

func newSuiteSkips() *suiteSkips {
	keyword := func(words string) *regexp.Regexp {
		return regexp.MustCompile(`"(` + words + `)" is not part of the JSON Schema that a manifest takes`)
	}
	is := regexp.MustCompile
	return &suiteSkips{[]*suiteSkip{
		{id: "false", reason: "the schema false, which nothing satisfies, has no Go type", why: is(`^false$`)},
		{id: "not", reason: "not is left to handlers: what is allowed is said, not what is not", why: keyword("not")},
		{id: "conditions", reason: "if, then, else and dependent keywords are left to handlers", why: keyword("if|then|else|dependentRequired|dependentSchemas|dependencies")},
		{id: "unevaluated", reason: "objects are closed and arrays have one schema for items, always", why: keyword("unevaluatedProperties|unevaluatedItems")},
		{id: "contains", reason: "contains is left to handlers", why: keyword("contains|minContains|maxContains")},
		{id: "tuples", reason: "places in an array that differ are properties of an object", why: keyword("prefixItems")},
		{id: "pattern-properties", reason: "objects have the properties they declare, maps have one schema for values", why: keyword("patternProperties")},
		{id: "dynamic", reason: "there are no anchors and no dynamic scope", why: keyword(`\$anchor|\$dynamicRef|\$dynamicAnchor|\$vocabulary`)},
		{id: "base-uri", reason: "nothing is resolved against a base URI, and nothing is fetched", why: is(`"\$id" is not part|nothing is fetched|is no reference to a type|no definition`)},
		{id: "content", reason: "of contents only base64 is decoded", why: keyword("contentMediaType|contentSchema")},
		{id: "content-untyped", reason: "contentEncoding implies no type", why: is(`"contentEncoding" says nothing beside x-opaque`)},
		{id: "ref-sibling", reason: "beside $ref nothing constrains", why: is(`beside \$ref`)},
		{id: "all-of", reason: "allOf merges objects with declared properties", why: is(`inside of allOf|allOf merges objects|beside allOf|"allOf" beside`)},
		{id: "union", reason: "variants of a union are told apart by their JSON type or a tag; the first match never wins", why: is(`\[bad-union\]|beside (anyOf|oneOf)`)},
		{id: "enum", reason: "enum lists strings, and const is a scalar", why: is(`"enum" on type .* is not supported|"(enum|const)" says nothing about|needs "type"`)},
		{id: "null", reason: "null alone is no type: it stands beside another", why: is(`type "null" is not supported`)},
		{id: "bad-default", reason: "a default has to satisfy its own schema", why: is(`\[bad-default\]`)},
		{id: "names", reason: "names of properties become names of Go and Starlark", why: is(`is no name for a property|collide|reserved`)},
		{id: "key-schema", reason: "propertyNames is a schema of strings", why: is(`propertyNames of .* has to be a mapping`)},
		{id: "pattern", reason: "patterns are those that RE2 and ECMA-262 read alike", why: is(`\[bad-pattern\]`)},
		{id: "inexact", reason: "bounds are numbers that 64-bit floats hold, integers within ±(2^53−1)", why: is(`\[inexact-number\]|\[bad-bound\]`)},
		{id: "format", reason: "a format that is not asserted is not taken", why: is(`is none of the words for format`)},
		{id: "empty", reason: "an empty list of values, which nothing satisfies, has no Go type", why: is(`none of the words for type|enum is empty`)},
	}}
}

// group skips a group for the first reason that applies.
func (s *suiteSkips) group(t *testing.T, g *suiteGroup, problem string, refused []schema.Diagnostic) {
	t.Helper()
	reasons := []string{problem}
	for _, d := range refused {
		reasons = append(reasons, d.Message+" ["+d.Rule+"]")
	}
	for _, skip := range s.list {
		for _, reason := range reasons {
			if skip.why.MatchString(reason) {
				skip.groups++
				skip.tests += len(g.Tests)
				return
			}
		}
	}
	t.Errorf("%s is skipped for no reason that is known: %q", g.id(), reasons)
}

// unused reports the reasons that apply to nothing any more.
func (s *suiteSkips) unused(t *testing.T) {
	t.Helper()
	for _, skip := range s.list {
		if skip.groups == 0 {
			t.Errorf("nothing is skipped by %s (%s): remove it", skip.id, skip.reason)
		}
	}
}

func (s *suiteSkips) String() string {
	var b strings.Builder
	groups, tests := 0, 0
	for _, skip := range s.list {
		fmt.Fprintf(&b, "\n%-18s %3d groups, %3d tests: %s", skip.id, skip.groups, skip.tests, skip.reason)
		groups, tests = groups+skip.groups, tests+skip.tests
	}
	return fmt.Sprintf("skipped %d groups, %d tests:%s", groups, tests, b.String())
}
