package canon_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/canon"
)

func decodeOpaque(r *canon.Reader) (v canon.Opaque, err error) {
	if err = v.Decode(r); err == nil {
		err = r.End()
	}
	return v, err
}

// What an argument may be, and what it becomes.
func TestOpaqueArguments(t *testing.T) {
	for text, want := range map[string]string{
		` null `:           `null`,
		`[true, false]`:    `[true,false]`,
		`{"b":1.0,"a":[]}`: `{"a":[],"b":1}`,
		`-0.0`:             `0`,
		`1e2`:              `100`,
		`1e21`:             `1e+21`,
		`9007199254740991`: `9007199254740991`,
		`"\u0041\u000a"`:   `"A\n"`,
		`{}`:               `{}`,
	} {
		v, err := decodeOpaque(canon.NewJSONReader([]byte(text), 8))
		if err != nil || v.String() != want {
			t.Errorf("%s: %v, %v, want %s", text, v, err, want)
			continue
		}
		if got := string(v.AppendCanonical(nil)); got != want {
			t.Errorf("%s: canonical %s", text, got)
		}
		wire, err := canon.AppendWire(nil, &v)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := decodeOpaque(canon.NewWireReader(wire, 8)); err != nil || again != v {
			t.Errorf("%s: over the wire %v, %v", text, again, err)
		}
	}
}

// Of what a canonical writer has written, every number is what it was.
func TestCanonicalOpaque(t *testing.T) {
	for _, f := range []float64{0, 1, -1.5, 1 << 53, -(1 << 53), 1<<53 - 1, 1 << 60, 1 << 63, -(1 << 63), 1 << 64, 1e19, 1e20, -1e20, 999999999999999868928, 1e21, 1e300, 5e-324} {
		w := canon.NewCanonicalWriter(nil)
		w.Float(f)
		v, err := canon.CanonicalOpaque(w.Bytes())
		if err != nil {
			t.Errorf("%s: %v", w.Bytes(), err)
			continue
		}
		wire := canon.NewWireWriter(nil)
		v.Encode(wire)
		if got := canon.NewWireReader(wire.Bytes(), 1).Float(); wire.End() != nil || got != f {
			t.Errorf("%s: %v, %v", w.Bytes(), got, wire.End())
		}
	}
	for text, want := range map[string]string{
		`{"a":[9007199254740991,100000000000000000000],"b":1}`: `{"a":[9007199254740991,1e+20],"b":1}`,
		strings.Repeat("[", 33) + strings.Repeat("]", 33):      "",
		`1e400`:  "",
		`{"a":1`: "",
	} {
		if v, err := canon.CanonicalOpaque([]byte(text)); (err == nil) != (want != "") || err == nil && v.String() != want {
			t.Errorf("%.50s: %v, %v", text, v, err)
		}
	}
}

func TestOpaqueArgumentsRefused(t *testing.T) {
	for text, want := range map[string]struct {
		code canon.Code
		path string
	}{
		`{"a":[1,9007199254740992]}`:    {canon.CodeRange, "a[1]"},
		`{"a":{"b":-9007199254740992}}`: {canon.CodeRange, "a.b"},
		`[1e20]`:                        {canon.CodeRange, "[0]"},
		`1e400`:                         {canon.CodeRange, ""},
		`{"a":1,"a":2}`:                 {canon.CodeDuplicate, "a"},
		`"\ud800"`:                      {canon.CodeSyntax, ""},
		`[[[[]]]]`:                      {canon.CodeDepth, "[0][0][0]"},
		`[1,]`:                          {canon.CodeSyntax, "[1]"},
	} {
		_, err := decodeOpaque(canon.NewJSONReader([]byte(text), 3))
		var e *canon.Error
		if !errors.As(err, &e) || e.Code != want.code || e.Path != want.path {
			t.Errorf("%s: %v, want %v at %q", text, err, want.code, want.path)
		}
	}
	wide := canon.NewWireWriter(nil)
	wide.Int(1<<53, -1<<63, 1<<63-1)
	float := canon.NewWireWriter(nil)
	float.Float(1 << 60)
	for name, wire := range map[string][]byte{"int": wide.Bytes(), "float": float.Bytes()} {
		var e *canon.Error
		if _, err := decodeOpaque(canon.NewWireReader(wire, 3)); !errors.As(err, &e) || e.Code != canon.CodeRange {
			t.Errorf("%s on the wire: %v", name, err)
		}
	}
}

// Results keep what JSON and a program can tell apart.
func TestOpaqueResults(t *testing.T) {
	for text, want := range map[string]struct{ text, program string }{
		`9223372036854775807`:                       {`9223372036854775807`, `"9223372036854775807"`},
		`{"z":-9007199254740993}`:                   {`{"z":-9007199254740993}`, `{"z":"-9007199254740993"}`},
		`[9007199254740993, 1e20, 1e21, 1.0, -0.0]`: {`[9007199254740993,1e+20,1e+21,1,0]`, `["9007199254740993",100000000000000000000.0,1e+21,1,0]`},
	} {
		v, err := canon.ParseOpaque([]byte(text))
		if err != nil || v.String() != want.text {
			t.Errorf("%s: %v, %v, want %s", text, v, err, want.text)
			continue
		}
		if again := canon.MustOpaque(v.String()); again != v {
			t.Errorf("%s: not stable: %v", text, again)
		}
		wire, err := canon.AppendWire(nil, &v)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := canon.WireToJSON(nil, wire, 8); err != nil || string(got) != want.program {
			t.Errorf("%s: a program sees %s, %v, want %s", text, got, err, want.program)
		}
		w := canon.NewCanonicalWriter(nil)
		v.Encode(w)
		var e *canon.Error
		if !errors.As(w.End(), &e) || e.Code != canon.CodeRange {
			t.Errorf("%s: has canonical bytes: %s, %v", text, w.Bytes(), w.End())
		}
	}
	for _, text := range []string{`9223372036854775808`, `{"a":1} x`, ``, `{"a":1,"a":1}`, strings.Repeat("[", 33) + strings.Repeat("]", 33)} {
		if v, err := canon.ParseOpaque([]byte(text)); err == nil {
			t.Errorf("%s: accepted as %v", text, v)
		}
	}
}

// A writer's bounds hold inside an opaque value too.
func TestOpaqueKeepsTheWritersLimits(t *testing.T) {
	v := canon.MustOpaque(`{"a":[[["abcdefgh"]]]}`)
	for _, c := range []struct {
		depth, bytes int
		code         canon.Code
	}{{3, 0, canon.CodeDepth}, {0, 8, canon.CodeSize}} {
		w := canon.NewWireWriter(nil)
		w.Limit(c.depth, c.bytes)
		v.Encode(w)
		var e *canon.Error
		if !errors.As(w.Err(), &e) || e.Code != c.code {
			t.Errorf("%v: %v", c, w.Err())
		}
	}
	var zero canon.Opaque
	if !zero.IsNull() || zero != canon.MustOpaque("null") || string(zero.JSON()) != "null" {
		t.Error("the zero Opaque is not null")
	}
}

// Any bytes: what is accepted is stable, canonical and the same over the wire.
func FuzzOpaque(f *testing.F) {
	jsonSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := decodeOpaque(canon.NewJSONReader(data, 16))
		text, canonErr := canon.CanonicalizeJSON(nil, data, 16)
		if (err == nil) != (canonErr == nil) || err == nil && string(text) != v.String() {
			t.Fatalf("%q: opaque %v, %v; canonical %s, %v", data, v, err, text, canonErr)
		}
		if err == nil {
			wire, err := canon.AppendWire(nil, &v)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := decodeOpaque(canon.NewWireReader(wire, 16)); err != nil || again != v {
				t.Fatalf("%q: over the wire %v, %v", data, again, err)
			}
		}
		if v, err := canon.ParseOpaque(data); err == nil {
			if again, err := canon.ParseOpaque(v.JSON()); err != nil || again != v {
				t.Fatalf("%q: %v is not stable: %v, %v", data, v, again, err)
			}
			if _, err := canon.AppendWire(nil, &v); err != nil {
				t.Fatalf("%q: %v", data, err)
			}
		}
	})
}

// loop is a value that holds itself.
type loop struct{ next *loop }

func (v *loop) Encode(w *canon.Writer) {
	if !w.Guard(v == nil) {
		return
	}
	w.BeginArray(1, 1, 1)
	v.next.Encode(w.Element(0))
	w.EndArray()
}

func TestGuard(t *testing.T) {
	endless := &loop{}
	endless.next = endless
	var e *canon.Error
	if _, err := canon.AppendWire(nil, endless); !errors.As(err, &e) || e.Code != canon.CodeDepth {
		t.Errorf("a value that holds itself: %v", err)
	}
	if _, err := canon.AppendWire(nil, &loop{next: &loop{}}); !errors.As(err, &e) || e.Code != canon.CodeMissing || e.Path != "[0][0]" {
		t.Errorf("nil: %v", err)
	}
}
