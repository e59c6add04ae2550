package canon_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tinylib/msgp/msgp"

	"github.com/capgen/capgen/runtime/canon"
)

func TestWireToJSON(t *testing.T) {
	build := func(write func(w *canon.Writer)) []byte {
		w := canon.NewWireWriter(nil)
		write(w)
		if err := w.End(); err != nil {
			t.Fatal(err)
		}
		return w.Bytes()
	}
	integer := func(v int64) []byte { return msgp.AppendInt64(nil, v) }
	float := func(v float64) []byte { return msgp.AppendFloat64(nil, v) }
	tests := []struct {
		name string
		wire []byte
		want string
		wide bool
	}{
		{"null", []byte{0xC0}, `null`, false},
		{"true", []byte{0xC3}, `true`, false},
		{"integer", integer(-5), `-5`, false},
		{"largest integer", integer(1<<53 - 1), `9007199254740991`, false},
		{"wide integer", integer(1 << 53), `"9007199254740992"`, true},
		{"wide negative integer", integer(-1 << 53), `"-9007199254740992"`, true},
		{"smallest integer", integer(math.MinInt64), `"-9223372036854775808"`, true},
		{"float", float(0.1), `0.1`, false},
		{"integral float", float(3), `3.0`, false},
		{"large float", float(1e20), `100000000000000000000.0`, false},
		{"larger float", float(1e21), `1e+21`, false},
		{"negative zero", float(math.Copysign(0, -1)), `-0.0`, false},
		{"string", msgp.AppendString(nil, "a\"\n\x01é"), `"a\"\n\u0001é"`, false},
		{"empty containers", []byte{0x92, 0x90, 0x80}, `[[],{}]`, false},
		{"order of members is kept", build(func(w *canon.Writer) {
			w.BeginObject(2)
			w.Key("z")
			w.BeginArray(2, 0, 2)
			w.Element(0)
			w.Int(1, 0, 1)
			w.Element(1)
			w.Null()
			w.EndArray()
			w.Key("a")
			w.Int(1<<60, 0, math.MaxInt64)
			w.EndObject()
		}), `{"z":[1,null],"a":"1152921504606846976"}`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, wide, err := canon.WireToJSON([]byte("x"), tt.wire, 4)
			if string(text) != "x"+tt.want || wide != tt.wide || err != nil {
				t.Errorf("got %s, %v, %v; want %s, %v", text, wide, err, tt.want, tt.wide)
			}
		})
	}
}

func TestWireToJSONErrors(t *testing.T) {
	tests := []struct {
		name, wire, want string
	}{
		{"empty", "", "unexpected end of input"},
		{"depth", strings.Repeat("\x91", 5), "[0][0][0][0]: nested deeper than 4 levels"},
		{"duplicate", "\x82\xa1a\x01\xa1a\x02", "a: given twice"},
		{"duplicate around another", "\x91\x83\xa1a\x01\xa1b\x81\xa1a\x01\xa1a\x02", "[0].a: given twice"},
		{"not finite", string(msgp.AppendFloat64([]byte{0x91}, math.Inf(1))), "[0]: expected a finite number, got infinity"},
		{"trailing", "\x01\x01", "unexpected data after the value"},
		{"bad UTF-8", "\xa1\xff", "invalid UTF-8 in a string"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, wide, err := canon.WireToJSON([]byte("x"), []byte(tt.wire), 4)
			if err == nil || err.Error() != tt.want || string(text) != "x" || wide {
				t.Errorf("got %q, %v, %v; want %s", text, wide, err, tt.want)
			}
		})
	}
}
