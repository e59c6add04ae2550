package codegen_test

import (
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/capgen/capgen/schema"
)

// mutate changes one place a little and reports whether it did. What comes out
// may still be valid.
func (m *maker) mutate() bool {
	p := m.places[m.IntN(len(m.places))]
	if p.sample == m.places[0].sample && p.t.Kind == schema.Object {
		// A root stays an object: nothing else is a call.
		return m.mutateMembers(p)
	}
	if m.IntN(3) == 0 {
		return m.replace(p)
	}
	switch p.kind {
	case anInt, aWide:
		n, err := strconv.ParseInt(p.text, 10, 64)
		if err != nil {
			return false
		}
		edges := []string{"0", "1", "-1", "9007199254740991", "-9007199254740991"}
		if p.t.Kind == schema.Integer || p.t.Kind == schema.Int64 {
			// The bounds, and what lies beyond them.
			edges = append(edges, "9007199254740992", "-9007199254740992", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809")
			for _, edge := range []int64{n, p.t.Minimum, p.t.Maximum} {
				edges = append(edges, strconv.FormatInt(edge, 10))
				if edge < math.MaxInt64 {
					edges = append(edges, strconv.FormatInt(edge+1, 10))
				}
				if edge > math.MinInt64 {
					edges = append(edges, strconv.FormatInt(edge-1, 10))
				}
			}
		}
		p.text = m.pick(edges...)
	case aFloat:
		if p.t.Kind != schema.Number {
			return false
		}
		f := p.float()
		for _, bound := range []string{p.t.NumberMin, p.t.NumberMax} {
			if b, err := strconv.ParseFloat(bound, 64); err == nil && m.IntN(2) == 0 {
				f = b
			}
		}
		f = m.near(f)
		p.text = strconv.FormatFloat(f, 'e', -1, 64)
	case aText:
		if p.t.Kind != schema.String {
			return false // it may become digits or base64
		}
		p.text = m.edit(p.text)
	case aBytes:
		b := decodeBase64(p.text)
		if m.IntN(2) == 0 || len(b) == 0 {
			b = append(b, byte(m.Uint32()), byte(m.Uint32()), byte(m.Uint32()))
		} else {
			b = b[:m.IntN(len(b))]
		}
		p.text = base64.StdEncoding.EncodeToString(b)
	case aList:
		switch {
		case len(p.items) > 0 && m.IntN(2) == 0:
			p.remove(m.IntN(len(p.items)))
		case len(p.items) > 0:
			p.items = append(p.items, p.items[0], p.items[0], p.items[0])
		case p.t.Kind == schema.Array && (isInt64(p.t.Items) || resolve(p.t.Items).Kind == schema.Map && isInt64(resolve(p.t.Items).Items)):
			return false
		default:
			p.items = append(p.items, m.odd())
		}
	case aDict:
		return m.mutateMembers(p)
	default:
		return m.replace(p)
	}
	return true
}

func (m *maker) near(f float64) float64 {
	switch m.IntN(4) {
	case 0:
		return math.Nextafter(f, math.Inf(1))
	case 1:
		return math.Nextafter(f, math.Inf(-1))
	case 2:
		return -f
	}
	return f
}

func (m *maker) mutateMembers(p place) bool {
	switch i := m.IntN(4); {
	case i == 0 && len(p.items) > 0:
		p.remove(m.IntN(len(p.items)))
	case i == 1 && len(p.items) > 0 && p.t.Kind != schema.Object:
		// A key that stands there by another name.
		key := m.edit(p.keys[0])
		if p.find(key) != nil {
			return false
		}
		p.keys[0] = key
	case i == 2 && p.t.Kind == schema.Object:
		name := m.pick("unknown", "Text", "note2", "x", "key", "lives")
		if p.find(name) != nil || slices.ContainsFunc(p.t.Properties, func(p *schema.Property) bool { return p.Name == name }) {
			return false
		}
		p.add(name, m.odd())
	case i == 3 && p.t.Kind == schema.Map && len(p.items) > 0:
		for _, key := range []string{"a1", "b2", "c3", "d4"} {
			if p.find(key) == nil {
				p.add(key, p.items[0])
			}
		}
	default:
		return false
	}
	return true
}

// edit changes a text by a character or a few.
func (m *maker) edit(text string) string {
	runes := []rune(text)
	i := m.IntN(len(runes) + 1)
	switch m.IntN(5) {
	case 0:
		return string(slices.Insert(runes, i, alphabet[m.IntN(len(alphabet))]))
	case 1:
		if i < len(runes) {
			return string(slices.Delete(runes, i, i+1))
		}
	case 2:
		if i < len(runes) {
			runes[i] = alphabet[m.IntN(len(alphabet))]
			return string(runes)
		}
	case 3:
		return m.pick(strings.ToUpper(text), strings.Repeat(text, 3), "", text+"\n", " "+text)
	}
	if i < len(runes) {
		runes[i] = rune('0' + m.IntN(10))
	}
	return string(runes)
}

// odd is a small value of a kind that is expected seldom.
func (m *maker) odd() *sample {
	return []*sample{
		{kind: aNull}, {kind: aBool, text: yes}, {kind: aBool, text: no}, {kind: anInt, text: "1"}, {kind: anInt, text: "0"}, {kind: anInt, text: "-7"},
		{kind: aFloat, text: "0.5"}, {kind: aText, text: "x"}, {kind: aText, text: "1-"}, {kind: aList}, {kind: aDict},
		{kind: aList, items: []*sample{{kind: aText, text: "x"}}}, {kind: aDict, keys: []string{"x"}, items: []*sample{{kind: anInt, text: "1"}}},
	}[m.IntN(13)]
}

// replace puts a value of another kind there. It leaves out what programs and
// JSON are meant to write in different ways: those are differences.
func (m *maker) replace(p place) bool {
	other := m.odd()
	switch {
	case p.t.Kind == schema.Bytes && m.IntN(2) == 0:
		other = &sample{kind: aText, text: m.pick("AB==", "AAB=", "AP8", "AP8i\n", "AP8i====", "AP_-", "A", "====", " AP8i", "AP8iAP8iAP8iAP8")}
	case p.t.Kind == schema.Int64 && m.IntN(2) == 0:
		other = &sample{kind: aText, text: m.pick("007", "-0", "+5", "1.0", "1e2", "", " 1", "1\n", "-", "0x1", "１", "12345678901234567890")}
	}
	if other.kind == aNull && p.optional || other.kind == anInt && p.t.Kind == schema.Int64 || p.t.Kind == schema.Map && isInt64(p.t.Items) {
		return false
	}
	*p.sample = *other
	return true
}
