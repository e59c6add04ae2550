package canon_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/canon"
)

func TestCanonicalBytes(t *testing.T) {
	q := goodQuery()
	got := string(canon.AppendCanonical([]byte("x"), &q))
	want := `x{"deep":true,"filter":{"ids":[-1,0,127,128,255,2147483648,9007199254740991],"owner":"me"},` +
		`"glob":"go","limit":20,"order":"size","path":"a/é😀","ratio":0.3,"tags":["x","y"]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCanonicalStrings(t *testing.T) {
	for s, want := range map[string]string{
		"\x00\x1f\x7f":                `"\u0000\u001f` + "\x7f\"",
		"\b\t\n\f\r\"\\/":             `"\b\t\n\f\r\"\\/"`,
		"<>&\u2028\u2029\ufeff\ufffd": "\"<>&\u2028\u2029\ufeff\ufffd\"",
		"é😀":                          `"é😀"`,
	} {
		w := canon.NewCanonicalWriter(nil)
		w.String(s, 0, 100)
		if got := string(w.Bytes()); got != want || w.End() != nil {
			t.Errorf("%q: got %s, %v", s, got, w.Err())
		}
	}
}

func TestWriterErrors(t *testing.T) {
	// broken makes one thing wrong with a good query.
	broken := func(change func(*query)) func(*canon.Writer) {
		return func(w *canon.Writer) {
			q := goodQuery()
			change(&q)
			q.Encode(w)
		}
	}
	type write = func(w *canon.Writer)
	tests := []struct {
		name string
		write
		path    string
		code    canon.Code
		message string
		only    string // the form in which it is an error
	}{
		{name: "integer", write: broken(func(q *query) { q.Limit = 102 }), path: "limit", code: canon.CodeRange, message: "expected an integer from 1 to 100, got 102"},
		{name: "integer nested", write: broken(func(q *query) { q.Filter.Ids[3] = 1 << 53 }), path: "filter.ids[3]", code: canon.CodeRange, message: "expected an integer from -9007199254740991 to 9007199254740991, got 9007199254740992"},
		{name: "integer multiple", write: broken(func(q *query) { q.Limit = 21 }), path: "limit", code: canon.CodeRange, message: "expected a multiple of 2, got 21"},
		{name: "not a number", write: broken(func(q *query) { q.Ratio = math.NaN() }), path: "ratio", code: canon.CodeRange, message: "expected a finite number, got NaN"},
		{name: "infinite", write: broken(func(q *query) { q.Ratio = math.Inf(1) }), path: "ratio", code: canon.CodeRange, message: "expected a finite number, got infinity"},
		{name: "number low", write: broken(func(q *query) { q.Ratio = -1.5 }), path: "ratio", code: canon.CodeRange, message: "expected at least -1, got -1.5"},
		{name: "number high", write: broken(func(q *query) { q.Ratio = 10 }), path: "ratio", code: canon.CodeRange, message: "expected less than 10, got 10"},
		{name: "number multiple", write: broken(func(q *query) { q.Ratio = 0.55 }), path: "ratio", code: canon.CodeRange, message: "expected a multiple of 0.1, got 0.55"},
		{name: "enum", write: broken(func(q *query) { q.Order = "" }), path: "order", code: canon.CodeEnum, message: `expected one of "name", "size", got ""`},
		{name: "pattern", write: broken(func(q *query) { q.Glob.Value = "*" }), path: "glob", code: canon.CodePattern, message: "expected a match of the pattern ^[a-z]+$"},
		{name: "string short", write: broken(func(q *query) { q.Path = "" }), path: "path", code: canon.CodeLength, message: "expected at least 1 character, got 0"},
		{name: "string long", write: broken(func(q *query) { q.Path = strings.Repeat("é", 21) }), path: "path", code: canon.CodeLength, message: "expected at most 20 characters, got 21"},
		{name: "UTF-8", write: broken(func(q *query) { q.Filter.Owner = "a\xff" }), path: "filter.owner", code: canon.CodeSyntax, message: "invalid UTF-8 in a string"},
		{name: "UTF-8 in an enum", write: func(w *canon.Writer) { w.Enum("\xff", "\xff") }, code: canon.CodeSyntax, message: "invalid UTF-8 in a string"},
		{name: "UTF-8 in a key", write: func(w *canon.Writer) { w.BeginObject(1); w.Key("\xff") }, path: `['\xff']`, code: canon.CodeSyntax, message: "invalid UTF-8 in a string"},
		{name: "items few", write: broken(func(q *query) { q.Tags = nil }), path: "tags", code: canon.CodeLength, message: "expected at least 1 item, got 0"},
		{name: "items many", write: broken(func(q *query) { q.Tags = make([]string, 4) }), path: "tags", code: canon.CodeLength, message: "expected at most 3 items, got 4"},
		{name: "item", write: broken(func(q *query) { q.Tags[1] = "" }), path: "tags[1]", code: canon.CodeLength, message: "expected at least 1 character, got 0"},
		{name: "above", write: func(w *canon.Writer) { w.Float(1); w.Above(1, 1) }, code: canon.CodeRange, message: "expected more than 1, got 1"},
		{name: "at most", write: func(w *canon.Writer) { w.Float(2); w.AtMost(2, 1.5) }, code: canon.CodeRange, message: "expected at most 1.5, got 2"},
		{name: "integer beyond the canonical form", write: func(w *canon.Writer) { w.Int(1<<53, 0, math.MaxInt64) }, code: canon.CodeRange, message: "expected an integer from 0 to 9007199254740991, got 9007199254740992", only: "canonical"},

		{name: "member missing", write: func(w *canon.Writer) { w.BeginObject(2); w.Key("a"); w.Null(); w.EndObject() }, path: "a", code: canon.CodeSyntax, message: "encoder error: fewer members or elements than announced"},
		{name: "member too many", write: func(w *canon.Writer) { w.BeginObject(1); w.Key("a"); w.Null(); w.Key("b") }, path: "a", code: canon.CodeSyntax, message: "encoder error: more members or elements than announced"},
		{name: "member twice", write: func(w *canon.Writer) { w.BeginObject(2); w.Key("a"); w.Null(); w.Key("a") }, path: "a", code: canon.CodeSyntax, message: `encoder error: member "a" out of order`, only: "canonical"},
		{name: "members in the order of bytes", write: func(w *canon.Writer) { w.BeginObject(2); w.Key("\ue000"); w.Null(); w.Key("😀") }, path: `['\ue000']`, code: canon.CodeSyntax, message: `encoder error: member "😀" out of order`, only: "canonical"},
		{name: "element missing", write: func(w *canon.Writer) { w.BeginArray(1, 0, 9); w.EndArray() }, code: canon.CodeSyntax, message: "encoder error: fewer members or elements than announced"},
		{name: "element too many", write: func(w *canon.Writer) { w.BeginArray(0, 0, 9); w.Element(0) }, code: canon.CodeSyntax, message: "encoder error: more members or elements than announced"},
		{name: "element out of order", write: func(w *canon.Writer) { w.BeginArray(2, 0, 9); w.Element(1) }, code: canon.CodeSyntax, message: "encoder error: elements out of order"},
		{name: "no value", write: func(w *canon.Writer) { w.BeginObject(1); w.Key("a"); w.EndObject() }, path: "a", code: canon.CodeSyntax, message: "encoder error: calls out of order"},
		{name: "value without key", write: func(w *canon.Writer) { w.BeginObject(1); w.Null() }, code: canon.CodeSyntax, message: "encoder error: no value stands here"},
		{name: "two values", write: func(w *canon.Writer) { w.Null(); w.Bool(true) }, code: canon.CodeSyntax, message: "encoder error: no value stands here"},
		{name: "wrong end", write: func(w *canon.Writer) { w.BeginObject(0); w.EndArray() }, code: canon.CodeSyntax, message: "encoder error: calls out of order"},
		{name: "nothing", write: func(w *canon.Writer) {}, code: canon.CodeSyntax, message: "encoder error: the value was not written to its end"},
		{name: "open", write: func(w *canon.Writer) { w.BeginObject(0) }, code: canon.CodeSyntax, message: "encoder error: the value was not written to its end"},
		{name: "negative size", write: func(w *canon.Writer) { w.BeginObject(-1) }, code: canon.CodeSyntax, message: "encoder error: bad number of members or elements"},
	}
	for _, tt := range tests {
		for form, open := range map[string]func([]byte) *canon.Writer{"canonical": canon.NewCanonicalWriter, "wire": canon.NewWireWriter} {
			t.Run(tt.name+"/"+form, func(t *testing.T) {
				w := open([]byte("x"))
				tt.write(w)
				err := w.End()
				if tt.only != "" && tt.only != form {
					if err, ok := err.(*canon.Error); ok && err.Message == tt.message {
						t.Errorf("got %v in this form too", err)
					}
					return
				}
				want := &canon.Error{Path: tt.path, Code: tt.code, Message: tt.message, Offset: -1}
				if diff := cmp.Diff(error(want), err); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if string(w.Bytes()) != "x" {
					t.Errorf("bytes after an error: %q", w.Bytes())
				}
				w.Null()
				w.BeginArray(0, 1, 2)
				if w.Err() != err {
					t.Error("the first error did not stick")
				}
			})
		}
	}
}

func TestWriterLimits(t *testing.T) {
	long := strings.Repeat("a", 90)
	tests := map[string]struct {
		write func(w *canon.Writer)
		code  canon.Code
	}{
		"fits":         {func(w *canon.Writer) { w.String(long, 0, 100) }, ""},
		"string":       {func(w *canon.Writer) { w.String(long+long, 0, 1000) }, canon.CodeSize},
		"key":          {func(w *canon.Writer) { w.BeginObject(1); w.Key(long + long); w.Null() }, canon.CodeSize},
		"many scalars": {func(w *canon.Writer) { writeInts(w, 200) }, canon.CodeSize},
		"two levels":   {func(w *canon.Writer) { nest(w, 2) }, ""},
		"three levels": {func(w *canon.Writer) { nest(w, 3) }, canon.CodeDepth},
	}
	for name, tt := range tests {
		for form, open := range map[string]func([]byte) *canon.Writer{"canonical": canon.NewCanonicalWriter, "wire": canon.NewWireWriter} {
			w := open(make([]byte, 1000))
			w.Limit(2, 100)
			tt.write(w)
			err, _ := w.Err().(*canon.Error)
			if tt.code == "" && err != nil || tt.code != "" && (err == nil || err.Code != tt.code) {
				t.Errorf("%s, %s: got %v, want %q", name, form, err, tt.code)
			}
		}
	}
	// Escapes that make a text longer than its bytes count too.
	w := canon.NewCanonicalWriter(nil)
	w.Limit(0, 100)
	w.String(strings.Repeat("\x00", 60), 0, 100)
	if w.Err() == nil {
		t.Error("360 bytes of escapes were written")
	}
}

func writeInts(w *canon.Writer, n int) {
	w.BeginArray(n, 0, n)
	for i := range n {
		w.Element(i)
		w.Int(1, 0, 9)
	}
	w.EndArray()
}

func nest(w *canon.Writer, levels int) {
	if levels == 0 {
		w.Null()
		return
	}
	w.BeginArray(1, 0, 1)
	w.Element(0)
	nest(w, levels-1)
	w.EndArray()
}

func TestAppendCanonicalPanics(t *testing.T) {
	q := goodQuery()
	q.Limit = -1
	defer func() {
		err, ok := recover().(*canon.Error)
		if !ok || err.Error() != "limit: expected an integer from 1 to 100, got -1" {
			t.Errorf("got %v", err)
		}
	}()
	canon.AppendCanonical(nil, &q)
}

func TestAppendWire(t *testing.T) {
	q := goodQuery()
	wire, err := canon.AppendWire([]byte("x"), &q)
	if err != nil || wire[0] != 'x' {
		t.Fatal(err)
	}
	var back query
	if err := decodeWire(wire[1:], func(r *canon.Reader) { back.Decode(r) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(q, back); diff != "" {
		t.Error(diff)
	}
	q.Limit = -1
	if wire, err := canon.AppendWire([]byte("x"), &q); err == nil || string(wire) != "x" {
		t.Errorf("got %q, %v", wire, err)
	}
}

// The sign of zero: gone from arguments and hashes, kept on the wire.
func TestNegativeZero(t *testing.T) {
	zero := math.Copysign(0, -1)
	w := canon.NewCanonicalWriter(nil)
	w.Float(zero)
	if string(w.Bytes()) != "0" {
		t.Errorf("canonical: %s", w.Bytes())
	}
	w = canon.NewWireWriter(nil)
	w.Float(zero)
	if v := canon.NewWireReader(w.Bytes(), 0).SignedFloat(); !math.Signbit(v) {
		t.Error("the wire lost the sign")
	}
	if v := canon.NewWireReader(w.Bytes(), 0).Float(); math.Signbit(v) {
		t.Error("Float kept the sign")
	}
}

func TestPattern(t *testing.T) {
	for _, tt := range []struct {
		expr, s string
		want    bool
	}{{"b+", "abc", true}, {"^b", "abc", false}, {"(", "(", false}, {"(", "", false}, {"", "", true}} {
		p := &canon.Pattern{Expr: tt.expr}
		for range 2 { // compiled, then remembered
			if p.MatchString(tt.s) != tt.want {
				t.Errorf("%q on %q: want %v", tt.expr, tt.s, tt.want)
			}
		}
	}
}
