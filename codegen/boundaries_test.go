package codegen_test

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/capgen/capgen/codegen/testdata/kinds/generated/proof"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/types"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/schema"
)

// At every bound of every schema, and beside it, decoders and the oracle agree.
func TestBoundaries(t *testing.T) {
	most := 6_000
	if *soak {
		most = 1_500_000
	}
	m := &maker{Rand: rand.New(rand.NewPCG(3, 6)), patterns: map[string]*regexp.Regexp{}}
	all, texts, accepted, kinds := subjects(t, m), 0, 0, map[string][2]int{}
	// The one with a bound of every kind is worth as much as all others.
	all = slices.Insert(all, 0, all[slices.IndexFunc(all, func(s *subject) bool { return s.name == "proof.bounds" })])
	for round := 0; texts < most; round++ {
		s := all[round%len(all)]
		m.places = m.places[:0]
		v := m.valid(s.schema, 6)
		if round == 0 {
			v = m.everything(s.schema)
		}
		for _, p := range slices.Clone(m.places) {
			for _, e := range m.edges(p) {
				p.json = e.text
				text := v.appendJSON(nil)
				p.json = ""
				texts++
				n := kinds[e.kind]
				if s.agree(t, text) {
					accepted++
					n[1]++
				} else {
					n[0]++
				}
				kinds[e.kind] = n
				if t.Failed() {
					t.FailNow() // one is enough to look at
				}
			}
		}
	}
	t.Logf("%d texts at bounds: %d accepted, %d refused, no over-accept", texts, accepted, texts-accepted)
	for _, kind := range []string{
		"another type", "an integer bound", "an int64 bound", "a number bound", "a length in code points", "a length of base64",
		"a number of items", "an item twice", "items that are equal", "a number of members", "a key and its neighbours", "a member less",
		"a member null", "an enum and its neighbours", "a pattern and its neighbours", "a format and its neighbours", "a wide integer", "depth",
	} {
		if n := kinds[kind]; n[0] == 0 || n[1] == 0 {
			t.Errorf("%s: %d refused, %d accepted: a bound has two sides", kind, n[0], n[1])
		}
	}
	for _, kind := range []string{"a number that is none", "half a pair", "an unknown member", "a member twice", "an array that is none"} {
		if n := kinds[kind]; n[0] == 0 {
			t.Errorf("%s was never written", kind)
		}
	}
}

// everything is a value with each optional member of an object.
func (m *maker) everything(t *schema.Type) *sample {
	s := m.valid(t, 4)
	for _, p := range t.Properties {
		if s.find(p.Name) == nil {
			s.add(p.Name, m.valid(p.Type, 3))
		}
	}
	return s
}

// Values that hold others of their kind are taken to the limit of depth, and
// not one level further, as JSON and on the wire.
func TestRecursionToTheLimit(t *testing.T) {
	chain := func(levels int) string {
		return strings.Repeat(`{"head":1,"next":`, levels-1) + `{"head":1}` + strings.Repeat("}", levels-1)
	}
	tree := func(levels int) string { // an object and a list for each
		return strings.Repeat(`{"name":"a","children":[`, levels-1) + `{"name":"a"}` + strings.Repeat("]}", levels-1)
	}
	nest := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	for _, test := range []struct {
		name   string
		decode decoder
		last   int // levels that are taken
		depth  int // containers within each other then
		text   func(levels int) string
	}{
		{"chain", decoderOf[types.Chain], depth, depth, chain},
		{"tree", decoderOf[types.Tree], depth / 2, depth - 1, tree},
		{"nest", decoderOf[types.Nest], depth, depth, nest},
		{"inside", decoderOf[proof.BoundsInput], depth - 1, depth, func(n int) string { return `{"cents":0,"tenths":0,"chain":` + chain(n) + `}` }},
	} {
		v, err := test.decode(canon.NewJSONReader([]byte(test.text(test.last)), depth))
		if err != nil {
			t.Errorf("%s: %d levels: %v", test.name, test.last, err)
			continue
		}
		wire, err := canon.AppendWire(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := test.decode(canon.NewWireReader(wire, depth)); err != nil {
			t.Errorf("%s: %d levels on the wire: %v", test.name, test.last, err)
		}
		if _, err := test.decode(canon.NewWireReader(wire, test.depth-1)); err == nil || err.(*canon.Error).Code != canon.CodeDepth {
			t.Errorf("%s: a level too many on the wire: %v", test.name, err)
		}
		_, err = test.decode(canon.NewJSONReader([]byte(test.text(test.last+1)), depth))
		if e, ok := err.(*canon.Error); !ok || e.Code != canon.CodeDepth {
			t.Errorf("%s: %d levels: %v", test.name, test.last+1, err)
		}
	}
}
