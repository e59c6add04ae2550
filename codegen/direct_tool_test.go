package codegen_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/internal/oracle"
	"github.com/capgen/capgen/schema"
)

// clientForm is a schema with its form for clients, and with what it says in
// words that all validators know.
type clientForm struct {
	name                    string
	of                      *schema.Type
	effective, known, judge *oracle.Schema
	accepted, refused       int
}

// clientForms are the inputs and results of all kinds that do not hold
// themselves.
func clientForms(t *testing.T) []*clientForm {
	t.Helper()
	text, err := os.ReadFile("testdata/kinds/capabilities.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var out []*clientForm
	for _, c := range load(t, "capabilities.yaml", text).Capabilities {
		for what, of := range map[string]*schema.Type{" input": c.Parameters(), " result": c.Result()} {
			effective := codegen.InlineSchema(of)
			if bytes.Contains(effective, []byte(`"$defs"`)) {
				continue
			}
			client := schema.ClientSchema(of)
			checkClientForm(t, c.Name+what, client)
			f := &clientForm{name: c.Name + what, of: of}
			for to, from := range map[**oracle.Schema][]byte{&f.effective: effective, &f.known: knownWords(t, effective), &f.judge: client} {
				if *to, err = oracle.Compile(from); err != nil {
					t.Fatalf("%s: %v", f.name, err)
				}
			}
			out = append(out, f)
		}
	}
	return out
}

// knownWords is an effective schema without the words that only we know.
func knownWords(t *testing.T, effective []byte) []byte {
	t.Helper()
	var root any
	if err := json.Unmarshal(effective, &root); err != nil {
		t.Fatal(err)
	}
	walkSchema(root, func(s map[string]any) {
		delete(s, "x-opaque")
		if s["format"] == "int64" {
			for _, key := range []string{"format", "formatMinimum", "formatMaximum", "multipleOf"} {
				delete(s, key)
			}
		}
	})
	out, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// walkSchema calls do for every object in a schema: those of names and values
// too, which have no such words in the kinds.
func walkSchema(v any, do func(map[string]any)) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			walkSchema(item, do)
		}
	case map[string]any:
		do(v)
		for _, member := range v {
			walkSchema(member, do)
		}
	}
}

// checkClientForm looks for what clients in the field do not read.
func checkClientForm(t *testing.T, name string, client []byte) {
	t.Helper()
	var root any
	if err := json.Unmarshal(client, &root); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	walkSchema(root, func(s map[string]any) {
		if _, several := s["type"].([]any); several {
			t.Errorf("%s: a list of types: %v", name, s)
		}
		for key := range s {
			if strings.HasPrefix(key, "$") || strings.HasPrefix(key, "x-") || strings.HasPrefix(key, "formatM") || s["format"] == "int64" {
				t.Errorf("%s: %s: %v", name, key, s)
			}
		}
	})
}

// For generated values, valid ones and such that differ in a place or two: the
// form that clients read takes what the effective schema takes, and nothing
// else, as far as JSON Schema has words for it.
func TestClientSchemasAgree(t *testing.T) {
	n := 4_000
	if *soak {
		n = 400_000
	}
	m := &maker{Rand: rand.New(rand.NewPCG(8, 1)), patterns: map[string]*regexp.Regexp{}}
	all := clientForms(t)
	if len(all) < 60 {
		t.Fatalf("only %d schemas", len(all))
	}
	wider := 0
	for i := range n {
		f := all[i%len(all)]
		m.places = m.places[:0]
		v := m.valid(f.of, 1+m.IntN(4))
		for range m.IntN(3) {
			m.mutate()
		}
		text := v.appendJSON(nil)
		instance, err := oracle.Read(text, depth)
		if err != nil {
			t.Fatalf("%s: %s: %v", f.name, text, err)
		}
		want, known, got := f.effective.Judge(instance), f.known.Judge(instance), f.judge.Judge(instance)
		switch {
		case (len(known) == 0) != (len(got) == 0), len(want) == 0 && len(got) > 0:
			t.Fatalf("%s: %s\neffective: %v\nin known words: %v\nfor clients: %v", f.name, text, want, known, got)
		case len(want) > 0 && len(got) == 0:
			wider++
		}
		if len(got) == 0 {
			f.accepted++
		} else {
			f.refused++
		}
	}
	refused := 0
	for _, f := range all {
		if f.accepted == 0 {
			t.Errorf("%s accepts nothing", f.name)
		}
		refused += f.refused
	}
	if refused < n/20 || wider == 0 {
		t.Errorf("%d refused, %d by the server alone: too few to say anything", refused, wider)
	}
	t.Logf("%d schemas, %d of %d values refused, and %d by the server alone", len(all), refused, n, wider)
}
