package canon

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// numbersOf reads and writes numbers that have to differ.
type numbersOf struct{ values []float64 }

func (v *numbersOf) Decode(r *Reader) error {
	r.BeginArray(0, 10_000)
	for r.NextElement() {
		v.values = append(v.values, r.Float())
	}
	r.Unique(len(v.values), func(w *Writer, i int) { w.Float(v.values[i]) })
	return r.Err()
}

func (v *numbersOf) Encode(w *Writer) {
	w.BeginArray(len(v.values), 0, 10_000)
	for i, x := range v.values {
		w.Element(i).Float(x)
	}
	w.EndArray()
	w.Unique(len(v.values), func(w *Writer, i int) { w.Float(v.values[i]) })
}

// opaquesOf does so with values of any kind.
type opaquesOf struct{ values []Opaque }

func (v *opaquesOf) Decode(r *Reader) error {
	r.BeginArray(0, 10_000)
	for r.NextElement() {
		var e Opaque
		e.Decode(r)
		v.values = append(v.values, e)
	}
	r.Unique(len(v.values), func(w *Writer, i int) { v.values[i].Encode(w) })
	return r.Err()
}

func TestUnique(t *testing.T) {
	const same01 = "expected items that differ, got the same as [0] and [1]"
	for text, want := range map[string]string{
		`[]`: "", `[1]`: "", `[1, 2, 3]`: "",
		`[1, 1]`: same01, `[1, 1.0]`: same01, `[100, 1e2]`: same01, `[0, -0.0]`: same01, `[1.5, 15e-1]`: same01,
		`[3, 1, 2, 1]`: "expected items that differ, got the same as [1] and [3]",
		// Two literals of one float are one value.
		`[9007199254740993, 9007199254740992]`: same01, `[1e30, 1000000000000000000000000000000]`: same01,
	} {
		var v numbersOf
		judge(t, text, want, v.Decode(NewJSONReader([]byte(text), 8)))
	}
	for text, want := range map[string]string{
		`[1, "1", [1], {"a": 1}, null, true]`:        "",
		`[{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}]`: same01,
		`["é", "\u00e9"]`:                            same01,
		`["é", "e\u0301"]`:                           "", // there is no normalisation
		`[[], [], 1]`:                                same01,
		`[null, null]`:                               same01,
	} {
		var v opaquesOf
		judge(t, text, want, v.Decode(NewJSONReader([]byte(text), 8)))
	}
	if _, err := AppendWire(nil, &numbersOf{[]float64{1, 2, 1}}); err == nil || err.Error() != "expected items that differ, got the same as [0] and [2]" {
		t.Error(err)
	}
	var report Report
	w := NewWireWriter(nil)
	w.Report(&report)
	(&numbersOf{[]float64{1, 1}}).Encode(w)
	if w.End() != nil || report.Breaches != 1 || report.First.Code != CodeDuplicate {
		t.Errorf("%v, %+v", w.End(), report)
	}
}

func judge(t *testing.T, text, want string, err error) {
	t.Helper()
	var refused *Error
	switch {
	case want == "" && err == nil:
	case want == "" || !errors.As(err, &refused) || refused.Message != want || refused.Code != CodeDuplicate || refused.Path != "":
		t.Errorf("%s: got %v, want %s", text, err, want)
	}
}

// What a worker writes is judged as what the host decodes.
func TestUniqueWire(t *testing.T) {
	wire := func(write func(*Writer)) []byte {
		w := NewWireWriter(nil)
		write(w)
		return w.Bytes()
	}
	one := wire(func(w *Writer) { w.Int(1, 0, 9) })
	object := func(a, b string) []byte {
		return wire(func(w *Writer) {
			w.BeginMap(2, 0, 9)
			w.Key(a).Int(1, 0, 9)
			w.Key(b).Int(1, 0, 9)
			w.EndMap()
		})
	}
	for name, test := range map[string]struct {
		items [][]byte
		same  bool
	}{
		"integer and float":   {[][]byte{one, wire(func(w *Writer) { w.Float(1) })}, true},
		"order of members":    {[][]byte{object("a", "b"), object("b", "a")}, true},
		"wide floats":         {[][]byte{wire(func(w *Writer) { w.Float(1e17) }), one, wire(func(w *Writer) { w.Float(1e17) })}, true},
		"different":           {[][]byte{one, object("a", "b"), object("a", "c")}, false},
		"what is no value":    {[][]byte{{0xC1}, {0xC1}}, false},
		"deeper than allowed": {[][]byte{{0x91, 0x91, 0x90}, {0x91, 0x91, 0x90}}, false},
	} {
		if message := UniqueWire(len(test.items), func(i int) []byte { return test.items[i] }, 2); (message != "") != test.same {
			t.Errorf("%s: %q", name, message)
		}
	}
}

// nestedSets is a list of lists that differ, whatever is in them.
type nestedSets struct {
	inside []*nestedSets
	writes *int
}

func (v *nestedSets) Encode(w *Writer) {
	*v.writes++
	w.BeginArray(len(v.inside), 0, 10_000)
	for i, e := range v.inside {
		e.Encode(w.Element(i))
	}
	w.EndArray()
	w.Unique(len(v.inside), func(w *Writer, i int) { v.inside[i].Encode(w) })
}

// No input makes it slow: each item is written once more for each list around
// it, neither once for each other item nor twice for each level.
func TestUniqueIsBounded(t *testing.T) {
	const n, levels = 10_000, 200
	writes := 0
	var list strings.Builder
	v := &nestedSets{writes: new(int)}
	for i := range n {
		fmt.Fprintf(&list, ",%d", i)
		v.inside = append(v.inside, &nestedSets{writes: &writes})
	}
	var numbers numbersOf
	if err := numbers.Decode(NewJSONReader([]byte("["+list.String()[1:]+"]"), 1)); err != nil {
		t.Fatal(err)
	}
	r := NewJSONReader([]byte("[]"), 1)
	count := 0
	r.Unique(n, func(w *Writer, i int) {
		count++
		w.Int(int64(i), 0, n)
	})
	if r.Err() != nil || count != n {
		t.Errorf("%d items written for a list of %d: %v", count, n, r.Err())
	}
	if _, err := AppendWire(nil, v); err == nil || writes > 2*n {
		t.Errorf("%v, %d writes", err, writes)
	}
	writes = 0
	deep := &nestedSets{writes: &writes}
	for range levels {
		deep = &nestedSets{inside: []*nestedSets{deep, {writes: &writes}}, writes: &writes}
	}
	if deep.inside[0].inside == nil {
		t.Fatal("not nested")
	}
	// The innermost pair is equal, so that one level is taken away.
	last := deep
	for len(last.inside[0].inside) > 0 {
		last = last.inside[0]
	}
	last.inside = last.inside[:1]
	if _, err := AppendWire(nil, deep); err != nil || writes > 2*levels*levels {
		t.Errorf("%d writes of %d lists: %v", writes, 2*levels, err)
	}
}
