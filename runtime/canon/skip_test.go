package canon_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/canon"
)

func TestSkipAccepts(t *testing.T) {
	for _, text := range []string{
		`null`, `true`, `false`, `"\u0000"`, `0`, `-0.0e-0`, `1e-400`, `[]`, `{}`, `[[],{},[{}]]`,
		`{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}`, `{"":0,"\u0000":1}`, `9007199254740993`,
		`{"A":1,"a":2}`, `{"é":1,"e\u0301":2}`,
	} {
		if err := decodeJSON(text, asSkip); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Skip inside a decoder leaves the rest to it.
func TestSkipLeavesTheRest(t *testing.T) {
	r := canon.NewJSONReader([]byte(`{"x":[{"a":[1,{"b":2}]},3],"y":{"\u0062":{}},"z":7}`), 8)
	var z int64
	r.BeginObject()
	for r.NextMember() {
		if string(r.Key()) == "z" {
			z = r.Int(0, 9)
			continue
		}
		r.Skip()
	}
	if z != 7 || r.End() != nil {
		t.Errorf("got %d, %v", z, r.Err())
	}
}

// Bytes made to cost more than they weigh. The time is far above what is
// needed; work that grows with the square of the input would take minutes.
func TestHostileInputIsCheap(t *testing.T) {
	const n = 200_000
	same := "{" + strings.Repeat(`"a":1,`, n) + `"a":1}`
	var distinct, prefixed strings.Builder
	distinct.WriteString(`{"":0`)
	prefixed.WriteString(`{"":0`)
	for i := range n {
		fmt.Fprintf(&distinct, `,"%x":0`, i)
		if i < n/100 {
			fmt.Fprintf(&prefixed, `,"%s%d":0`, strings.Repeat("\\u0061", 20), i)
		}
	}
	texts := map[string]string{
		"one key many times": same,
		"many keys":          distinct.String() + "}",
		"keys alike":         prefixed.String() + "}",
		"brackets":           strings.Repeat("[", 1<<20),
		"braces":             strings.Repeat(`{"a":`, 1<<20),
		"many empty objects": "[" + strings.Repeat("{},", n) + "{}]",
		"backslashes":        `"` + strings.Repeat(`\\`, 1<<20),
	}
	start := time.Now()
	for name, text := range texts {
		r := canon.NewJSONReader([]byte(text), 1<<20)
		r.Skip()
		err := r.End()
		if wantOK := name == "many keys" || name == "keys alike" || name == "many empty objects"; (err == nil) != wantOK {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := canon.CanonicalizeJSON(nil, []byte(text), 64); name == "brackets" && err == nil {
			t.Errorf("%s: canonicalized", name)
		}
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}
