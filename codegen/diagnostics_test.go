package codegen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/schema"
)

// at gives a model value a position, by its line.
func at(line int) schema.Position {
	return schema.Position{File: "m.yaml", Line: line, Column: 1}
}

func propAt(line int, p *schema.Property) *schema.Property {
	p.Pos = at(line)
	return p
}

func capAt(line int, c *schema.Capability) *schema.Capability {
	c.Pos = at(line)
	return c
}

func typeAt(line int, t *schema.Type) *schema.Type {
	t.Pos = at(line)
	return t
}

func named(line int, name string, t *schema.Type) *schema.NamedType {
	return &schema.NamedType{Name: name, Type: t, Pos: at(line)}
}

// failing declares errors, from line 10 on.
func failing(c *schema.Capability, codes ...string) *schema.Capability {
	for i, code := range codes {
		c.Errors = append(c.Errors, schema.DeclaredError{Code: code, Text: "It fails.", Pos: at(10 + i)})
	}
	return c
}

func programs(p ...*schema.Program) *schema.Manifest {
	m := manifest("example.com/g", nil, capability("a.b", object(), boolean()))
	m.Programs = p
	return m
}

// Two things that would have one Go name are a finding at the later one that
// points at the earlier. Each case is "line rule related-line".
func TestCollisions(t *testing.T) {
	empty := func() *schema.Type { return object() }
	for _, test := range []struct {
		name string
		m    *schema.Manifest
		want []string
	}{
		{"properties", manifest("example.com/g", nil, capability("a.b", object(propAt(3, required("user_id", str())), propAt(4, required("userId", str()))), boolean())),
			[]string{"4 go-name-collision 3"}},
		{"property and method", manifest("example.com/g", nil, capability("a.b", object(propAt(3, required("encode", str())), propAt(4, required("decode", str())), propAt(5, required("append_canonical", str()))), boolean())),
			[]string{"3 go-name-collision -", "4 go-name-collision -", "5 go-name-collision -"}},
		{"leaves", manifest("example.com/g", nil, capAt(3, capability("a.x_y", typeAt(4, empty()), typeAt(5, boolean()))), capAt(6, capability("a.x__y", typeAt(7, empty()), typeAt(8, boolean())))),
			[]string{"6 go-name-collision 3", "7 go-name-collision 4", "8 go-name-collision 5"}},
		{"nested type and capability", manifest("example.com/g", nil,
			capability("a.list", object(propAt(2, required("filter_input", typeAt(3, empty())))), typeAt(4, boolean())),
			capability("a.list_input_filter", typeAt(5, empty()), typeAt(6, boolean()))),
			[]string{"5 go-name-collision 3"}},
		{"enum constants", manifest("example.com/g", nil, capability("a.b", object(required("k", typeAt(3, enum("a-b", "a_b")))), boolean())),
			[]string{"3 go-name-collision 3"}},
		{"constant and type", manifest("example.com/g", nil,
			capability("a.b", object(required("k", typeAt(3, enum("x_output")))), boolean()),
			capability("a.b_input_k_x", object(), typeAt(4, boolean()))),
			[]string{"4 go-name-collision 3"}},
		{"types", manifest("example.com/g", []*schema.NamedType{named(2, "user_list", boolean()), named(3, "UserList", boolean())}),
			[]string{"3 go-name-collision 2", "3 go-name-collision 2"}},
		{"type files", manifest("example.com/g", []*schema.NamedType{named(2, "http_api", boolean()), named(3, "Httpapi", boolean())}),
			[]string{"3 go-name-collision 2"}},
		{"type and nested type", manifest("example.com/g", []*schema.NamedType{named(2, "Entry", object(required("owner", typeAt(3, empty())))), named(4, "EntryOwner", boolean())}),
			[]string{"4 go-name-collision 3"}},
		{"namespaces in the catalog", manifest("example.com/g", nil, capAt(2, capability("a_b.x", empty(), boolean())), capAt(3, capability("a.b.x", empty(), boolean()))),
			[]string{"3 go-name-collision 2"}},
		{"errors of a capability", manifest("example.com/g", nil, failing(capability("a.b", empty(), boolean()), "not_found", "not__found")),
			[]string{"11 go-name-collision 10"}},
		{"errors of two capabilities", manifest("example.com/g", nil, failing(capability("a.b", empty(), boolean()), "c_d"), failing(capability("a.b_c", empty(), boolean()), "d")),
			[]string{"10 go-name-collision 10"}},
		{"error and type", manifest("example.com/g", nil, failing(capability("a.b", empty(), boolean()), "input"), capability("a.err_b", typeAt(12, empty()), boolean())),
			[]string{"12 go-name-collision 10"}},
		{"handlers", manifest("example.com/g", nil, capability("a.handlers", empty(), boolean()), capability("a.register", empty(), boolean())), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			files, diags := codegen.Generate(test.m)
			if diff := cmp.Diff(test.want, brief(diags)); diff != "" {
				t.Errorf("(-want +got):\n%s%v", diff, diags)
			}
			if (files == nil) != (len(test.want) > 0) {
				t.Errorf("%d files beside %d findings", len(files), len(diags))
			}
			if files != nil {
				typecheck(t, test.m.Package, files)
			}
		})
	}
}

func brief(diags []schema.Diagnostic) []string {
	var out []string
	for _, d := range diags {
		related := "-"
		if d.Related != nil {
			related = fmt.Sprint(d.Related.Line)
		}
		out = append(out, fmt.Sprintf("%d %s %s", d.Line, d.Rule, related))
	}
	return out
}

// What schema.Load never returns is a finding all the same, not a panic and
// not code that does not compile.
func TestBadModels(t *testing.T) {
	self := &schema.NamedType{Name: "Self"}
	self.Type = object(optional("next", array(ref(self))))
	wide := func() []*schema.NamedType { // 3^10 fields once written out
		types := []*schema.NamedType{{Name: "T0", Type: object(required("a", str()))}}
		for i := range 10 {
			last := types[i]
			types = append(types, &schema.NamedType{Name: fmt.Sprintf("T%d", i+1), Type: object(required("a", ref(last)), required("b", ref(last)), required("c", ref(last)))})
		}
		return types
	}()
	deep := str()
	for range 40 {
		deep = array(deep)
	}
	var many []*schema.Property
	for i := range 257 {
		many = append(many, optional(fmt.Sprintf("p%d", i), boolean()))
	}
	one := func(input *schema.Type) *schema.Manifest {
		return manifest("example.com/g", nil, capability("a.b", input, boolean()))
	}
	for _, test := range []struct {
		rule string
		m    *schema.Manifest
	}{
		{"go-package", manifest("example.com/a b\"", nil)},
		{"go-package", manifest("", nil)},
		{"capability-name", manifest("example.com/g", nil, capability("a", object(), boolean()))},
		{"capability-name", manifest("example.com/g", nil, capability("a.B", object(), boolean()))},
		{"reserved-namespace", manifest("example.com/g", nil, capability("types.b", object(), boolean()))},
		{"reserved-namespace", manifest("example.com/g", nil, capability("a.internal.b", object(), boolean()))},
		{"reserved-namespace", manifest("example.com/g", nil, capability("a.con.b", object(), boolean()))},
		{"reserved-namespace", manifest("github.com/capgen/capgen", nil, capability("runtime.canon.b", object(), boolean()))},
		{"duplicate-capability", manifest("example.com/g", nil, capability("a.b", object(), boolean()), capability("a.b", object(), boolean()))},
		{"name-is-namespace", manifest("example.com/g", nil, capability("a.b", object(), boolean()), capability("a.b.c", object(), boolean()))},
		{"recursive-type", manifest("example.com/g", []*schema.NamedType{self}, capability("a.b", object(), ref(self)))},
		{"expanded-size", manifest("example.com/g", wide, capability("a.b", object(), ref(wide[10])))},
		{"nesting", one(object(required("x", deep)))},
		{"too-many-properties", one(object(many...))},
		{"property-name", one(object(required("a b", str())))},
		{"type-name", manifest("example.com/g", []*schema.NamedType{{Name: "a.b", Type: str()}})},
		{"input-kind", one(str())},
		{"incomplete", one(nil)},
		{"incomplete", one(object(required("x", &schema.Type{Kind: schema.Array})))},
		{"incomplete", one(object(required("x", ref(self))))},
		{"unknown-kind", one(object(required("x", &schema.Type{Kind: "blob"})))},
		{"enum-empty", one(object(required("x", str(func(t *schema.Type) { t.Enum, t.MinLength = []string{"a"}, 2 }))))},
		{"number-bound", one(object(required("x", number(func(t *schema.Type) { t.NumberMin = "1e999" }))))},
		{"text-utf8", one(object(required("x", str(func(t *schema.Type) { t.Description = "\xff" }))))},
		{"default-value", one(object(defaulted("x", str(), `1`)))},
		{"default-value", one(object(defaulted("x", integer(), `1.5`)))},
		{"default-value", one(object(defaulted("x", integer(), `9007199254740993`)))},
		{"default-value", one(object(defaulted("x", object(required("a", str())), `{}`)))},
		{"default-value", one(object(defaulted("x", object(), `{"a":1}`)))},
		{"default-value", one(object(defaulted("x", array(boolean()), `[1]`)))},
		{"default-value", one(object(defaulted("x", enum("a"), `"b"`)))},
		{"default-value", one(object(defaulted("x", str(), `"a" "b"`)))},
		{"default-value", one(object(defaulted("x", str(), `null`)))},
		{"default-value", one(object(defaulted("x", str(), `true`)))},
		{"default-value", one(object(defaulted("x", str(), `[]`)))},
		{"default-value", one(object(defaulted("x", str(), `{}`)))},
		{"default-value", one(object(defaulted("x", str(), `"a`)))},
		{"default-value", one(object(defaulted("x", array(array(str())), `[["a"],[1]]`)))},
		{"unknown-effect", manifest("example.com/g", nil, capability("a.b", object(), boolean(), func(c *schema.Capability) { c.Effect = "change" }))},
		{"too-many-errors", manifest("example.com/g", nil, failing(capability("a.b", object(), boolean()), make([]string, 33)...))},
		{"error-code", manifest("example.com/g", nil, failing(capability("a.b", object(), boolean()), "A"))},
		{"error-code", manifest("example.com/g", nil, failing(capability("a.b", object(), boolean()), "no_example"))},
		{"error-code", manifest("example.com/g", nil, failing(capability("a.b", object(), boolean()), strings.Repeat("a", 65)))},
		{"error-text", manifest("example.com/g", nil, capability("a.b", object(), boolean(), func(c *schema.Capability) { c.Errors = []schema.DeclaredError{{Code: "a"}} }))},
		{"error-text", manifest("example.com/g", nil, capability("a.b", object(), boolean(), func(c *schema.Capability) { c.Errors = []schema.DeclaredError{{Code: "a", Text: "b\nc"}} }))},
		{"text-utf8", manifest("example.com/g", nil, capability("a.b", object(), boolean(), func(c *schema.Capability) { c.Errors = []schema.DeclaredError{{Code: "a", Text: "\xff"}} }))},
		{"example-value", manifest("example.com/g", nil, capability("a.b", object(), boolean(), func(c *schema.Capability) {
			c.Examples = []*schema.Example{{Title: "t", Input: `{"x":1}`, Output: `true`, Error: ""}}
		}))},
		{"example-value", manifest("example.com/g", nil, capability("a.b", object(), boolean(), func(c *schema.Capability) {
			c.Examples = []*schema.Example{{Title: "t", Input: `[]`, Output: `true`, Error: ""}}
		}))},
		{"example-value", manifest("example.com/g", nil, capability("a.b", object(), boolean(), func(c *schema.Capability) {
			c.Examples = []*schema.Example{{Title: "t", Input: `{`, Output: `true`, Error: ""}}
		}))},
		{"example-value", manifest("example.com/g", nil, capability("a.b", object(), boolean(), func(c *schema.Capability) {
			c.Examples = []*schema.Example{{Title: "t", Input: `{}`, Output: ``, Error: ""}}
		}))},
		{"example-value", manifest("example.com/g", nil, capability("a.b", object(), boolean(), func(c *schema.Capability) {
			c.Examples = []*schema.Example{{Title: "t", Input: `{}`, Output: ``, Error: "A b"}}
		}))},
		{"example-value", manifest("example.com/g", nil, capability("a.b", object(), &schema.Type{Kind: schema.Int64, Maximum: 9}, func(c *schema.Capability) { c.Examples = []*schema.Example{{Title: "t", Input: `{}`, Output: `"x"`}} }))},
		{"text-utf8", manifest("example.com/g", nil, capability("a.b", object(), boolean(), func(c *schema.Capability) {
			c.Examples = []*schema.Example{{Title: "\xff", Input: `{}`, Output: `true`}}
		}))},
		{"program", programs(&schema.Program{Title: "t", Result: "1"})},
		{"program", programs(&schema.Program{Title: "t", Source: "x", Result: "1 2"})},
		{"text-utf8", programs(&schema.Program{Title: "t", Source: "x\xff", Result: "1"})},
		{"id", manifest("example.com/g", nil, capability("a.b", object(), boolean(), func(c *schema.Capability) { c.ID = strings.Repeat("x", 257) }))},
	} {
		t.Run(test.rule, func(t *testing.T) {
			files, diags := codegen.Generate(test.m)
			if files != nil || len(diags) == 0 || diags[0].Rule != test.rule {
				t.Errorf("%d files, findings %v", len(files), diags)
			}
		})
	}
}
