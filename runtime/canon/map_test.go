package canon_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/canon"
)

// table is a map as the generator writes it.
type table map[string]int64

func (v *table) Decode(r *canon.Reader) error {
	var e map[string]int64
	r.BeginMap(1, 3)
	for r.NextMember() {
		k := r.MapKey(1, 4)
		canon.Put(r, &e, k, r.Int(0, 9))
	}
	*v = e
	return r.Err()
}

func (v *table) Encode(w *canon.Writer) {
	w.BeginMap(len(*v), 1, 3)
	for _, k := range canon.SortedKeys(*v) {
		w.MapKey(k, 1, 4).Int((*v)[k], 0, 9)
	}
	w.EndMap()
}

func TestMapRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                          "expected at least 1 member, got 0",
		`{"a":1,"b":1,"c":1,"d":1}`:   "expected at most 3 members, got more",
		`{"a":1,"a":1}`:               "['a']: given twice",
		`{"":1}`:                      "['']: the key: expected at least 1 character, got 0",
		`{"aaaaa":1}`:                 "['aaaaa']: the key: expected at most 4 characters, got 5",
		"{\"\U0001F600\":1,\"\\'\":2": "unexpected",
		`{"env":"x"}`:                 "['env']: expected integer, got string",
		`[]`:                          "expected object, got array",
		`null`:                        "expected object, got null",
		`{"a":1,}`:                    "unexpected '}'",
	} {
		var v table
		r := canon.NewJSONReader([]byte(text), 4)
		v.Decode(r)
		if err := r.End(); err == nil || want != "unexpected" && err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, test := range []struct {
		v    table
		code canon.Code
		want string
	}{
		{nil, canon.CodeLength, "expected at least 1 member, got 0"},
		{table{"a": 1, "b": 1, "c": 1, "d": 1}, canon.CodeLength, "expected at most 3 members, got 4"},
		{table{"env": 10}, canon.CodeRange, "['env']: expected an integer from 0 to 9, got 10"},
		{table{"aaaaa": 1}, canon.CodeLength, "['aaaaa']: the key: expected at most 4 characters, got 5"},
		{table{"\xff": 1}, canon.CodeSyntax, "['\\xff']: invalid UTF-8 in a string"},
	} {
		var e *canon.Error
		if _, err := canon.AppendWire(nil, &test.v); !errors.As(err, &e) || e.Code != test.code || e.Error() != test.want {
			t.Errorf("%v: %v, want %s", test.v, err, test.want)
		}
	}
}

func TestMapWireBounds(t *testing.T) {
	for _, wire := range [][]byte{
		{0x80},                             // empty
		{0x84, 0xA1, 'a', 1, 0xA1, 'b', 1}, // promises four
		{0xDF, 0xFF, 0xFF, 0xFF, 0xFF, 0xA1, 'a'}, // promises all
		{0x82, 0xA1, 'a', 1, 0xA1, 'a', 1},        // twice
		{0x81, 0xA1, 'a'},                         // cut
		{0x81, 0x01, 0x01},                        // a key that is no string
		{0x82, 0xA1, 'a', 1, 0xA1, 'b', 1, 0x01},  // trailing
	} {
		var v table
		r := canon.NewWireReader(wire, 4)
		v.Decode(r)
		if r.End() == nil {
			t.Errorf("%x is accepted as %v", wire, v)
		}
	}
}

// FuzzMap: what one reader takes, its writers write, and it reads back the same.
func FuzzMap(f *testing.F) {
	for _, text := range []string{`{"a":1}`, `{"b":9,"a":0,"\ud83d\ude00":3}`, `{"a":1,"a":2}`, `{`, "\x81\xa1a\x01"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, r := range []*canon.Reader{canon.NewJSONReader(data, 2), canon.NewWireReader(data, 2)} {
			var v, again table
			if v.Decode(r); r.End() != nil {
				continue
			}
			canonical := canon.AppendCanonical(nil, &v)
			if err := again.Decode(canon.NewJSONReader(canonical, 2)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(v, again); diff != "" {
				t.Error(diff)
			}
			if want, err := canon.CanonicalizeJSON(nil, canonical, 2); err != nil || !bytes.Equal(want, canonical) {
				t.Errorf("%s is not canonical: %v, %s", canonical, err, want)
			}
		}
	})
}
