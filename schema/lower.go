package schema

import (
	"slices"
	"strings"
)

// Caps that lowering writes where a schema says nothing.
const (
	// MaxLength is the cap on the code points of a string.
	MaxLength = 1_048_576
	// MaxBase64 is how many characters base64 text has where a schema says
	// nothing; maxLength may raise it to MaxLength.
	MaxBase64 = 65_536
	// MaxItems is the cap on the items of an array.
	MaxItems = 10_000
	// MaxMembers is the cap on the members of a map or a free object.
	MaxMembers = 10_000
	// MaxInteger bounds integers: ±(2^53−1), what JSON readers keep exactly
	// (RFC 8259 section 6).
	MaxInteger = 1<<53 - 1
)

// lower turns a schema into its effective type. what names the schema in
// messages; property tells whether it is a property's, where a default may
// stand. It returns nil if there is no saying what the type is; problems
// inside are reported and leave the rest.
func (l *loader) lower(n *node, what string, property bool) *Type {
	if n.kind == boolNode {
		l.errorf(n.pos, ruleNotInSubset, "true and false as schemas are not part of what a manifest takes").
			hint("write the schema out")
		return nil
	}
	if !l.mapping(n, &l.words.schema, what) {
		return nil
	}
	if d := n.member("deprecated"); d != nil && !property {
		l.errorf(d.pos, ruleWrongKeyword, "deprecated says nothing here").
			hint("it belongs to a property of an object")
	}
	if d := n.member("$defs"); d != nil {
		l.errorf(d.pos, ruleWrongKeyword, "$defs inside of a schema").
			hint("it stands at the root of an input, an output, an entry of types or a schema file")
		n = without(n, "$defs")
	}
	if n.get("$ref") != nil {
		return l.lowerRef(n)
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if n.get(keyword) != nil {
			return l.lowerAlternatives(n, keyword, what, property)
		}
	}
	if n.get("allOf") != nil {
		return l.lowerAllOf(n, what, property)
	}
	if n.get(opaqueKey) != nil {
		return l.lowerOpaque(n, what, property)
	}
	kind, ok := l.typeWord(n, what)
	if !ok {
		return nil
	}
	l.checkKeywords(n, kind)
	t := l.annotated(n, kind, property)
	switch kind {
	case String:
		l.lowerString(t, n)
	case Boolean:
		l.lowerConst(t, n)
	case Integer:
		l.lowerInteger(t, n)
		l.lowerConst(t, n)
	case Number:
		l.lowerNumber(t, n)
		l.lowerConst(t, n)
	case Array:
		l.lowerArray(t, n, what)
	case Object:
		l.lowerObject(t, n, what)
	}
	if takesNull(n) {
		outer := nullable(t)
		l.showWithNull(t, outer)
		return outer
	}
	return t
}

// annotated starts a type with what every kind takes.
func (l *loader) annotated(n *node, kind Kind, property bool) *Type {
	if d := n.member("default"); d != nil && !property {
		l.errorf(d.pos, ruleMisplacedDefault, "a default says nothing here").
			hint("it belongs to a property of an object: only properties can be left out")
	}
	t := &Type{Kind: kind, Pos: n.pos}
	t.Description, t.DescriptionAt = l.description(n)
	if v := n.get("title"); v != nil {
		t.Title, _ = l.line(v, "title", maxTitle)
	}
	l.showValues(t, n)
	return t
}

func (l *loader) description(n *node) (string, Position) {
	if v := n.get("description"); v != nil {
		s, _ := l.text(v, "description", maxDescription)
		return s, v.pos
	}
	return "", Position{}
}

// typeWord reads `type`.
func (l *loader) typeWord(n *node, what string) (Kind, bool) {
	v := n.get("type")
	if v == nil {
		// A construct that is reported as not supported yet has no type.
		if slices.ContainsFunc(n.members, func(m member) bool { return slices.Contains(l.words.schema.later, m.key) }) {
			return "", false
		}
		l.errorf(n.pos, ruleMissingField, "%s needs %s", what, quote("type")).hint("type: %s", guessType(n))
		return "", false
	}
	words := []string{"object", "array", "string", "integer", "number", "boolean"}
	if v.kind == listNode {
		return l.typeOrNull(v, words)
	}
	s, ok := l.word(v, "type", words, []string{"null"})
	return Kind(s), ok
}

// guessType says what a schema without type probably is.
func guessType(n *node) Kind {
	for _, g := range []struct {
		keyword string
		kind    Kind
	}{
		{"properties", Object}, {"required", Object}, {"additionalProperties", Object},
		{"items", Array}, {"minItems", Array}, {"maxItems", Array},
		{"minimum", Number}, {"maximum", Number}, {"exclusiveMinimum", Number},
		{"exclusiveMaximum", Number}, {"multipleOf", Number},
	} {
		if n.get(g.keyword) != nil {
			return g.kind
		}
	}
	return String
}

// keywordsOf lists what may stand beside type, title, description, default.
func keywordsOf(k Kind) []string {
	switch k {
	case Object:
		return []string{"properties", "required", "additionalProperties", "minProperties", "maxProperties", "propertyNames"}
	case Array:
		return []string{"items", "minItems", "maxItems", "uniqueItems"}
	case String:
		return []string{"enum", "const", "minLength", "maxLength", "pattern", "contentEncoding", "format", "x-open"}
	case Integer:
		return []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "const", "format"}
	case Number:
		return []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "const"}
	case Boolean:
		return []string{"const"}
	}
	return nil
}

// checkKeywords reports keywords that say nothing about the type: JSON Schema
// ignores them, and so they are mistakes.
func (l *loader) checkKeywords(n *node, k Kind) {
	allowed := keywordsOf(k)
	for _, m := range n.members {
		switch m.key {
		case "type", "title", "description", "default", "deprecated", "examples":
			continue
		case "enum":
			if k != String {
				l.errorf(m.pos, ruleUnsupported, "%s on type %s is not supported yet by this version", quote(m.key), k).
					hint("enum lists strings; const takes one value of any scalar type")
				continue
			}
		}
		if slices.Contains(allowed, m.key) || !slices.Contains(l.words.schema.known, m.key) {
			continue
		}
		f := l.errorf(m.pos, ruleWrongKeyword, "%s says nothing about type %s", quote(m.key), k)
		if len(allowed) == 0 {
			f.hint("remove it")
		} else {
			f.hint("type %s takes %s", k, strings.Join(allowed, ", "))
		}
	}
}
