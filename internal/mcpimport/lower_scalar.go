package mcpimport

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/schema"
)

// stringType lowers a string, or the strings that are the only ones.
func (l *lowerer) stringType(v *value, only []*value, p place) (*value, *flaw) {
	out := typed("string")
	least, most, bad := l.sizes(v, "minLength", "maxLength", schema.MaxLength, p)
	if bad != nil {
		return nil, bad
	}
	pattern := v.get("pattern")
	if pattern != nil && (pattern.kind != stringKind || hasDot(pattern.text)) {
		return nil, l.flaw(pattern, p.to("pattern"), "a pattern with a dot outside of a class, which takes line separators here and not in ECMA-262")
	}
	if only != nil {
		if pattern != nil {
			return nil, l.flaw(pattern, p.to("pattern"), "pattern beside enum")
		}
		enum := list()
		for _, e := range only {
			n := utf8.RuneCountInString(e.text)
			if n >= least && n <= most && !slices.ContainsFunc(enum.items, func(f *value) bool { return f.text == e.text }) {
				enum.items = append(enum.items, e)
			}
		}
		switch len(enum.items) {
		case 0:
			return nil, l.never(v, p)
		case 1:
			out.set("const", enum.items[0])
		default:
			out.set(wordsOf(enum))
		}
		return out, nil
	}
	setSize(out, v, "minLength", least)
	if most < schema.MaxLength {
		setSize(out, v, "maxLength", most)
	}
	base64 := v.get("contentEncoding")
	if base64.isText("base64") && pattern == nil {
		out.set("contentEncoding", base64)
		return out, nil
	}
	if base64 != nil {
		l.note(base64, p.to("contentEncoding"), "contentEncoding is not carried over; it is an annotation")
	}
	if pattern != nil {
		out.set("pattern", pattern)
	}
	if f := v.get("format"); f != nil {
		if f.is(stringKind) && slices.Contains(canon.Formats(), f.text) {
			out.set("format", f)
		} else {
			l.note(f, p.to("format"), "format %s is not carried over; to JSON Schema a format is an annotation", quote(f.text))
		}
	}
	return out, nil
}

// wordsOf is a list of strings as enum; or, where two would be one name in Go,
// as a pattern that matches the same strings.
func wordsOf(enum *value) (keyword string, to *value) {
	var values, quoted []string
	for _, e := range enum.items {
		values = append(values, e.text)
		quoted = append(quoted, regexp.QuoteMeta(e.text))
	}
	if codegen.EnumNamesDiffer(values) {
		return "enum", enum
	}
	return "pattern", text("^(" + strings.Join(quoted, "|") + ")$")
}

// hasDot tells whether a dot stands for any character.
func hasDot(pattern string) bool {
	class := false
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '.':
			if !class {
				return true
			}
		}
	}
	return false
}

// sizes reads a pair of bounds on a length.
func (l *lowerer) sizes(v *value, minKey, maxKey string, limit int, p place) (least, most int, bad *flaw) {
	most = limit
	for _, key := range []string{minKey, maxKey} {
		m := v.get(key)
		if m == nil {
			continue
		}
		r, ok := rational(m)
		if !ok || !r.IsInt() || r.Sign() < 0 {
			return 0, 0, l.flaw(m, p.to(key), "%s is no whole number from 0 up", key)
		}
		n := limit + 1
		if r.Num().IsInt64() {
			n = int(min(r.Num().Int64(), int64(limit)+1))
		}
		if key == minKey {
			least = n
		} else {
			most = min(n, limit)
		}
	}
	if least > most {
		return 0, 0, l.flaw(v, p.to(minKey), "%s above %d, which is the most here", minKey, most)
	}
	return least, most, nil
}

func setSize(out, v *value, key string, n int) {
	if v.get(key) != nil {
		out.set(key, number(strconv.Itoa(n)))
	}
}

// rational is a number exactly; ok is false for one that no float is near to,
// and for what is no number.
func rational(v *value) (*big.Rat, bool) {
	if v.kind != numberKind || len(v.text) > 100 {
		return nil, false
	}
	if i := strings.IndexAny(v.text, "eE"); i >= 0 {
		if e, err := strconv.Atoi(v.text[i+1:]); err != nil || e < -400 || e > 400 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(v.text)
}

// numberType lowers an integer or a number, or those that are the only ones.
func (l *lowerer) numberType(v *value, t string, only []*value, p place) (*value, *flaw) {
	if only != nil {
		return l.onlyNumbers(v, only, p)
	}
	if f := v.get("format"); f != nil {
		l.note(f, p.to("format"), "format %s is not carried over; to JSON Schema a format is an annotation", quote(f.text))
	}
	out := typed(t)
	bounds := map[string]*big.Int{}
	for _, key := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"} {
		m := v.get(key)
		if m == nil {
			continue
		}
		r, ok := rational(m)
		if !ok {
			return nil, l.flaw(m, p.to(key), "%s is no number that can be read exactly", key)
		}
		if t == "number" {
			out.set(key, m)
			continue
		}
		if key == "multipleOf" {
			if every := new(big.Rat); r.Sign() > 0 && every.Inv(r).IsInt() && !r.IsInt() {
				continue // of 0.5, say: every integer is one
			}
			if !r.IsInt() || r.Sign() <= 0 {
				return nil, l.flaw(m, p.to(key), "multipleOf of an integer is no whole number above 0")
			}
			out.set(key, number(r.Num().String()))
			continue
		}
		side, bound := wholeBound(key, r)
		if b := bounds[side]; b == nil || (side == "minimum") == (bound.Cmp(b) > 0) {
			bounds[side] = bound
		}
	}
	for _, side := range []string{"minimum", "maximum"} {
		b := bounds[side]
		switch {
		case b == nil:
		case b.CmpAbs(big.NewInt(schema.MaxInteger)) <= 0:
			out.set(side, number(b.String()))
		case (side == "minimum") != (b.Sign() < 0):
			return nil, l.never(v, p)
		}
	}
	return out, nil
}

// wholeBound is a bound on integers as an inclusive whole one.
func wholeBound(key string, r *big.Rat) (side string, bound *big.Int) {
	floor := new(big.Int).Div(r.Num(), r.Denom()) // towards −∞: denominators are positive
	ceil := floor
	if !r.IsInt() {
		ceil = new(big.Int).Add(floor, big.NewInt(1))
	}
	switch key {
	case "minimum":
		return key, ceil
	case "exclusiveMinimum":
		return "minimum", new(big.Int).Add(floor, big.NewInt(1))
	case "exclusiveMaximum":
		return "maximum", new(big.Int).Sub(ceil, big.NewInt(1))
	}
	return key, floor
}

// onlyNumbers lowers a list of numbers: one, or whole ones without a gap.
func (l *lowerer) onlyNumbers(v *value, only []*value, p place) (*value, *flaw) {
	for _, key := range keywordsOf("number") {
		if m := v.get(key); m != nil && key != "format" {
			return nil, l.flaw(m, p.to(key), "%s beside enum", key)
		}
	}
	whole := make([]*big.Int, 0, len(only))
	for _, e := range only {
		r, ok := rational(e)
		if !ok {
			return nil, l.flaw(e, p, "a number in enum that cannot be read exactly")
		}
		if r.IsInt() {
			whole = append(whole, r.Num())
		}
	}
	if len(only) == 1 && len(whole) == 0 {
		return object(member{"type", text("number")}, member{"const", only[0]}), nil
	}
	slices.SortFunc(whole, (*big.Int).Cmp)
	whole = slices.CompactFunc(whole, func(a, b *big.Int) bool { return a.Cmp(b) == 0 })
	if len(whole) < len(only) && len(whole) == 0 {
		return nil, l.flaw(v, p, "an enum of several fractions")
	}
	span := new(big.Int).Sub(whole[len(whole)-1], whole[0])
	if len(whole) < len(only) || span.Cmp(big.NewInt(int64(len(whole)-1))) != 0 || whole[0].CmpAbs(big.NewInt(schema.MaxInteger)) > 0 {
		return nil, l.flaw(v, p, "an enum of numbers with gaps: a manifest lists strings only")
	}
	return object(member{"type", text("integer")}, member{"minimum", number(whole[0].String())},
		member{"maximum", number(whole[len(whole)-1].String())}), nil
}
