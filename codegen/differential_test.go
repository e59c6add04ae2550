package codegen_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/blobs"
	generatedruntime "github.com/capgen/capgen/codegen/testdata/kinds/generated/canon/runtime"
	generatedtypes "github.com/capgen/capgen/codegen/testdata/kinds/generated/canon/types"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/deep/space"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/every"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/forms"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/hard"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/more"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/nulls"
	generatedstring "github.com/capgen/capgen/codegen/testdata/kinds/generated/package/string"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/proof"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/shaped"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/shapes"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/tables"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/types"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/wide"
	"github.com/capgen/capgen/internal/oracle"
	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/policyview"
	"github.com/capgen/capgen/runtime/program"
	"github.com/capgen/capgen/schema"
)

// soak makes TestBindingAgreesWithDecoder take a million values and
// TestOutputsReachPrograms 400,000. `make soak`
// sets it.
var soak = flag.Bool("soak", false, "compare bindings and decoders on a hundred times as many values")

// decoder reads a generated type.
type decoder func(*canon.Reader) (canon.Encoder, error)

func decoderOf[T any, P interface {
	value[T]
	canon.Encoder
}](r *canon.Reader) (canon.Encoder, error) {
	v, err := decode[T, P](r)
	return P(&v), err
}

// inputDecoders are those of all capabilities that take something.
func inputDecoders() map[string]decoder {
	return map[string]decoder{
		"every.kind":            decoderOf[every.KindInput],
		"every.same":            decoderOf[types.Entry],
		"every.named":           decoderOf[every.NamedInput],
		"nulls.keep":            decoderOf[nulls.KeepInput],
		"shapes.opaque":         decoderOf[shapes.OpaqueInput],
		"shapes.free":           decoderOf[shapes.FreeInput],
		"shaped.pages":          decoderOf[shaped.PagesInput],
		"shaped.cut_pages":      decoderOf[shaped.CutPagesInput],
		"shaped.key_pages":      decoderOf[types.LevelQuery],
		"shaped.fixed":          decoderOf[shaped.FixedInput],
		"shaped.fixed_type":     decoderOf[shaped.FixedTypeInput],
		"shaped.call":           decoderOf[shaped.CallInput],
		"wide.keep":             decoderOf[wide.KeepInput],
		"blobs.swap":            decoderOf[blobs.SwapInput],
		"forms.move":            decoderOf[forms.MoveInput],
		"tables.take":           decoderOf[tables.TakeInput],
		"shapes.recursive":      decoderOf[shapes.RecursiveInput],
		"shapes.tree":           decoderOf[types.Tree],
		"shapes.merged":         decoderOf[shapes.MergedInput],
		"shapes.const":          decoderOf[shapes.ConstInput],
		"shapes.tagged":         decoderOf[shapes.TaggedInput],
		"shapes.union":          decoderOf[shapes.UnionInput],
		"deep.space.read_many":  decoderOf[space.ReadManyInput],
		"canon.runtime.context": decoderOf[generatedruntime.ContextInput],
		"canon.types.canon":     decoderOf[generatedtypes.CanonInput],
		"hard.take":             decoderOf[hard.TakeInput],
		"more.filled":           decoderOf[more.FilledInput],
		"more.open":             decoderOf[more.OpenInput],
		"more.sets":             decoderOf[more.SetsInput],
		"more.shop":             decoderOf[more.ShopInput],
		"proof.flat":            decoderOf[proof.FlatInput],
		"proof.nested":          decoderOf[proof.NestedInput],
		"proof.items":           decoderOf[proof.ItemsInput],
		"proof.bounds":          decoderOf[proof.BoundsInput],
		"package.string.type":   decoderOf[generatedstring.TypeInput],
	}
}

// subject is an input with all who judge it.
type subject struct {
	name   string
	output bool
	schema *schema.Type
	decode decoder
	table  *binding.Table
	judge  *oracle.Schema
	full   *oracle.Schema // of canonical bytes, which hold what is fixed too
	maker  *maker
	limits program.Limits
	wire   []byte // what the last call sent
	counts [2]int // refused, accepted
}

// subjects are all capabilities that take something.
func subjects(t testing.TB, m *maker) []*subject {
	t.Helper()
	text, err := os.ReadFile("testdata/kinds/capabilities.yaml")
	if err != nil {
		t.Fatal(err)
	}
	decoders, bindings := inputDecoders(), generatedBindings(t, "testdata/kinds/generated")
	var out []*subject
	for _, c := range load(t, "capabilities.yaml", text).Capabilities {
		if len(resolve(c.Parameters()).Properties) == 0 {
			continue
		}
		s := &subject{
			name: c.Name, schema: resolve(c.Parameters()), decode: decoders[c.Name], maker: m,
			judge:  compileOracle(t, c.Parameters()),
			full:   compileOracle(t, c.Input),
			limits: program.Limits{Steps: 1e6, Calls: 10, Depth: depth, ValueBytes: 1 << 20, ResultBytes: 1 << 20, SourceBytes: 1 << 20, Parallel: 1},
		}
		if s.decode == nil {
			t.Fatalf("%s is not compared", c.Name)
		}
		s.table, err = binding.ParseTable(binding.EncodeTable([]binding.Entry{{Name: c.Name, ID: c.ID, Binding: bindings[c.Name]}}))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	if len(out) != len(decoders) {
		t.Fatalf("%d capabilities of %d", len(out), len(decoders))
	}
	return out
}

// generatedBindings are the Binding tables of generated code, by name.
func generatedBindings(t testing.TB, root string) map[string]string {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".go" {
			files[path], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bindingsOf(t, files)
}

// Call keeps what a program sends.
func (s *subject) Call(_ string, _ []uint32, arguments []byte) (uint32, *fault.Fault) {
	s.wire = bytes.Clone(arguments)
	return 0, &fault.Fault{Class: fault.CapabilityFailed, Message: "enough"}
}

func (s *subject) Answer() (uint32, []byte, *fault.Fault) { return 0, nil, nil }
func (s *subject) Refused(string) *fault.Fault            { return nil }

// For generated values, valid ones and such that differ from them in a place
// or two: bindings, decoders and schemas agree on what they accept, and on what
// was meant.
func TestBindingAgreesWithDecoder(t *testing.T) {
	n := 10_000
	if *soak {
		n = 1_000_000
	}
	m := &maker{Rand: rand.New(rand.NewPCG(3, 1)), patterns: map[string]*regexp.Regexp{}}
	all, forms, written := subjects(t, m), differences(), map[string]int{}
	for i := range n {
		s := all[i%len(all)]
		m.places = m.places[:0]
		v := m.valid(s.schema, 1+m.IntN(5))
		valid := verdicts{true, true, true, true}
		switch m.IntN(8) {
		case 0, 1: // as it is
			s.compare(t, v, "a valid value", &valid)
		case 2:
			// Some forms are of a kind that few capabilities take: those that
			// were written least often come first.
			slices.SortStableFunc(forms, func(a, b difference) int { return written[a.name] - written[b.name] })
			i := slices.IndexFunc(forms, m.write)
			if i < 0 {
				s.compare(t, v, "a valid value", &valid)
				break
			}
			s.compare(t, v, forms[i].name, &forms[i].want)
			written[forms[i].name]++
		default:
			for range 1 + m.IntN(2) {
				if !m.mutate() {
					m.mutate()
				}
			}
			s.compare(t, v, "a changed value", nil)
		}
		if t.Failed() {
			t.FailNow() // one is enough to look at
		}
	}
	for _, s := range all {
		if s.counts[0] < n/len(all)/20 || s.counts[1] < n/len(all)/5 {
			t.Errorf("%s: %d refused, %d accepted: too few to say anything", s.name, s.counts[0], s.counts[1])
		}
		t.Logf("%s: %d refused, %d accepted", s.name, s.counts[0], s.counts[1])
	}
	for _, form := range forms {
		if written[form.name] == 0 {
			t.Errorf("%s (%s) was never written", form.name, form.reason)
		}
	}
}

// compare has v judged by all. With want nil they must agree.
func (s *subject) compare(t *testing.T, v *sample, what string, want *verdicts) {
	t.Helper()
	text := v.appendJSON(nil)
	instance, found := s.judged(t, text)
	fromJSON, jsonErr := s.decode(canon.NewJSONReader(text, depth))
	wire := v.appendWire(nil)
	_, wireErr := s.decode(canon.NewWireReader(wire, depth))
	source := v.call(s.name)
	s.wire = nil
	_, failure := program.Run(program.Program{Source: source, Limits: s.limits}, s.table, s)
	if s.wire == nil && failure.Class != fault.InvalidArguments {
		t.Fatalf("%s: %v", source, failure)
	}
	got := verdicts{program: s.wire != nil, wire: wireErr == nil, json: jsonErr == nil, schema: len(found) == 0}
	if want == nil {
		want = &verdicts{got.schema, got.schema, got.schema, got.schema}
	}
	if got != *want {
		t.Errorf("%s, %s:\n%s\n%s\n got %+v\nwant %+v\nprogram: %v\nwire: %v\njson: %v\nschema: %v", s.name, what, text, source, got, *want, failure, wireErr, jsonErr, found)
		return
	}
	if got.json {
		s.counts[1]++
	} else {
		s.counts[0]++
	}
	var canonical []byte
	if got.json {
		canonical = s.roundTrip(t, fromJSON, instance)
	} else {
		s.explained(t, text, found, jsonErr)
	}
	if got.program {
		bound, err := s.decode(canon.NewWireReader(s.wire, depth))
		if err != nil {
			t.Errorf("%s: the binding accepts what the decoder refuses: %s: %v", s.name, source, err)
			return
		}
		again := s.roundTrip(t, bound, nil)
		if got.json && !bytes.Equal(again, canonical) {
			t.Errorf("%s: a program and JSON mean different values:\n%s\n%s\n%s\n%s", s.name, source, again, text, canonical)
		}
	}
}

// judged is the value of text, and what the oracle has against it.
func (s *subject) judged(t *testing.T, text []byte) (instance any, found []oracle.Violation) {
	t.Helper()
	instance, err := oracle.Read(text, depth)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return instance, s.judge.Judge(instance)
}

// explained checks that the oracle finds at the same place what a decoder of
// text ended at.
func (s *subject) explained(t *testing.T, text []byte, found []oracle.Violation, err error) {
	t.Helper()
	var e *canon.Error
	if !errors.As(err, &e) || !oracle.Explains(found, e) {
		t.Errorf("%s: %s:\n%v is not among\n%v", s.name, text, err, found)
	}
}

func compileOracle(t testing.TB, effective *schema.Type) *oracle.Schema {
	t.Helper()
	s, err := oracle.Compile(codegen.InlineSchema(effective))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// roundNumber is an integer of as many digits as one outside ±(2^53−1) has.
var roundNumber = regexp.MustCompile(`(^|[:\[,-])[0-9]{16,21}($|[,\]}])`)

// roundTrip returns the canonical bytes of v, of which it checks that they are
// the one form of v: bit for bit, and of instance, if that is not nil, by the
// oracle's account.
func (s *subject) roundTrip(t testing.TB, v canon.Encoder, instance any) []byte {
	t.Helper()
	canonical := canon.AppendCanonical(nil, v)
	if instance != nil {
		if want, err := s.full.Canonical(instance); err != nil || !bytes.Equal(want, canonical) {
			t.Errorf("%s: canonical bytes\n got %s\nwant %s, %v", s.name, canonical, want, err)
		}
	}
	again, err := s.decode(canon.NewJSONReader(canonical, depth))
	if err != nil || !oracle.Same(again, v) {
		t.Errorf("%s: %s reads as another value: %v", s.name, canonical, err)
		return canonical
	}
	if b := canon.AppendCanonical(nil, again); !bytes.Equal(b, canonical) {
		t.Errorf("%s: canonical twice:\n%s\n%s", s.name, canonical, b)
	}
	b, err := canon.CanonicalizeJSON(nil, canonical, depth)
	// Without a schema it cannot tell a float that JSON writes as an integer
	// from an integer that a reader rounded, and refuses it.
	if e := new(canon.Error); errors.As(err, &e) && e.Code == canon.CodeRange && roundNumber.Match(canonical) {
		b, err = canonical, nil
	}
	if err != nil || !bytes.Equal(b, canonical) {
		t.Errorf("%s: %s is not canonical: %v, %s", s.name, canonical, err, b)
	}
	wire, err := canon.AppendWire(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	if again, err = s.decode(canon.NewWireReader(wire, depth)); err != nil || !oracle.Same(again, v) {
		t.Errorf("%s: %s is another value on the wire: %v", s.name, canonical, err)
	}
	written, err := oracle.Read(canonical, depth)
	if err != nil {
		t.Fatal(err)
	}
	if found := s.full.Judge(written); len(found) > 0 {
		t.Errorf("%s: the schema refuses canonical bytes: %s: %v", s.name, canonical, found)
	}
	if s.output {
		return canonical // which policy does not see
	}
	view, err := policyview.New(v, depth).Map()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(view)
	if err != nil {
		t.Fatal(err)
	}
	again, err = s.decode(canon.NewJSONReader(text, depth))
	if err != nil || !bytes.Equal(canon.AppendCanonical(nil, again), canonical) {
		t.Errorf("%s: policy sees another value:\n%s\n%s\n%v", s.name, canonical, text, err)
	}
	return canonical
}
