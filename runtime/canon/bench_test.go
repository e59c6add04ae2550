package canon_test

import (
	"encoding/json"
	"testing"

	"github.com/capgen/capgen/runtime/canon"
)

// flat is an object of eight members without containers.
type flat struct {
	Alpha   string  `json:"alpha"`
	Beta    string  `json:"beta"`
	Gamma   int64   `json:"gamma"`
	Delta   int64   `json:"delta"`
	Epsilon float64 `json:"epsilon"`
	Zeta    bool    `json:"zeta"`
	Eta     string  `json:"eta"`
	Theta   int64   `json:"theta"`
}

func (v *flat) Decode(r *canon.Reader) error {
	*v = flat{}
	var seen canon.Seen
	r.BeginObject()
	for r.NextMember() {
		switch string(r.Key()) {
		case "alpha":
			seen.Mark(r, 0)
			v.Alpha = r.String(0, 100)
		case "beta":
			seen.Mark(r, 1)
			v.Beta = r.String(0, 100)
		case "gamma":
			seen.Mark(r, 2)
			v.Gamma = r.Int(0, 1<<53-1)
		case "delta":
			seen.Mark(r, 3)
			v.Delta = r.Int(-1<<53+1, 1<<53-1)
		case "epsilon":
			seen.Mark(r, 4)
			v.Epsilon = r.Float()
		case "zeta":
			seen.Mark(r, 5)
			v.Zeta = r.Bool()
		case "eta":
			seen.Mark(r, 6)
			v.Eta = r.Enum("small", "large")
		case "theta":
			seen.Mark(r, 7)
			v.Theta = r.Int(0, 10)
		default:
			r.UnknownMember()
		}
	}
	for i, name := range [...]string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"} {
		r.Require(&seen, i, name)
	}
	return r.Err()
}

func (v *flat) Encode(w *canon.Writer) {
	w.BeginObject(8)
	w.Key("alpha")
	w.String(v.Alpha, 0, 100)
	w.Key("beta")
	w.String(v.Beta, 0, 100)
	w.Key("delta")
	w.Int(v.Delta, -1<<53+1, 1<<53-1)
	w.Key("epsilon")
	w.Float(v.Epsilon)
	w.Key("eta")
	w.Enum(v.Eta, "small", "large")
	w.Key("gamma")
	w.Int(v.Gamma, 0, 1<<53-1)
	w.Key("theta")
	w.Int(v.Theta, 0, 10)
	w.Key("zeta")
	w.Bool(v.Zeta)
	w.EndObject()
}

func goodFlat() flat {
	return flat{"internal/canon", "reader.go", 123456, -42, 3.25, true, "large", 7}
}

func BenchmarkDecodeJSON(b *testing.B) {
	v := goodFlat()
	text := canon.AppendCanonical(nil, &v)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r := canon.NewJSONReader(text, 32)
		if v.Decode(r) != nil || r.End() != nil {
			b.Fatal(r.Err())
		}
	}
}

// BenchmarkDecodeControl is encoding/json on the same text.
func BenchmarkDecodeControl(b *testing.B) {
	v := goodFlat()
	text := canon.AppendCanonical(nil, &v)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		v = flat{}
		if err := json.Unmarshal(text, &v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeWire(b *testing.B) {
	v := goodFlat()
	wire, err := canon.AppendWire(nil, &v)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(wire)))
	for b.Loop() {
		r := canon.NewWireReader(wire, 32)
		if v.Decode(r) != nil || r.End() != nil {
			b.Fatal(r.Err())
		}
	}
}

func BenchmarkAppendCanonical(b *testing.B) {
	v := goodFlat()
	buf := canon.AppendCanonical(nil, &v)
	b.ReportAllocs()
	for b.Loop() {
		buf = canon.AppendCanonical(buf[:0], &v)
	}
}

// BenchmarkEncodeControl is encoding/json on the same value.
func BenchmarkEncodeControl(b *testing.B) {
	v := goodFlat()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := json.Marshal(&v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendWire(b *testing.B) {
	v := goodFlat()
	buf, _ := canon.AppendWire(nil, &v)
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = canon.AppendWire(buf[:0], &v)
	}
}

// Beyond the strings that a value keeps there is one allocation a value, the
// Reader or Writer, however many members it has.
func TestAllocations(t *testing.T) {
	v := goodFlat()
	text := canon.AppendCanonical(nil, &v)
	wire, err := canon.AppendWire(nil, &v)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 0, 1024)
	for name, tt := range map[string]struct {
		most float64
		run  func()
	}{
		"decode JSON":  {3, func() { v.Decode(canon.NewJSONReader(text, 32)) }},
		"decode wire":  {3, func() { v.Decode(canon.NewWireReader(wire, 32)) }},
		"encode JSON":  {1, func() { canon.AppendCanonical(buf, &v) }},
		"encode wire":  {1, func() { canon.AppendWire(buf, &v) }},
		"skip JSON":    {1, func() { r := canon.NewJSONReader([]byte(`[[[1,2.5,"x"]]]`), 32); r.Skip() }},
		"skip nothing": {1, func() { r := canon.NewWireReader(nil, 32); r.Peek() }},
	} {
		if got := testing.AllocsPerRun(100, tt.run); got > tt.most {
			t.Errorf("%s: %v allocations, want at most %v", name, got, tt.most)
		}
	}
}
