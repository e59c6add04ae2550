package canon_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/canon"
)

// checker is the part that Reader and Writer share.
type checker interface {
	Err() error
	Match(s string, p *canon.Pattern)
	AtLeast(v, min float64)
	AtMost(v, max float64)
	Above(v, min float64)
	Below(v, max float64)
	MultipleOf(v, n float64)
	IntMultipleOf(v, n int64)
}

func TestChecks(t *testing.T) {
	tests := []struct {
		name string
		run  func(c checker)
		want string
	}{
		{"at least, equal", func(c checker) { c.AtLeast(1.5, 1.5) }, ""},
		{"at least, below", func(c checker) { c.AtLeast(1.25, 1.5) }, "expected at least 1.5, got 1.25"},
		{"at most, equal", func(c checker) { c.AtMost(-1.5, -1.5) }, ""},
		{"at most, above", func(c checker) { c.AtMost(-1.25, -1.5) }, "expected at most -1.5, got -1.25"},
		{"above, equal", func(c checker) { c.Above(1, 1) }, "expected more than 1, got 1"},
		{"above", func(c checker) { c.Above(math.Nextafter(1, 2), 1) }, ""},
		{"below, equal", func(c checker) { c.Below(1, 1) }, "expected less than 1, got 1"},
		{"below", func(c checker) { c.Below(math.Nextafter(1, 0), 1) }, ""},
		{"not a number is in no range", func(c checker) { c.AtLeast(math.NaN(), 1) }, "expected at least 1, got NaN"},
		{"not a number is in no range", func(c checker) { c.Below(math.NaN(), 1) }, "expected less than 1, got NaN"},
		{"multiple", func(c checker) { c.MultipleOf(19.99, 0.01) }, ""},
		{"no multiple", func(c checker) { c.MultipleOf(19.995, 0.01) }, "expected a multiple of 0.01, got 19.995"},
		{"multiple of zero", func(c checker) { c.MultipleOf(0, 0) }, "expected a multiple of 0, got 0"},
		{"integer multiple", func(c checker) { c.IntMultipleOf(-9, 3) }, ""},
		{"smallest integer", func(c checker) { c.IntMultipleOf(math.MinInt64, -1) }, ""},
		{"no integer multiple", func(c checker) { c.IntMultipleOf(-8, 3) }, "expected a multiple of 3, got -8"},
		{"integer multiple of zero", func(c checker) { c.IntMultipleOf(0, 0) }, "expected a multiple of 0, got 0"},
		{"match", func(c checker) { c.Match("abc", lowercase) }, ""},
		{"no match", func(c checker) { c.Match("ABC", lowercase) }, "expected a match of the pattern ^[a-z]+$"},
		{"long pattern", func(c checker) { c.Match("b", &canon.Pattern{Expr: strings.Repeat("é", 200)}) }, "expected a match of the pattern " + strings.Repeat("é", 128) + "…"},
		{"first error", func(c checker) { c.AtLeast(0, 1); c.AtMost(1, 0) }, "expected at least 1, got 0"},
	}
	for _, tt := range tests {
		for form, c := range map[string]checker{
			"reader": canon.NewJSONReader(nil, 0), "writer": canon.NewWireWriter(nil),
		} {
			tt.run(c)
			got := ""
			if err := c.Err(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("%s, %s: got %q, want %q", tt.name, form, got, tt.want)
			}
		}
	}
}

// What a message quotes is bounded, however much is allowed or sent.
func TestEnumMessageIsBounded(t *testing.T) {
	var allowed []string
	for i := range 10_000 {
		allowed = append(allowed, fmt.Sprint(i, strings.Repeat("x", 1000)))
	}
	r := canon.NewJSONReader([]byte(`"`+strings.Repeat("y", 1<<20)+`"`), 0)
	r.Enum(allowed...)
	if err := r.Err(); err == nil || len(err.Error()) > 1500 || !strings.Contains(err.Error(), "…") {
		t.Errorf("got %v", err)
	}
	r = canon.NewJSONReader([]byte(`"b"`), 0)
	r.Enum("a")
	if err := r.Err(); err == nil || err.Error() != `expected "a", got "b"` {
		t.Errorf("got %v", err)
	}
}

func TestPathSegments(t *testing.T) {
	for key, want := range map[string]string{
		"owner": "x.owner", "_a1": "x._a1", "A": "x.A", "1a": "x['1a']", "": "x['']", "a-b": "x['a-b']", "é": "x['é']",
		"it's": `x['it\'s']`, `a\b`: `x['a\\b']`, "a.b": "x['a.b']", "\n\t\r\x00": `x['\n\t\r\u0000']`,
		"\u200b\u202e\ufeff": `x['\u200b\u202e\ufeff']`, "\U000e0001": `x['\U000e0001']`, "😀": "x['😀']",
		strings.Repeat("a", 64): "x." + strings.Repeat("a", 64), strings.Repeat("a", 65): "x['" + strings.Repeat("a", 64) + "…']",
		strings.Repeat("é", 33): "x['" + strings.Repeat("é", 32) + "…']", "a" + strings.Repeat("é", 33): "x['a" + strings.Repeat("é", 31) + "…']",
	} {
		w := canon.NewWireWriter(nil)
		w.BeginObject(1)
		w.Key("x")
		w.BeginObject(1)
		w.Key(key)
		w.Null()
		w.EndObject()
		w.EndObject()
		r := canon.NewWireReader(w.Bytes(), 2)
		r.BeginObject()
		r.NextMember()
		r.BeginObject()
		r.NextMember()
		r.Bool()
		if err, ok := r.Err().(*canon.Error); !ok || err.Path != want {
			t.Errorf("%q: got %v, want %s", key, err, want)
		}
	}
}
