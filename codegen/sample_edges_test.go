package codegen_test

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/capgen/capgen/schema"
)

// edge is a JSON text to put in the place of a value: at a bound of its schema,
// beside one, or not JSON at all.
type edge struct{ kind, text string }

// edges are those of a place, whatever a validator thinks of them.
func (m *maker) edges(p place) []edge {
	var out []edge
	add := func(kind string, texts ...string) {
		for _, text := range texts {
			out = append(out, edge{kind, text})
		}
	}
	add("another type", "null", "true", "0", `""`, "[]", "{}", "1.5", "-0", "-0.0")
	add("a number that is none", "1e400", "-1e999999999", "1e-999999999", "01", "1.", "+1", "NaN")
	t := p.t
	switch t.Kind {
	case schema.Integer:
		add("an integer bound", integersBy(t)...)
	case schema.Int64:
		for _, n := range append(integersBy(t), "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809") {
			add("an int64 bound", `"`+n+`"`)
		}
		add("an int64 form", `"-0"`, `"00"`, `"+1"`, `" 1"`, `"1.0"`, `"1e2"`, `""`, `"-"`, `"１"`, `"12345678901234567890"`, "9007199254740993")
	case schema.Number:
		add("a number bound", numbersBy(t)...)
	case schema.String:
		m.stringEdges(t, add)
	case schema.Bytes:
		for _, n := range []int{t.MinLength, t.MaxLength} {
			if n < 1000 {
				for _, d := range []int{-4, 0, 4} {
					add("a length of base64", `"`+strings.Repeat("A", max(0, n+d))+`"`)
				}
			}
		}
		add("a form of base64", `"AA=="`, `"AB=="`, `"AAA="`, `"AAB="`, `"AA="`, `"AA"`, `"AAAA="`, `"A A="`, `"AP_-"`, `"AAAA\n"`, `"\u0041AAA"`)
	case schema.Array:
		m.listEdges(t, add)
	case schema.Map:
		m.mapEdges(t, add)
	case schema.Object:
		m.objectEdges(p, add)
	case schema.Opaque, schema.FreeObject:
		for _, n := range []string{"9007199254740991", "9007199254740992", "-9007199254740993", "1e20", "1e21", "100000000000000000000000", "9007199254740991.5"} {
			add("a wide integer", n, `{"a":[`+n+`]}`)
		}
		add("a member twice", `{"a":1,"a":1}`, `{"b":{"a":1,"\u0061":1}}`)
	}
	for n := depth - 6; n <= depth+1; n++ {
		add("depth", brackets(n), strings.Repeat(`{"a":`, n)+"1"+strings.Repeat("}", n))
	}
	return out
}

// integersBy are the bounds of an integer, what is beside them, and forms of
// the same numbers.
func integersBy(t *schema.Type) []string {
	var out []string
	step := int64(1)
	if t.MultipleOf != "" {
		step, _ = strconv.ParseInt(t.MultipleOf, 10, 64)
	}
	for _, bound := range []int64{t.Minimum, t.Maximum, 0} {
		for _, d := range []int64{-step, -1, 0, 1, step} {
			out = append(out, new(big.Int).Add(big.NewInt(bound), big.NewInt(d)).String())
		}
		n := strconv.FormatInt(bound, 10)
		out = append(out, n+".0", n+"0e-1", n+".0000000000000000000001", n+".5", n+"e0", n+"E+00")
	}
	return out
}

// numbersBy are the bounds of a number and its multiples, the floats beside
// them, and decimals that are rounded to them.
func numbersBy(t *schema.Type) []string {
	out := []string{"0.1", "0.3", "0.30000000000000004", "0.07", "1.1", "100000000000000000000", "1e21", "1e22", "5e-324", "1.7976931348623157e308", "9007199254740993"}
	near := func(text string) {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return
		}
		for _, v := range []float64{f, math.Nextafter(f, math.Inf(1)), math.Nextafter(f, math.Inf(-1)), f + 1, f - 1, -f} {
			out = append(out, strconv.FormatFloat(v, 'g', -1, 64), strconv.FormatFloat(v, 'f', 30, 64))
		}
		if strings.Contains(text, ".") && !strings.Contains(text, "e") {
			out = append(out, text+"00000000000000000000001", text+"000")
		}
	}
	near(t.NumberMin)
	near(t.NumberMax)
	if step, err := strconv.ParseFloat(t.MultipleOf, 64); err == nil {
		for _, n := range []float64{1, 3, 7, 29, 1001, 1e15} {
			near(strconv.FormatFloat(n*step, 'g', 15, 64))
		}
	}
	return out
}

func quote(s string) string { return string((&sample{kind: aText, text: s}).appendJSON(nil)) }

func (m *maker) stringEdges(t *schema.Type, add func(string, ...string)) {
	add("half a pair", `"\ud800"`, `"\udc00\ud800"`, `"\ud83d\ude00"`, "\"\xff\"", `"\u0000"`, `"\x"`)
	if len(t.Enum) > 0 {
		for _, word := range t.Enum {
			add("an enum and its neighbours", quote(word), quote(word+" "), quote(" "+word), quote(strings.ToUpper(word)), quote(strings.ToLower(word)), quote(word+"\x00"))
			if _, size := utf8.DecodeRuneInString(word); size > 0 {
				add("an enum and its neighbours", quote(word[size:]), `"\u00`+strconv.FormatInt(int64(word[0])>>4, 16)+strconv.FormatInt(int64(word[0])&15, 16)+word[1:]+`"`)
			}
		}
		return
	}
	for _, n := range []int{t.MinLength, t.MaxLength} {
		for _, d := range []int{-1, 0, 1} {
			if n+d < 0 || n+d > 5000 {
				continue
			}
			for _, c := range []string{"a", "é", "😀", `\u0061`, `\ud83d\ude00`} {
				add("a length in code points", `"`+strings.Repeat(c, n+d)+`"`)
			}
		}
	}
	for range 6 {
		s := m.string(t)
		kind := "a text"
		switch {
		case t.Format != "":
			kind = "a format and its neighbours"
		case t.Pattern != "":
			kind = "a pattern and its neighbours"
		}
		add(kind, quote(s), quote(m.edit(s)), quote(m.edit(s)), quote(m.edit(m.edit(s))), quote(s+"\n"))
	}
}

func (m *maker) listEdges(t *schema.Type, add func(string, ...string)) {
	for _, n := range []int{t.MinItems, t.MaxItems} {
		for _, d := range []int{-1, 0, 1} {
			if n+d < 0 || n+d > 1001 {
				continue
			}
			var items []string
			for range n + d {
				items = append(items, m.valid(t.Items, 0).String())
			}
			add("a number of items", "["+strings.Join(items, ",")+"]")
		}
	}
	item := m.valid(t.Items, 1).String()
	add("an item twice", "["+item+","+item+"]", "["+item+" , "+item+"]")
	add("an array that is none", "["+item, "["+item+",]", "[,"+item+"]", "["+item+item+"]", "["+item+"}")
	add("items that are equal", "[1,1.0]", "[0,-0.0]", `["a","\u0061"]`, "[1e1,10]")
}

func (m *maker) mapEdges(t *schema.Type, add func(string, ...string)) {
	member := func() string { return m.valid(t.Items, 0).String() }
	for _, n := range []int{t.MinItems, t.MaxItems} {
		for _, d := range []int{-1, 0, 1} {
			if n+d < 0 || n+d > 1001 {
				continue
			}
			var members []string
			for i := range n + d {
				members = append(members, quote("x"+strconv.Itoa(i))+":"+member())
			}
			add("a number of members", "{"+strings.Join(members, ",")+"}")
		}
	}
	for range 3 {
		key := m.string(t.Keys)
		for _, k := range []string{key, m.edit(key), key + key, ""} {
			add("a key and its neighbours", "{"+quote(k)+":"+member()+"}")
		}
		add("a member twice", "{"+quote(key)+":"+member()+","+quote(key)+":"+member()+"}")
	}
}

// objectEdges leave out each member of an object in turn, give each twice, and
// add one that nobody knows.
func (m *maker) objectEdges(p place, add func(string, ...string)) {
	member := func(i int) string { return quote(p.keys[i]) + ":" + p.items[i].String() }
	all := make([]string, len(p.keys))
	for i := range p.keys {
		all[i] = member(i)
	}
	for i := range all {
		add("a member less", "{"+strings.Join(slices.Delete(slices.Clone(all), i, i+1), ",")+"}")
		add("a member twice", "{"+strings.Join(append(slices.Clone(all), all[i]), ",")+"}")
		add("a member null", "{"+strings.Join(append(slices.Delete(slices.Clone(all), i, i+1), quote(p.keys[i])+":null"), ",")+"}")
	}
	for _, name := range []string{"unknown", "", "a b", "__proto__", "é\u2028", strings.Repeat("k", 200)} {
		add("an unknown member", "{"+strings.Join(append(slices.Clone(all), quote(name)+":1"), ",")+"}")
	}
	for _, property := range p.t.Properties {
		if p.find(property.Name) == nil {
			value := m.valid(property.Type, 0).String()
			add("a member more", "{"+strings.Join(append(slices.Clone(all), quote(property.Name)+":"+value), ",")+"}")
		}
	}
}
