package schema

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/capgen/capgen/runtime/canon"
)

const opaqueKey = "x-opaque"

// lowerOpaque lowers {x-opaque: true}: any JSON value, of which nothing but a
// title, a description and a default can be said.
func (l *loader) lowerOpaque(n *node, what string, property bool) *Type {
	v := n.get(opaqueKey)
	if !l.kind(v, boolNode, opaqueKey) {
		return nil
	}
	if v.text != "true" {
		l.errorf(v.pos, ruleBadValue, "x-opaque: false says nothing").hint("remove it")
		return nil
	}
	for _, m := range n.members {
		if !slices.Contains([]string{opaqueKey, "title", "description", "default", "deprecated", "examples"}, m.key) && slices.Contains(l.words.schema.known, m.key) {
			l.errorf(m.pos, ruleWrongKeyword, "%s says nothing beside x-opaque", quote(m.key)).
				hint("an opaque value is any JSON value: remove one of the two")
		}
	}
	l.warnf(v.pos, ruleOpaque, "%s is opaque: nothing checks what is in it", what).
		hint("declare a type where the shape is known")
	return l.annotated(n, Opaque, property)
}

// checkOpaque reports where n is no value that arguments can hold.
func (l *loader) checkOpaque(n *node, what string) bool {
	if n.kind == invalidNode || !l.visibleValue(n, what) {
		return false
	}
	if !l.holdNumbers(n, l.use.rule(), what) {
		return false
	}
	w := canon.NewCanonicalWriter(nil)
	w.Limit(l.limits.valueDepth, l.limits.defaultBytes)
	writeOpaque(w, n)
	err := w.Err()
	if err == nil {
		// The reader of arguments judges, for it is what will read it.
		var v canon.Opaque
		err = v.Decode(canon.NewJSONReader(w.Bytes(), l.limits.valueDepth))
	}
	if err != nil {
		l.errorf(n.pos, l.use.rule(), "%s: %s", what, plain(err.Error(), maxPlain)).hint("change the %s", l.use)
		return false
	}
	return true
}

// visibleValue is visible of every text in a value.
func (l *loader) visibleValue(n *node, what string) bool {
	fine := n.kind != stringNode || l.visible(n.pos, n.text, what)
	for i, item := range n.items {
		fine = l.visibleValue(item, fmt.Sprintf("%s[%d]", what, i)) && fine
	}
	for _, m := range n.members {
		fine = l.visible(m.pos, m.key, "a key of "+what) && l.visibleValue(m.value, what) && fine
	}
	return fine
}

// holdNumbers reports the first number in n that JSON here could not hold: an
// integer that would be rounded, or what is beyond a float.
func (l *loader) holdNumbers(n *node, rule, what string) bool {
	switch n.kind {
	case numberNode:
		if i, ok := parseInteger(n.text); ok && i >= -MaxInteger && i <= MaxInteger {
			return true
		}
		f, ok, _ := parseNumber(n.text)
		if ok && !(isWhole(n.text) && f < 1e21 && f > -1e21) {
			return true
		}
		l.errorf(n.pos, rule, "%s: %s is neither an integer from %d to %d nor a float", what, plain(n.text, maxQuoted), -MaxInteger, MaxInteger).
			hint("write it as a string of digits: as a number it would be rounded")
		return false
	case listNode:
		for i, item := range n.items {
			if !l.holdNumbers(item, rule, what+"["+strconv.Itoa(i)+"]") {
				return false
			}
		}
	case mappingNode:
		for _, m := range n.members {
			if !l.holdNumbers(m.value, rule, what+"."+plain(m.key, maxQuoted)) {
				return false
			}
		}
	}
	return true
}

// writeOpaque writes any value in canonical form.
func writeOpaque(w *canon.Writer, n *node) {
	if w.Err() != nil {
		return
	}
	switch n.kind {
	case nullNode:
		w.Null()
	case boolNode:
		w.Bool(n.text == "true")
	case numberNode:
		if i, ok := parseInteger(n.text); ok {
			w.Int(i, -MaxInteger, MaxInteger)
			return
		}
		f, _, _ := parseNumber(n.text) // holdNumbers has refused what is none
		w.Float(f)
	case stringNode:
		w.String(n.text, 0, MaxLength)
	case listNode:
		w.BeginArray(len(n.items), 0, len(n.items))
		for i, item := range n.items {
			w.Element(i)
			writeOpaque(w, item)
		}
		w.EndArray()
	case mappingNode:
		members := slices.SortedFunc(slices.Values(n.members), func(a, b member) int {
			return canon.CompareKeys(a.key, b.key)
		})
		w.BeginObject(len(members))
		for _, m := range members {
			w.Key(m.key)
			writeOpaque(w, m.value)
		}
		w.EndObject()
	default:
		w.Null()
	}
}
