package codegen_test

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/capgen/capgen/schema"
)

// place is a value inside a sample, with the schema that holds for it.
type place struct {
	*sample
	t *schema.Type
	// optional: a program may give None for it, which is the same as nothing.
	optional bool
	// unique: it is part of an item that must differ from all others.
	unique bool
}

// maker makes values of schemas.
type maker struct {
	*rand.Rand
	patterns map[string]*regexp.Regexp
	// places of the value that was made last.
	places []place
}

func decodeBase64(text string) []byte {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}

// valid makes a value that satisfies t. levels bounds what it holds.
func (m *maker) valid(t *schema.Type, levels int) *sample { return m.make(t, levels, false) }

func (m *maker) make(t *schema.Type, levels int, optional bool) *sample {
	s := &sample{}
	m.fill(s, t, levels, optional)
	return s
}

func (m *maker) fill(s *sample, t *schema.Type, levels int, optional bool) {
	switch t.Kind {
	case schema.Ref:
		m.fill(s, t.Ref.Type, levels, optional)
		return
	case schema.Nullable:
		if m.IntN(4) == 0 {
			s.kind = aNull
			m.places = append(m.places, place{sample: s, t: resolve(t.Items)})
			return
		}
		m.fill(s, t.Items, levels, false)
		return
	case schema.Union:
		variants := t.Variants
		if levels <= 0 {
			variants = variants[:1] // no more of its own kind
		}
		m.fill(s, variants[m.IntN(len(variants))], levels, optional)
		return
	}
	m.places = append(m.places, place{sample: s, t: t, optional: optional})
	switch t.Kind {
	case schema.String:
		s.kind, s.text = aText, m.string(t)
	case schema.Bytes:
		s.kind, s.text = aBytes, m.base64(t)
	case schema.Integer:
		s.kind, s.text = anInt, m.integer(t)
	case schema.Int64:
		s.kind, s.text = aWide, m.integer(t)
	case schema.Number:
		m.number(s, t)
	case schema.Boolean:
		s.kind, s.text = aBool, yes
		if t.Const == no || t.Const == "" && m.IntN(2) == 0 {
			s.text = no
		}
	case schema.Array:
		s.kind = aList
		for range m.count(t, levels) {
			before := len(m.places)
			s.items = append(s.items, m.make(t.Items, levels-1, false))
			if t.Unique && s.repeats() {
				s.items, m.places = s.items[:len(s.items)-1], m.places[:before]
			}
			for i := before; i < len(m.places); i++ {
				m.places[i].unique = m.places[i].unique || t.Unique
			}
		}
	case schema.Map:
		s.kind = aDict
		for range m.count(t, levels) {
			for range 50 {
				if key := m.string(t.Keys); s.find(key) == nil {
					s.add(key, m.make(t.Items, levels-1, false))
					break
				}
			}
		}
	case schema.Object:
		s.kind = aDict
		for _, i := range m.Perm(len(t.Properties)) {
			p := t.Properties[i]
			if p.Required || levels > 0 && m.IntN(3) == 0 {
				s.add(p.Name, m.make(p.Type, levels-1, !p.Required && !takesNull(p.Type)))
			}
		}
	case schema.Opaque:
		m.any(s, min(levels, 3))
	case schema.FreeObject:
		s.kind = aDict
		m.anyMembers(s, min(levels, 3))
	default:
		panic("no values of the kind " + string(t.Kind))
	}
}

func resolve(t *schema.Type) *schema.Type {
	for t.Kind == schema.Ref {
		t = t.Ref.Type
	}
	return t
}

func takesNull(t *schema.Type) bool {
	t = resolve(t)
	return t.Kind == schema.Nullable || t.Kind == schema.Opaque
}

func isInt64(t *schema.Type) bool {
	t = resolve(t)
	return t.Kind == schema.Int64 || t.Kind == schema.Nullable && isInt64(t.Items)
}

func (m *maker) count(t *schema.Type, levels int) int {
	if levels <= 0 {
		return t.MinItems
	}
	return min(t.MinItems+m.IntN(4), t.MaxItems)
}

// any fills s with JSON data of any kind.
func (m *maker) any(s *sample, levels int) {
	n := 7
	if levels <= 0 {
		n = 5
	}
	switch m.IntN(n) {
	case 0:
		s.kind = aNull
	case 1:
		s.kind, s.text = aBool, yes
	case 2:
		s.kind, s.text = anInt, strconv.FormatInt(m.between(-1<<53+1, 1<<53-1), 10)
	case 3:
		s.kind, s.text = aFloat, m.pick("0.5", "-1.25e-7", "1e21", "1.7976931348623157e308", "5e-324", "2.0", "-0.0", "9007199254740991.0")
	case 4:
		s.kind, s.text = aText, m.letters(m.IntN(6))
	case 5:
		s.kind = aList
		for range m.IntN(3) {
			item := &sample{}
			m.any(item, levels-1)
			s.items = append(s.items, item)
		}
	default:
		s.kind = aDict
		m.anyMembers(s, levels-1)
	}
}

func (m *maker) anyMembers(s *sample, levels int) {
	for range m.IntN(4) {
		if key := m.letters(m.IntN(4)); s.find(key) == nil {
			item := &sample{}
			m.any(item, levels)
			s.add(key, item)
		}
	}
}

func (m *maker) pick(texts ...string) string { return texts[m.IntN(len(texts))] }

// between is often at a bound.
func (m *maker) between(low, high int64) int64 {
	switch m.IntN(6) {
	case 0:
		return low
	case 1:
		return high
	case 2:
		return max(low, min(high, int64(m.IntN(21))-10))
	}
	span := uint64(high) - uint64(low) // of all 64 bits
	if span == math.MaxUint64 {
		return int64(m.Uint64())
	}
	return low + int64(m.Uint64N(span+1))
}

func (m *maker) integer(t *schema.Type) string {
	step := int64(1)
	if t.MultipleOf != "" {
		var err error
		if step, err = strconv.ParseInt(t.MultipleOf, 10, 64); err != nil {
			panic(err)
		}
	}
	low, high := t.Minimum/step, t.Maximum/step // of which both are inside
	if low*step < t.Minimum {
		low++
	}
	if high*step > t.Maximum {
		high--
	}
	return strconv.FormatInt(m.between(low, high)*step, 10)
}

func (m *maker) number(s *sample, t *schema.Type) {
	s.kind = aFloat
	for {
		s.text = m.pick(t.NumberMin, t.NumberMax, "0", "-0.0", "0.25", "0.5", "1.0", "7.25", "-0.25", "1e3", "1e-7", "0.1", "123456789.125", "1e300", "5e-324", "-1e21", "3.75")
		if s.text == "" {
			continue
		}
		if f := s.float(); inRange(t, f) {
			if !strings.ContainsAny(s.text, ".e") {
				s.kind = anInt
			}
			return
		}
	}
}

func inRange(t *schema.Type, f float64) bool {
	bound := func(text string, otherwise float64) float64 {
		if text == "" {
			return otherwise
		}
		b, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic(err)
		}
		return b
	}
	low, high := bound(t.NumberMin, math.Inf(-1)), bound(t.NumberMax, math.Inf(1))
	if f < low || f > high || t.ExclusiveMin && f == low || t.ExclusiveMax && f == high {
		return false
	}
	if t.MultipleOf != "" {
		// Multiples in these schemas are powers of two: no rounding.
		return math.Mod(f, bound(t.MultipleOf, 1)) == 0
	}
	return true
}

func (m *maker) base64(t *schema.Type) string {
	for {
		b := make([]byte, m.IntN(8))
		for i := range b {
			b[i] = byte(m.Uint32())
		}
		if text := base64.StdEncoding.EncodeToString(b); len(text) >= t.MinLength && len(text) <= t.MaxLength {
			return text
		}
	}
}

var alphabet = []rune("abcxyz 09A-_/.\"\\'`{}\x00\n\x7fé\u2028\ufeff\ufffd😀~<&")

func (m *maker) letters(n int) string {
	var b strings.Builder
	for range n {
		b.WriteRune(alphabet[m.IntN(len(alphabet))])
	}
	return b.String()
}

func (m *maker) string(t *schema.Type) string {
	switch {
	case len(t.Enum) > 0:
		return m.pick(t.Enum...)
	case t.Format != "":
		for {
			if s := m.format(t.Format); t.Pattern == "" || m.pattern(t.Pattern).MatchString(s) {
				return s
			}
		}
	}
	for {
		s := m.letters(t.MinLength + m.IntN(min(t.MaxLength-t.MinLength, 6)+1))
		if t.Pattern != "" {
			parsed, err := syntax.Parse(t.Pattern, syntax.Perl)
			if err != nil {
				panic(err)
			}
			var b strings.Builder
			m.match(&b, parsed)
			if s = b.String(); !strings.HasSuffix(t.Pattern, "$") {
				s += m.letters(m.IntN(4))
			}
		}
		if n := utf8.RuneCountInString(s); n >= t.MinLength && n <= t.MaxLength {
			return s
		}
	}
}

func (m *maker) pattern(expr string) *regexp.Regexp {
	if m.patterns[expr] == nil {
		m.patterns[expr] = regexp.MustCompile(expr)
	}
	return m.patterns[expr]
}

// match writes a text that expr matches.
func (m *maker) match(b *strings.Builder, expr *syntax.Regexp) {
	switch expr.Op {
	case syntax.OpLiteral:
		b.WriteString(string(expr.Rune))
	case syntax.OpCharClass:
		i := m.IntN(len(expr.Rune)/2) * 2
		b.WriteRune(expr.Rune[i] + rune(m.IntN(int(min(expr.Rune[i+1]-expr.Rune[i], 300))+1)))
	case syntax.OpStar, syntax.OpPlus:
		n := m.IntN(4)
		if expr.Op == syntax.OpPlus {
			n++
		}
		for range n {
			m.match(b, expr.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range expr.Sub {
			m.match(b, sub)
		}
	case syntax.OpAlternate:
		m.match(b, expr.Sub[m.IntN(len(expr.Sub))])
	case syntax.OpCapture:
		m.match(b, expr.Sub[0])
	case syntax.OpQuest:
		if m.IntN(2) == 0 {
			m.match(b, expr.Sub[0])
		}
	case syntax.OpRepeat:
		for range expr.Min + m.IntN(max(expr.Min, min(expr.Max, expr.Min+3))-expr.Min+1) {
			m.match(b, expr.Sub[0])
		}
	case syntax.OpBeginText, syntax.OpEndText, syntax.OpEmptyMatch:
	default:
		panic(fmt.Sprintf("no text for %v", expr))
	}
}

func (m *maker) format(format string) string {
	date := func() string {
		return fmt.Sprintf("%s%02d-%02d-%02d", m.pick("20", "19"), m.IntN(100), 1+m.IntN(12), 1+m.IntN(28))
	}
	clock := func() string {
		return fmt.Sprintf("%02d:%02d:%02d%s%s", m.IntN(24), m.IntN(60), m.IntN(60), m.pick("", ".5", ".000000001"), m.pick("Z", "z", "+01:30", "-23:59"))
	}
	switch format {
	case "date":
		return date()
	case "time":
		return clock()
	case "date-time":
		return date() + m.pick("T", "t") + clock()
	case "duration":
		return m.pick("PT5M", "P1Y2M3D", "P3W", "PT1H", "P1DT12H30M5S", "PT0S", "P1Y", "PT36H")
	case "uuid":
		return m.pick("2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2EB8AA08-AA98-11EA-B4AA-73B441D16380", "00000000-0000-0000-0000-000000000000")
	case "ipv4":
		return m.pick("0.0.0.0", "255.255.255.255", "127.0.0.1", "10.20.30.4")
	case "ipv6":
		return m.pick("::", "::1", "2001:db8::1", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "FE80::A")
	case "uri":
		return m.pick("https://example.com/", "mailto:a@example.com", "urn:a:b", "http://[::1]:80/a?b=c#d", "ftp://h/%20")
	case "email":
		return m.pick("a@example.com", "a.b+c@x.example", "x@y")
	}
	panic("no values of the format " + format)
}
