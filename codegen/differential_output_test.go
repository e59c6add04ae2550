package codegen_test

import (
	"math/rand/v2"
	"os"
	"regexp"
	"testing"

	"github.com/capgen/capgen/codegen/testdata/kinds/generated/blobs"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/every"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/forms"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/more"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/nulls"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/shapes"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/tables"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/types"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/wide"
	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program"
)

// outputDecoders are those of outputs that say more than a boolean or a string.
func outputDecoders() map[string]decoder {
	return map[string]decoder{
		"every.kind":       decoderOf[every.KindOutput],
		"every.mode":       decoderOf[every.ModeOutput],
		"every.named":      decoderOf[types.Grid],
		"every.same":       decoderOf[types.Entry],
		"every.share":      decoderOf[every.ShareOutput],
		"more.open":        decoderOf[more.OpenOutput],
		"more.sets":        decoderOf[more.SetsOutput],
		"more.shop":        decoderOf[types.Customer],
		"nulls.keep":       decoderOf[nulls.KeepOutput],
		"shapes.const":     decoderOf[shapes.ConstOutput],
		"shapes.free":      decoderOf[shapes.FreeOutput],
		"shapes.merged":    decoderOf[types.Aged],
		"shapes.opaque":    decoderOf[shapes.OpaqueOutput],
		"shapes.recursive": decoderOf[types.Chain],
		"shapes.tagged":    decoderOf[shapes.TaggedOutput],
		"shapes.tree":      decoderOf[shapes.TreeOutput],
		"shapes.union":     decoderOf[shapes.UnionOutput],
		"wide.keep":        decoderOf[wide.KeepOutput],
		"blobs.swap":       decoderOf[blobs.SwapOutput],
		"forms.move":       decoderOf[forms.MoveOutput],
		"tables.take":      decoderOf[tables.TakeOutput],
	}
}

// reply answers every call with the same wire bytes.
type reply []byte

func (r reply) Call(string, []uint32, []byte) (uint32, *fault.Fault) { return 1, nil }
func (r reply) Answer() (uint32, []byte, *fault.Fault)               { return 1, r, nil }
func (r reply) Refused(string) *fault.Fault                          { return nil }

// For generated outputs as for inputs: decoders and schemas agree on what they
// accept, and programs can read it.
func TestOutputsReachPrograms(t *testing.T) {
	n := 4_000
	if *soak {
		n = 400_000
	}
	text, err := os.ReadFile("testdata/kinds/capabilities.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m := &maker{Rand: rand.New(rand.NewPCG(3, 2)), patterns: map[string]*regexp.Regexp{}}
	limits := program.Limits{Steps: 1e6, Calls: 10, Depth: depth, ValueBytes: 1 << 20, ResultBytes: 1 << 20, SourceBytes: 1 << 20, Parallel: 1}
	decoders, bindings := outputDecoders(), generatedBindings(t, "testdata/kinds/generated")
	for _, c := range load(t, "capabilities.yaml", text).Capabilities {
		if decoders[c.Name] == nil {
			continue
		}
		s := &subject{name: c.Name, output: true, decode: decoders[c.Name], judge: compileOracle(t, c.Output)}
		s.full = s.judge
		table, err := binding.ParseTable(binding.EncodeTable([]binding.Entry{{Name: c.Name, ID: c.ID, Binding: bindings[c.Name]}}))
		if err != nil {
			t.Fatal(err)
		}
		source := m.valid(resolve(c.Input), 1).call(c.Name)
		accepted := 0
		for range n / len(decoders) {
			m.places = m.places[:0]
			v := m.valid(c.Output, 1+m.IntN(5))
			change := m.IntN(3) > 0
			if change {
				m.mutate()
			}
			out, instance, ok := s.decoded(t, v)
			if !ok {
				if !change {
					t.Fatalf("%s: a valid output is refused: %s", c.Name, v)
				}
				continue
			}
			accepted++
			s.roundTrip(t, out, instance)
			wire, err := canon.AppendWire(nil, out)
			if err != nil {
				t.Fatal(err)
			}
			result, failure := program.Run(program.Program{Source: source, Limits: limits}, table, reply(wire))
			if failure != nil || len(result.Value) == 0 {
				t.Fatalf("%s: a program cannot read %s: %v", c.Name, v, failure)
			}
		}
		if accepted < n/len(decoders)/3 {
			t.Errorf("%s: %d accepted: too few to say anything", c.Name, accepted)
		}
		delete(decoders, c.Name)
	}
	for name := range decoders {
		t.Errorf("%s is gone", name)
	}
}

// decoded is v, if the decoder accepts it, on the wire and as JSON text, which
// the schema must do too.
func (s *subject) decoded(t *testing.T, v *sample) (out canon.Encoder, instance any, ok bool) {
	t.Helper()
	text := v.appendJSON(nil)
	instance, found := s.judged(t, text)
	refused := len(found) > 0
	out, jsonErr := s.decode(canon.NewJSONReader(text, depth))
	_, wireErr := s.decode(canon.NewWireReader(v.appendWire(nil), depth))
	if (jsonErr != nil) != refused || (wireErr != nil) != refused {
		t.Fatalf("%s: %s:\nwire: %v\njson: %v\nschema: %v", s.name, text, wireErr, jsonErr, found)
	}
	if refused {
		s.explained(t, text, found, jsonErr)
	}
	return out, instance, !refused
}
