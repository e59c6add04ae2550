package canon_test

import (
	"errors"
	"math"
	"testing"

	"github.com/capgen/capgen/runtime/canon"
)

func TestTag(t *testing.T) {
	for text, want := range map[string]struct {
		index int
		code  canon.Code
		path  string
	}{
		`[{"x":{"kind":"b"},"kind":"a"}]`:    {0, "", ""},
		`[ {"\u006bind" : "b", "kind2":1} ]`: {1, "", ""},
		`[{"kind":"c"}]`:                     {-1, canon.CodeEnum, "[0].kind"},
		`[{"kind":1}]`:                       {-1, canon.CodeType, "[0].kind"},
		`[{"x":1}]`:                          {-1, canon.CodeMissing, "[0].kind"},
		`[[]]`:                               {-1, canon.CodeType, "[0]"},
		`[{"x":{"y":1,"y":2},"kind":"a"}]`:   {-1, canon.CodeDuplicate, "[0].x.y"},
		`[{"x":[[[[]]]],"kind":"a"}]`:        {-1, canon.CodeDepth, "[0].x[0][0][0]"},
		`[]`:                                 {-1, canon.CodeSyntax, ""},
	} {
		r := canon.NewJSONReader([]byte(text), 5)
		r.BeginArray(0, 1)
		r.NextElement()
		got := r.Tag("kind", "a", "b")
		var e *canon.Error
		if got != want.index || (want.code == "") != (r.Err() == nil) || errors.As(r.Err(), &e) && (e.Code != want.code || e.Path != want.path) {
			t.Errorf("%s: %d, %v, want %v", text, got, r.Err(), want)
		}
		if got < 0 {
			continue
		}
		r.Skip() // nothing was consumed
		if r.NextElement(); r.End() != nil {
			t.Errorf("%s: then %v", text, r.End())
		}
	}
}

func TestKindOf(t *testing.T) {
	kinds := []canon.Kind{canon.KindString, canon.KindNumber, canon.KindObject}
	for text, want := range map[string]int{` "x"`: 0, `1`: 1, `-1.5`: 1, `{}`: 2, `[]`: -1, `null`: -1, `true`: -1, ``: -1, `x`: -1} {
		r := canon.NewJSONReader([]byte(text), 5)
		got := r.KindOf(kinds...)
		if got != want || (got < 0) != (r.Err() != nil) {
			t.Errorf("%q: %d, %v, want %d", text, got, r.Err(), want)
		}
		if got >= 0 {
			if r.Skip(); r.End() != nil {
				t.Errorf("%q: then %v", text, r.End())
			}
		}
	}
	w := canon.NewWireWriter(nil)
	w.Int(math.MaxInt64, math.MinInt64, math.MaxInt64)
	if got := canon.NewWireReader(w.Bytes(), 1).KindOf(kinds...); got != 1 {
		t.Errorf("an integer on the wire: %d", got)
	}
}

func FuzzTag(f *testing.F) {
	jsonSeeds(f)
	f.Add([]byte(`{"kind":"a","x":[1]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := canon.NewJSONReader(data, 16)
		if r.Tag("kind", "a", "b") < 0 {
			if r.Err() == nil {
				t.Fatalf("%q: refused without an error", data)
			}
			return
		}
		// Looking ahead changes nothing about what is read.
		r.Skip()
		plain := canon.NewJSONReader(data, 16)
		plain.Skip()
		a, b := r.End(), plain.End()
		if (a == nil) != (b == nil) || a != nil && a.Error() != b.Error() {
			t.Fatalf("%q: %v after looking ahead, %v without", data, a, b)
		}
	})
}

func TestIs(t *testing.T) {
	r := canon.NewJSONReader([]byte(`[false]`), 1)
	r.BeginArray(1, 1)
	r.NextElement()
	r.Is(r.Bool(), true)
	var e *canon.Error
	if !errors.As(r.Err(), &e) || e.Code != canon.CodeEnum || e.Path != "[0]" || e.Message != "expected true, got false" {
		t.Error(r.Err())
	}
	w := canon.NewWireWriter(nil)
	w.Bool(true)
	w.Is(true, true)
	if w.Err() != nil {
		t.Error(w.Err())
	}
	if w.Is(true, false); !errors.As(w.Err(), &e) || e.Code != canon.CodeEnum {
		t.Error(w.Err())
	}
}
