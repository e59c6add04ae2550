package schema

import "github.com/capgen/capgen/runtime/canon"

// lowerString lowers enum and const, or the bounds and the pattern.
func (l *loader) lowerString(t *Type, n *node) {
	if m := n.member(openKey); m != nil && n.get("enum") == nil {
		l.errorf(m.pos, ruleWrongKeyword, "x-open without enum").hint("it says that an enum lists the values known now, and that others may come")
	}
	if v := n.get("contentEncoding"); v != nil {
		l.lowerBytes(t, n, v)
		return
	}
	if n.get("enum") != nil || n.get("const") != nil {
		l.lowerEnum(t, n)
		l.lowerOpen(t, n)
		return
	}
	l.lowerStringRules(t, n)
	if v := n.get("format"); v != nil {
		l.lowerFormat(t, n, v)
	}
}

// lowerFormat lowers format. What bounds the length where the schema does not
// is the longest that anyone means.
func (l *loader) lowerFormat(t *Type, n, v *node) {
	s, ok := l.word(v, "format of a string", canon.Formats(), []string{"capgen-blob"})
	if !ok {
		return
	}
	t.Format = s
	if n.get("maxLength") == nil {
		t.MaxLength = max(t.MinLength, canon.Format(s).MaxLength())
	}
}

// lowerStringRules lowers the lengths and the pattern.
func (l *loader) lowerStringRules(t *Type, n *node) {
	t.MinLength, t.MaxLength = l.sizes(n, "minLength", "maxLength", MaxLength)
	if v := n.get("pattern"); v != nil {
		if s, ok := l.str(v, "pattern"); ok {
			l.pattern(s, v.pos)
			t.Pattern = s
		}
	}
}

// lowerEnum lowers the list of the only strings allowed; const is a list of
// one.
func (l *loader) lowerEnum(t *Type, n *node) {
	t.MaxLength = MaxLength
	for _, key := range []string{"minLength", "maxLength", "pattern", "format"} {
		if m := n.member(key); m != nil {
			l.errorf(m.pos, ruleWrongKeyword, "%s says nothing beside the list of all values", quote(key)).hint("remove it")
		}
	}
	enum, constant := n.member("enum"), n.member("const")
	if enum != nil && constant != nil {
		l.errorf(constant.pos, ruleWrongKeyword, "const beside enum").
			hint("keep const for one value, enum for several").related(enum.pos)
		return
	}
	withNull := takesNull(n)
	if constant != nil {
		if withNull {
			l.errorf(constant.pos, ruleBadEnum, "const beside null").hint("write enum: [%s, null]", plain(constant.value.text, maxQuoted))
		}
		if s, ok := l.str(constant.value, "const on type string"); ok && l.visible(constant.value.pos, s, "const") {
			l.enumLength(constant.value, s)
			t.Enum, t.EnumAt = []string{s}, []Position{constant.value.pos}
		}
		return
	}
	list := enum.value
	if !l.kind(list, listNode, "enum") {
		return
	}
	if len(list.items) == 0 {
		l.errorf(list.pos, ruleBadEnum, "enum is empty").hint("list the strings that are allowed")
	}
	if max := l.limits.enum; len(list.items) > max {
		l.errorf(list.items[max].pos, ruleLimit, "%d values in an enum, the limit is %d", len(list.items), max).
			hint("take a string with a pattern and check it in the handler")
		return
	}
	seen := make(map[string]Position, len(list.items))
	null := false
	for _, item := range list.items {
		if item.kind == nullNode && withNull && !null {
			null = true
			continue
		}
		s, ok := l.str(item, "a value in enum on type string")
		if !ok || !l.visible(item.pos, s, "a value in enum") {
			continue
		}
		if first, twice := seen[s]; twice {
			l.errorf(item.pos, ruleBadEnum, "%s stands twice in enum, first at %s", quote(s), first).
				hint("remove one of the two").related(first)
			continue
		}
		seen[s] = item.pos
		l.enumLength(item, s)
		t.Enum, t.EnumAt = append(t.Enum, s), append(t.EnumAt, item.pos)
	}
	if withNull && !null {
		// JSON Schema takes what both keywords allow, and so never null.
		l.errorf(list.pos, ruleBadEnum, "type takes null, but enum does not list it").hint("add null to enum, or take it out of type")
	}
}

// maxEnumValue is the longest value of an enum, in bytes: it is a word.
const maxEnumValue = 256

func (l *loader) enumLength(n *node, s string) {
	if len(s) > maxEnumValue {
		l.errorf(n.pos, ruleBadEnum, "a value of %d bytes in an enum, the limit is %d", len(s), maxEnumValue).
			hint("an enum lists words")
	}
}

const openKey = "x-open"

// lowerOpen lowers x-open: true beside an enum. What is not listed is a word
// of the same bound as what is.
func (l *loader) lowerOpen(t *Type, n *node) {
	v := n.get(openKey)
	if v == nil || !l.kind(v, boolNode, openKey) {
		return
	}
	if v.text != "true" {
		l.errorf(v.pos, ruleBadValue, "x-open: false says nothing").hint("remove it: an enum is closed")
		return
	}
	if t.Enum != nil && n.get("enum") != nil {
		t.Open, t.MaxLength = true, maxEnumValue
	}
}
