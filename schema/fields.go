package schema

import (
	"slices"
	"strings"
)

// vocabulary is the set of keys that one kind of mapping takes.
type vocabulary struct {
	// what the mapping is, for messages: "a capability".
	what string
	// known keys, in the order in which the reference lists them.
	known []string
	// later keys belong to the manifest; this version refuses them.
	later []string
	// refused keys never will be taken; each has a hint what to write.
	refused map[string]string
}

// words holds the vocabularies of all mappings of a manifest.
type words struct {
	manifest, part, goSection, server, capability, example, program, deprecated, schema vocabulary

	deployments, deployment, selector, credential vocabulary

	schemaFile                 vocabulary // a schema with what the root of a file has
	source, mcpSource, claimed vocabulary // of what was imported
	retry, limits, pagination  vocabulary // of what shapes calls
	approval, runLimits        vocabulary // of what people approve
	lint, allowance            vocabulary // of what findings are accepted
}

func newWords() words {
	w := newManifestWords()
	w.schemaFile = w.schema
	w.schemaFile.what = "a schema file"
	w.schemaFile.known = append([]string{"$schema", "$id"}, w.schema.known...)
	return w
}

func newManifestWords() words {
	return words{
		source:    vocabulary{what: "source", known: []string{"mcp"}},
		mcpSource: vocabulary{what: "source.mcp", known: []string{"tool", "title"}},
		claimed: vocabulary{
			what:  "claimed",
			known: []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"},
		},
		manifest: vocabulary{
			what:  "a manifest",
			known: []string{"capgen", "go", "server", "include", "types", "capabilities", "programs", "deployments", "lint"},
			later: []string{"tags", "imports"},
		},
		part: vocabulary{
			what:  "a part of a manifest",
			known: []string{"types", "capabilities", "programs"},
		},
		goSection: vocabulary{what: "go", known: []string{"package"}},
		server: vocabulary{
			what:  "server",
			known: []string{"name", "title", "version", "instructions"},
		},
		capability: vocabulary{
			what: "a capability",
			known: []string{"id", "name", "summary", "description", "search", "effect", "idempotency",
				"world", "scopes", "input", "output", "was", "tags", "deprecated", "direct_tool",
				"source", "claimed", "inferred", "errors",
				"timeout", "retry", "output_check", "fixed", "limits", "pagination", "examples", "approval", "runner", "sandbox"},
			later: []string{"title"},
		},
		deprecated:  vocabulary{what: "deprecated", known: []string{"since", "remove_after", "use"}},
		approval:    vocabulary{what: "approval", known: []string{"required", "min", "self", "ttl", "preview"}},
		runLimits:   vocabulary{what: "limits of a run", known: []string{"wall", "cpu", "memory", "output", "result", "processes", "parallel"}},
		retry:       vocabulary{what: "retry", known: []string{"on", "max"}},
		pagination:  vocabulary{what: "pagination", known: []string{"cursor_in", "cursor_out", "items"}},
		limits:      vocabulary{what: "limits", known: []string{"items", "bytes"}},
		program:     vocabulary{what: "a program", known: []string{"title", "source", "result"}},
		lint:        vocabulary{what: "lint", known: []string{"allow"}},
		allowance:   vocabulary{what: "an allowance", known: []string{"rule", "target", "reason"}},
		example:     vocabulary{what: "an example", known: []string{"title", "input", "output", "error"}},
		deployments: vocabulary{what: "deployments", known: []string{"default"}},
		deployment:  vocabulary{what: "a deployment", known: []string{"include", "exclude", "require", "credentials"}},
		selector:    vocabulary{what: "a selector", known: []string{"tag", "effect"}},
		credential:  vocabulary{what: "a credential", known: []string{"from", "name", "host"}},
		schema: vocabulary{
			what: "a schema",
			known: []string{"type", "title", "description", "default", "properties", "required",
				"additionalProperties", "items", "enum", "const", "minLength", "maxLength", "pattern",
				"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
				"minItems", "maxItems", "uniqueItems", "$ref", "oneOf", "anyOf", "allOf", "x-opaque", "format", "contentEncoding",
				"minProperties", "maxProperties", "propertyNames", "deprecated", "x-open", "examples", "$defs", "keep"},
			refused: map[string]string{
				"nullable":              `write type: [string, "null"]`,
				"definitions":           "schemas that are shared go under types, or under $defs of a schema file",
				"dependencies":          "check what depends on what in the handler",
				"dependentRequired":     "check what depends on what in the handler",
				"dependentSchemas":      "check what depends on what in the handler",
				"if":                    "check conditions in the handler",
				"then":                  "check conditions in the handler",
				"else":                  "check conditions in the handler",
				"not":                   "say what is allowed: an enum, a pattern, bounds",
				"prefixItems":           "use an object with a property for each place",
				"additionalItems":       "use an object with a property for each place",
				"unevaluatedItems":      "arrays have one schema for all items",
				"unevaluatedProperties": "objects take their declared properties only, always",
				"patternProperties":     "declare the properties",
				"contains":              "check it in the handler",
				"minContains":           "check it in the handler",
				"maxContains":           "check it in the handler",
				"readOnly":              "use different types for input and output",
				"writeOnly":             "use different types for input and output",
				"example":               "examples belong to the capability",
				"discriminator":         "a oneOf of objects with a required const property is told apart by it",
				"xml":                   "remove it",
				"externalDocs":          "say it in the description",
				"contentMediaType":      "say it in the description",
				"contentSchema":         "say it in the description",
				"$comment":              "write a YAML comment, or a description",
				"$id":                   "types are named by their key under types",
				"$schema":               "a manifest is JSON Schema 2020-12, always",
				"$anchor":               "types are named by their key under types",
				"$dynamicRef":           "refer to a type by $ref",
				"$dynamicAnchor":        "types are named by their key under types",
				"$vocabulary":           "remove it",
			},
		},
	}
}

// mapping tells whether n is a mapping, and reports if not; what names it.
// Every key that v does not take is reported.
func (l *loader) mapping(n *node, v *vocabulary, what string) bool {
	if !l.kind(n, mappingNode, what) {
		return false
	}
	for i := range n.members {
		m := &n.members[i]
		switch {
		case slices.Contains(v.known, m.key):
		case slices.Contains(v.later, m.key):
			l.errorf(m.pos, ruleUnsupported, "%s is not supported yet by this version", quote(m.key)).
				hint("remove it: nothing in a manifest is ignored")
		case v.refused[m.key] != "":
			l.errorf(m.pos, ruleNotInSubset, "%s is not part of the JSON Schema that a manifest takes", quote(m.key)).
				hint("%s", v.refused[m.key])
		default:
			f := l.errorf(m.pos, ruleUnknownKey, "%s takes no key %s", v.what, quote(m.key))
			if len(v.known) <= 12 {
				f.hint("it takes %s", strings.Join(v.known, ", "))
			} else {
				f.hint("remove it: nothing in a manifest is ignored")
			}
			l.nearest(f, m.key, v.known)
		}
	}
	return true
}

// kind tells whether n is of a kind, and reports if not. An invalid node is
// reported already.
func (l *loader) kind(n *node, want nodeKind, what string) bool {
	if n.kind == want {
		return true
	}
	if n.kind == invalidNode {
		return false
	}
	f := l.errorf(n.pos, ruleWrongType, "%s has to be %s, not %s", what, want, n.kind)
	switch {
	case want == stringNode && n.kind == nullNode:
		f.hint(`quote it: "null"`)
	case want == stringNode && (n.kind == numberNode || n.kind == boolNode):
		f.hint("quote it: %s", quote(n.text))
	case want == stringNode:
		f.hint("write a text")
	case want == mappingNode:
		f.hint("write key: value pairs")
	case want == listNode:
		f.hint("write a list: [a, b]")
	case want == numberNode:
		f.hint("write a number as JSON does, without quotes")
	case want == boolNode:
		f.hint("write true or false, without quotes")
	}
	return false
}

// need returns the value of a required key, or nil with the lack reported.
func (l *loader) need(n *node, key, what, hint string) *node {
	if v := n.get(key); v != nil {
		return v
	}
	l.errorf(n.pos, ruleMissingField, "%s needs %s", what, quote(key)).hint("%s", hint)
	return nil
}

// str returns the text of a string node.
func (l *loader) str(n *node, what string) (string, bool) {
	if n == nil || !l.kind(n, stringNode, what) {
		return "", false
	}
	return n.text, true
}

// word returns a string that has to be one of a few words.
func (l *loader) word(n *node, what string, allowed, later []string) (string, bool) {
	s, ok := l.str(n, what)
	if !ok || slices.Contains(allowed, s) {
		return s, ok
	}
	if slices.Contains(later, s) {
		l.errorf(n.pos, ruleUnsupported, "%s %s is not supported yet by this version", what, quote(s)).
			hint("use %s", strings.Join(allowed, ", "))
		return "", false
	}
	f := l.errorf(n.pos, ruleBadValue, "%s is none of the words for %s", quote(s), what).
		hint("write %s", strings.Join(allowed, ", "))
	l.nearest(f, s, allowed)
	return "", false
}
