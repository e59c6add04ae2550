package codegen_test

import (
	"strings"
	"testing"

	"github.com/capgen/capgen/codegen/testdata/kinds/generated/catalog"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/fake"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/examples"
	"github.com/capgen/capgen/schema"
)

func registerFake(b *runtime.Builder) { catalog.Register(b, fake.Handlers()) }

// The generated test of the kinds, which go test ./... does not find there:
// every kind of value in an example, on the way of a program.
func TestFake(t *testing.T) {
	ran := 0
	for name, err := range examples.Run(t.Context(), registerFake, fake.Examples(), fake.Programs()) {
		ran++
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if ran < 24 {
		t.Errorf("only %d examples and programs ran", ran)
	}
}

// An outcome that is another one is told, and so is a call without an example.
func TestFakeTellsWhatIsWrong(t *testing.T) {
	wide := func(change func(*examples.Example)) []examples.Capability {
		for _, c := range fake.Examples() {
			if c.Name == "wide.keep" {
				e := c.Examples[0]
				change(&e)
				return []examples.Capability{{Name: c.Name, Examples: []examples.Example{e}}}
			}
		}
		t.Fatal("no examples of wide.keep")
		return nil
	}
	for _, test := range []struct {
		name     string
		all      []examples.Capability
		programs []examples.Program
		want     string
	}{
		{"result", wide(func(e *examples.Example) {
			e.Result = strings.Replace(e.Result, "9007199254740991", "9007199254740990", 1)
		}), nil, "returned\n{"},
		{"error", wide(func(e *examples.Example) { e.Error = "gone" }), nil, "want the error gone"},
		{"call", wide(func(e *examples.Example) { e.Call = "wide.keep(id=5)" }), nil, `wide.keep has no example for {"d_id":"9007199254740993",`},
		{"syntax", wide(func(e *examples.Example) { e.Call = "wide.keep(" }), nil, "invalid program"},
		{"program", nil, []examples.Program{{Title: "a", Source: "def main():\n    x = 1\n    return wide.keep(id = 5)\n", Result: "1"}}, `line 3, column 21: wide.keep has no example for {`},
		{"program's result", nil, []examples.Program{{Title: "a", Source: "def main():\n    return [1, 2]\n", Result: "[1,3]"}}, "the program returned\n[1,2]\nwant\n[1,3]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ran := 0
			for name, err := range examples.Run(t.Context(), registerFake, test.all, test.programs) {
				ran++
				if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "invalid_program", "invalid program"), test.want) && test.name != "syntax" {
					t.Errorf("%s: got %v, want %s", name, err, test.want)
				}
			}
			if ran != 1 {
				t.Errorf("%d ran", ran)
			}
		})
	}
}

// Names of package fake do not collide, whatever namespaces and capabilities
// are called.
func TestFakeNames(t *testing.T) {
	with := func(name string) *schema.Capability {
		return capability(name, object(), boolean(), func(c *schema.Capability) {
			c.Examples = []*schema.Example{{Title: "t", Input: `{}`, Output: `true`}}
		})
	}
	m := manifest("example.com/g", nil,
		with("a.b"), with("a_b.c"), with("handlers.examples"), with("examples.handlers"), with("programs.programs"), with("types_.x"),
		with("records.handlers.x"), with("records.examples.x"), with("x.types.y"), with("x.fake.y"), with("x.catalog.y"), with("context.context"), with("x.runtime.y"),
		with("func.func"), with("canon.canon"), with("slices.slices"), with("x.testing.y"), with("b.os"), with("string.error"))
	m.Programs = []*schema.Program{{Title: "a\nb", Source: "x\n\n//go:build ignore\n`\u202e`", Result: "1"}}
	files := generate(t, m)
	typecheck(t, m.Package, files)
	outline(t, files)
	if _, ok := files["fake/fake_gen_test.go"]; !ok {
		t.Error("no test is generated")
	}
	m.Programs = nil
	for _, c := range m.Capabilities {
		c.Examples = nil
	}
	for name := range generate(t, m) {
		if strings.HasPrefix(name, "fake/") {
			t.Errorf("%s without examples", name)
		}
	}
}
