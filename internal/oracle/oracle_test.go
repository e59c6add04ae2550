package oracle_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/capgen/capgen/internal/oracle"
	"github.com/capgen/capgen/runtime/canon"
)

func TestReadRefuses(t *testing.T) {
	for text, why := range map[string]string{
		``:                             "no JSON",
		`{"a":1,}`:                     "no JSON",
		`1 2`:                          "no JSON",
		"\xef\xbb\xbf1":                "no JSON",
		"\"\xff\"":                     "invalid UTF-8",
		`"\ud800"`:                     "half a surrogate pair",
		`"\ud800\ud800"`:               "half a surrogate pair",
		`"\udc00\ud800"`:               "half a surrogate pair",
		`"\ud800x"`:                    "half a surrogate pair",
		`{"a":1,"\u0061":2}`:           "a member twice",
		`[{"b":{"a":1,"b":2,"a":3}}]`:  "a member twice",
		`{"a":1e400,"b":[{}],"a":1}`:   "a member twice",
		`1e400`:                        "a number that overflows",
		`[-1e999999999]`:               "a number that overflows",
		`[[[[1]]]]`:                    "depth",
		`{"a":{"a":{"a":{"a":null}}}}`: "depth",
	} {
		_, err := oracle.Read([]byte(text), 3)
		if r := (*oracle.Refusal)(nil); !errors.As(err, &r) || r.Why != why {
			t.Errorf("%q: %v, want %s", text, err, why)
		}
	}
	for _, text := range []string{`"\\ud800"`, `"\ud83d\ude00"`, `{"a":{"a":1},"b":["a","a"]}`, `1e-999999999`, ` [[[1]]] `} {
		if _, err := oracle.Read([]byte(text), 3); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// judge is what a schema has against a text.
func judge(t *testing.T, schema, text string) (*oracle.Schema, any, []oracle.Violation) {
	t.Helper()
	s, err := oracle.Compile([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	v, err := oracle.Read([]byte(text), 32)
	if err != nil {
		t.Fatal(err)
	}
	return s, v, s.Judge(v)
}

func TestJudge(t *testing.T) {
	const wide = `{"type":"string","format":"int64","formatMinimum":"-5","formatMaximum":"9223372036854775807","multipleOf":5}`
	for _, test := range []struct{ schema, text, want string }{
		{`{"type":"number","multipleOf":0.1}`, `0.3`, ""},
		{`{"type":"number","multipleOf":0.1}`, `0.30000000000000000001`, ""}, // the float's decimal is 0.3
		{`{"type":"number","multipleOf":0.1}`, `0.30000000000000004`, " multipleOf"},
		{`{"type":"number","maximum":0.1}`, `0.10000000000000000001`, ""},
		{`{"type":"number","maximum":0.1}`, `0.10000000000000002`, " maximum"},
		{`{"type":"string","format":"date","maxLength":3}`, `"2026-02-30"`, " format, maxLength"},
		{wide, `"9223372036854775805"`, ""},
		{wide, `"9223372036854775810"`, " format"},
		{wide, `"-10"`, " format"},
		{wide, `"4"`, " format"},
		{wide, `"05"`, " format"},
		{`{"x-opaque":true}`, `{"a":[9007199254740991,1e21]}`, ""},
		{`{"x-opaque":true}`, `{"a":[0,9007199254740992]}`, "a/1 x-opaque"},
		{`{"x-opaque":true}`, `1e20`, " x-opaque"},
		{`{"x-opaque":true}`, `1000000000000000000000000`, " x-opaque"},
		{`{"type":"object","additionalProperties":true}`, `{"a":-9007199254740992}`, "a x-opaque"},
		{`{"type":"object","required":["a"],"properties":{},"additionalProperties":false}`, `{"b":1}`, "a required,b additionalProperties"},
	} {
		_, _, found := judge(t, test.schema, test.text)
		var got []string
		for _, v := range found {
			got = append(got, v.String())
		}
		slices.Sort(got)
		if s := strings.Join(got, ","); s != test.want {
			t.Errorf("%s of %s: %q, want %q", test.schema, test.text, s, test.want)
		}
	}
}

func TestCanonicalFillsDefaults(t *testing.T) {
	const schema = `{"type":"object","properties":{
		"a":{"type":"object","properties":{"x":{"type":"integer","default":7},"é":{"type":"number","default":1.50}},"default":{"x":1}},
		"b":{"type":"array","items":{"$ref":"#/$defs/T"}},
		"c":{"oneOf":[{"type":"string"},{"type":"object","properties":{"y":{"type":"boolean","default":true}},"additionalProperties":false}]},
		"d":{"type":["integer","null"],"default":null}},
		"$defs":{"T":{"type":"object","properties":{"t":{"$ref":"#/$defs/T"},"n":{"type":"integer","default":0}}}}}`
	for text, want := range map[string]string{
		`{}`:                           `{"a":{"x":1,"é":1.5},"d":null}`,
		`{"d":-0.0,"a":{}}`:            `{"a":{"x":7,"é":1.5},"d":0}`,
		`{"b":[{"t":{}}],"c":{}}`:      `{"a":{"x":1,"é":1.5},"b":[{"n":0,"t":{"n":0}}],"c":{"y":true},"d":null}`,
		`{"c":"\u00e9<\u0007","b":[]}`: `{"a":{"x":1,"é":1.5},"b":[],"c":"é<\u0007","d":null}`,
	} {
		s, v, found := judge(t, schema, text)
		got, err := s.Canonical(v)
		if err != nil || string(got) != want || len(found) > 0 {
			t.Errorf("%s: %s, %v, %v, want %s", text, got, err, found, want)
		}
	}
}

func TestExplains(t *testing.T) {
	found := []oracle.Violation{{Path: []string{"a", "b c", "0"}, Keyword: "maximum"}, {Path: []string{"m", strings.Repeat("k", 99)}, Keyword: "required"}, {Path: []string{"wrong", "'\n"}, Keyword: "propertyNames"}}
	for _, test := range []struct {
		path string
		code canon.Code
		want bool
	}{
		{"a['b c'][0]", canon.CodeRange, true},
		{"a['b c'][1]", canon.CodeRange, false},
		{"a['b c']", canon.CodeRange, false},
		{"a['b c'][0]", canon.CodeLength, false},
		{"m['" + strings.Repeat("k", 64) + "…']", canon.CodeMissing, true},
		{"m['" + strings.Repeat("j", 64) + "…']", canon.CodeMissing, false},
		{`right['\'\n']`, canon.CodePattern, true},
		{`right.x`, canon.CodePattern, false},
		{"", canon.CodeSyntax, false},
	} {
		if got := oracle.Explains(found, &canon.Error{Path: test.path, Code: test.code}); got != test.want {
			t.Errorf("%s %s: %v", test.path, test.code, got)
		}
	}
}

func TestSame(t *testing.T) {
	type box struct {
		F []float64
		M map[string]any
	}
	zero, negative := box{F: []float64{0}, M: map[string]any{"a": 0.0}}, box{F: []float64{math.Copysign(0, -1)}, M: map[string]any{"a": 0.0}}
	if !oracle.Same(zero, zero) || oracle.Same(zero, negative) || oracle.Same(zero, box{F: []float64{0}, M: map[string]any{"a": math.Copysign(0, -1)}}) {
		t.Error("−0 is 0")
	}
	if oracle.Same(box{}, box{F: []float64{}}) {
		t.Error("nil is empty")
	}
}

func TestRoundsToInteger(t *testing.T) {
	for text, want := range map[string]bool{
		`1.0000000000000000001,`: true, `9007199254740992.5]`: true, `1e-400`: true, `0.1e-999999999`: true,
		`1`: false, `1.0`: false, `1.5`: false, `1e2`: false, `100e-2`: false, `0e-400`: false, `x`: false, `1e400`: false,
	} {
		if got := oracle.RoundsToInteger([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
