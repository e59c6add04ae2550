package canon_test

import (
	"errors"
	"fmt"

	"github.com/capgen/capgen/runtime/canon"
)

// lines is what the generator writes for
// {type: object, required: [from], properties: {from: {type: integer, minimum: 1, maximum: 1000}}}.
type lines struct{ From int64 }

func (v *lines) Decode(r *canon.Reader) error {
	*v = lines{}
	var seen canon.Seen
	r.BeginObject()
	for r.NextMember() {
		switch string(r.Key()) {
		case "from":
			seen.Mark(r, 0)
			v.From = r.Int(1, 1000)
		default:
			r.UnknownMember()
		}
	}
	r.Require(&seen, 0, "from")
	return r.Err()
}

func (v *lines) Encode(w *canon.Writer) {
	w.BeginObject(1)
	w.Key("from")
	w.Int(v.From, 1, 1000)
	w.EndObject()
}

func ExampleReader() {
	for _, text := range []string{`{"from": 7.0}`, `{"from": 0}`, `{"form": 7}`, `{}`} {
		var v lines
		r := canon.NewJSONReader([]byte(text), 32)
		v.Decode(r)
		var e *canon.Error
		if errors.As(r.End(), &e) {
			fmt.Println(e.Code, "·", e)
			continue
		}
		fmt.Printf("%s\n", canon.AppendCanonical(nil, &v))
	}
	// Output:
	// {"from":7}
	// range · from: expected an integer from 1 to 1000, got 0
	// unknown · form: unknown member
	// missing · from: required, but missing
}

func ExampleCanonicalizeJSON() {
	text, err := canon.CanonicalizeJSON(nil, []byte(`{"b": 1e2, "a": ["\u00e9"]}`), 8)
	fmt.Printf("%s %v\n", text, err)
	// Output: {"a":["é"],"b":100} <nil>
}

func ExampleWireToJSON() {
	w := canon.NewWireWriter(nil)
	w.BeginArray(2, 0, 2)
	w.Element(0)
	w.Float(3)
	w.Element(1)
	w.Int(1<<53, 0, 1<<62)
	w.EndArray()
	text, wide, err := canon.WireToJSON(nil, w.Bytes(), 8)
	fmt.Printf("%s %v %v\n", text, wide, err)
	// Output: [3.0,"9007199254740992"] true <nil>
}
