package codegen_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/proof"
	"github.com/capgen/capgen/internal/gate"
	"github.com/capgen/capgen/runtime/canon"
)

// measured is an input that is decoded, checked and written in canonical form.
type measured struct {
	name, capability string
	text             string
	// needs is how many allocations the value itself is: its strings, its
	// slices.
	needs int
	// canonical decodes text and appends it to dst.
	canonical func(dst, text []byte) ([]byte, error)
}

func measuredInputs() []measured {
	var items []string
	for i := range 1000 {
		items = append(items, fmt.Sprintf(`{"id":%d,"name":"item number %d","share":0.25,"done":%t}`, i*37, i, i%3 == 0))
	}
	return []measured{
		{
			"flat", "proof.flat",
			`{"id":"a1b2c3","path":"docs/reference/manifest.md","owner":"jane","size":48231,"version":17,"ratio":0.375,"hidden":false,"mode":"fast"}`,
			3,
			func(dst, text []byte) ([]byte, error) {
				var v proof.FlatInput
				r := canon.NewJSONReader(text, depth)
				v.Decode(r)
				return v.AppendCanonical(dst), r.End()
			},
		},
		{
			"nested", "proof.nested",
			`{"name":"quarterly report","filter":{"owner":"jane","kind":"file","range":{"from":10,"to":250,"label":"first page"}}}`,
			3,
			func(dst, text []byte) ([]byte, error) {
				var v proof.NestedInput
				r := canon.NewJSONReader(text, depth)
				v.Decode(r)
				return v.AppendCanonical(dst), r.End()
			},
		},
		{
			"items", "proof.items", `{"items":[` + strings.Join(items, ",") + `]}`, 1001,
			func(dst, text []byte) ([]byte, error) {
				var v proof.ItemsInput
				r := canon.NewJSONReader(text, depth)
				v.Decode(r)
				return v.AppendCanonical(dst), r.End()
			},
		},
	}
}

// BenchmarkGateCanonical bounds what a decoder and a canonicalizer take by the
// plainest way to the same certainty: encoding/json into any, and a validator.
// The control does not even write the value.
func BenchmarkGateCanonical(b *testing.B) {
	for _, m := range measuredInputs() {
		b.Run(m.name, func(b *testing.B) {
			text := []byte(m.text)
			judge := compileSchema(b, codegen.InlineSchema(declared(b, m.capability).Input))
			dst := make([]byte, 0, 2*len(text))
			gate.Ratio(b, 0.1, func() {
				if _, err := m.canonical(dst, text); err != nil {
					b.Fatal(err)
				}
			}, func() {
				var v any
				if err := json.Unmarshal(text, &v); err != nil {
					b.Fatal(err)
				}
				if err := judge.Validate(v); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// Beside the value itself, decoding and writing one takes a reader and a
// writer, however many members and items it has.
func TestCanonicalAllocations(t *testing.T) {
	for _, m := range measuredInputs() {
		text := []byte(m.text)
		dst := make([]byte, 0, 2*len(text))
		got := math.Inf(1)
		for range 10 { // what else runs allocates too: the least is the value's
			got = min(got, testing.AllocsPerRun(5, func() {
				if _, err := m.canonical(dst, text); err != nil {
					t.Fatal(err)
				}
			}))
		}
		if most := float64(m.needs + 3); got > most {
			t.Errorf("%s: %v allocations, at most %v: the value is %d", m.name, got, most, m.needs)
		}
		t.Logf("%s: %v allocations, of which the value is %d", m.name, got, m.needs)
	}
}
