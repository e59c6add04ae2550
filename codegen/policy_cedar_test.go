package codegen_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/schema/validate"

	"github.com/capgen/capgen/authz/cedar"
	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/policyview"
	"github.com/capgen/capgen/schema"
)

// For generated values of every capability that has an action: Cedar's own
// validator accepts the context, and it is exact: the arguments can be read
// back from it, to the byte.
func TestCedarContextsAreExact(t *testing.T) {
	text, err := os.ReadFile("testdata/kinds/generated/" + codegen.CedarSchemaFile)
	if err != nil {
		t.Fatal(err)
	}
	policies, err := cedar.New(cedar.Options{Schema: text, Policies: map[string][]byte{"all.cedar": []byte("permit (principal, action, resource);")}})
	if err != nil {
		t.Fatal(err)
	}
	validator := validate.New(cedarSchema(t, text), validate.WithStrict())
	manifestText, err := os.ReadFile("testdata/kinds/capabilities.yaml")
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]*schema.Capability{}
	for _, c := range load(t, "capabilities.yaml", manifestText).Capabilities {
		declared[c.Name] = c
	}
	m := &maker{Rand: rand.New(rand.NewPCG(7, 1)), patterns: map[string]*regexp.Regexp{}}
	all := slices.DeleteFunc(subjects(t, m), func(s *subject) bool {
		_, _, refused := codegen.CedarRefusal(declared[s.name])
		return refused
	})
	n := 2_000
	if *soak {
		n = 100_000
	}
	if len(all) < 15 {
		t.Fatalf("%d capabilities only", len(all))
	}
	for i := range n {
		s := all[i%len(all)]
		m.places = m.places[:0]
		v, err := s.decode(canon.NewJSONReader(m.valid(s.schema, 1+m.IntN(5)).appendJSON(nil), depth))
		if err != nil {
			t.Fatal(err)
		}
		view, err := policyview.New(v, depth).Map()
		if err != nil {
			t.Fatal(err)
		}
		c := declared[s.name]
		image, err := policies.Context(c.ID, view)
		if err != nil {
			t.Fatalf("%s: %v of %v", s.name, err, view)
		}
		request := types.Request{
			Principal: types.NewEntityUID("Subject", "local"), Action: types.NewEntityUID("Action", types.String(c.ID)),
			Resource: types.NewEntityUID("Capability", types.String(c.ID)), Context: image,
		}
		if err := validator.Request(request); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		back, err := json.Marshal(fromCedar(t, c.Input, image))
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.decode(canon.NewJSONReader(back, depth))
		if want := canon.AppendCanonical(nil, v); err != nil || !bytes.Equal(canon.AppendCanonical(nil, again), want) {
			t.Fatalf("%s:\n%s\n%s reads back as\n%s: %v", s.name, want, image, back, err)
		}
	}
}

// fromCedar is the JSON value that has the image v.
func fromCedar(t *testing.T, declared *schema.Type, v types.Value) any {
	t.Helper()
	switch declared = resolve(declared); declared.Kind {
	case schema.Nullable:
		return fromCedar(t, declared.Items, v)
	case schema.Number:
		return json.Number(v.(types.String))
	case schema.Integer:
		return int64(v.(types.Long))
	case schema.Int64:
		return strconv.FormatInt(int64(v.(types.Long)), 10)
	case schema.Boolean:
		return bool(v.(types.Boolean))
	case schema.Object:
		out := map[string]any{}
		for _, p := range declared.Properties {
			if member, there := fieldFromCedar(t, p.Name, p.Type, v.(types.Record)); there {
				out[p.Name] = member
			}
		}
		return out
	case schema.Map:
		out := map[string]any{}
		for pair := range v.(types.Set).All() {
			key, _ := pair.(types.Record).Get("key")
			out[string(key.(types.String))], _ = fieldFromCedar(t, "value", declared.Items, pair.(types.Record))
		}
		return out
	case schema.Array:
		length, _ := v.(types.Record).Get("length")
		at, _ := v.(types.Record).Get("at")
		out := make([]any, length.(types.Long))
		for pair := range at.(types.Set).All() {
			index, _ := pair.(types.Record).Get("index")
			out[index.(types.Long)], _ = fieldFromCedar(t, "item", declared.Items, pair.(types.Record))
		}
		if at.(types.Set).Len() != len(out) {
			t.Fatalf("%d of %d items", at.(types.Set).Len(), len(out))
		}
		return out
	}
	return string(v.(types.String))
}

func fieldFromCedar(t *testing.T, name string, declared *schema.Type, in types.Record) (v any, there bool) {
	if image, ok := in.Get(types.String(name)); ok {
		return fromCedar(t, declared, image), true
	}
	null, ok := in.Get(types.String(name + "_isnull"))
	return nil, ok && bool(null.(types.Boolean))
}
