package schema

import (
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/capgen/capgen/runtime/canon"
)

// lowerMap lowers {type: object, additionalProperties: X}: a map of strings
// to X. values is X.
func (l *loader) lowerMap(t *Type, n, values *node, what string) {
	t.Kind = Map
	for _, key := range []string{"properties", "required"} {
		m := n.member(key)
		if m == nil || key == "properties" && m.value.kind == mappingNode && len(m.value.members) == 0 {
			continue
		}
		l.errorf(m.pos, ruleWrongKeyword, "%s beside a schema in additionalProperties", quote(key)).
			hint("an object is a struct or a map: put the map into a property of its own")
	}
	t.MinItems, t.MaxItems = l.sizes(n, "minProperties", "maxProperties", MaxMembers)
	t.Keys = &Type{Kind: String, MaxLength: MaxLength, Pos: n.pos}
	if v := n.get("propertyNames"); v != nil {
		t.Keys = l.lowerKeys(v, what)
	}
	l.indirect++
	t.Items = l.lower(values, "the values of "+what, false)
	l.indirect--
}

// lowerKeys lowers propertyNames: the lengths and the pattern of a string.
func (l *loader) lowerKeys(n *node, what string) *Type {
	t := &Type{Kind: String, MaxLength: MaxLength, Pos: n.pos}
	if !l.mapping(n, &l.words.schema, "propertyNames of "+what) {
		return t
	}
	for _, m := range n.members {
		if !slices.Contains([]string{"type", "minLength", "maxLength", "pattern"}, m.key) && slices.Contains(l.words.schema.known, m.key) {
			l.errorf(m.pos, ruleWrongKeyword, "%s says nothing about keys", quote(m.key)).
				hint("propertyNames takes minLength, maxLength, pattern")
		}
	}
	if v := n.get("type"); v != nil {
		l.word(v, "type of a key", []string{"string"}, nil)
	}
	l.lowerStringRules(t, n)
	return t
}

// notMap refuses what only a map takes.
func (l *loader) notMap(n *node, beside string) {
	for _, key := range []string{"minProperties", "maxProperties", "propertyNames"} {
		if m := n.member(key); m != nil {
			l.errorf(m.pos, ruleWrongKeyword, "%s beside %s", quote(key), beside).
				hint("it belongs to a map: additionalProperties with a schema, without properties")
		}
	}
}

// checkMap reports where n is no map as t says.
func (l *loader) checkMap(t *Type, n *node, what string, bad func(string, ...any) bool) bool {
	if c := len(n.members); c < t.MinItems || c > t.MaxItems {
		return bad("%d members, not between %d and %d", c, t.MinItems, t.MaxItems)
	}
	// An error here is reported where the pattern stands.
	re, err := regexp.Compile(t.Keys.Pattern)
	fine := true
	for _, m := range n.members {
		c := utf8.RuneCountInString(m.key)
		switch {
		case !l.visible(m.pos, m.key, what):
			fine = false
		case c < t.Keys.MinLength || c > t.Keys.MaxLength:
			fine = bad("key %s has %d characters, not between %d and %d", quote(m.key), c, t.Keys.MinLength, t.Keys.MaxLength)
		case err != nil || !re.MatchString(m.key):
			fine = bad("key %s does not match the pattern", quote(m.key))
		default:
			fine = l.checkValue(t.Items, m.value, fmt.Sprintf("%s[%s]", what, quote(m.key))) && fine
		}
	}
	return fine
}

// writeMap writes a checked map in canonical order.
func (l *loader) writeMap(w *canon.Writer, t *Type, n *node) {
	members := slices.SortedFunc(slices.Values(n.members), func(a, b member) int { return canon.CompareKeys(a.key, b.key) })
	w.BeginMap(len(members), t.MinItems, t.MaxItems)
	for _, m := range members {
		if w.Err() != nil {
			return
		}
		w.Key(m.key)
		l.writeValue(w, t.Items, m.value)
	}
	w.EndMap()
}
