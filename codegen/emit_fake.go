package codegen

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/capgen/capgen/schema"
)

const examplesPath = "github.com/capgen/capgen/runtime/examples"

// fake is package fake of the generated root; nil where the manifest has
// neither examples nor programs.
type fake struct {
	programs []*schema.Program
	// held are the builds with everything that a program mentions.
	held []buildSet
}

func planFake(m *schema.Manifest, b *builds) *fake {
	hasExamples := func(c *schema.Capability) bool { return len(c.Examples) > 0 }
	if len(m.Programs) == 0 && !slices.ContainsFunc(m.Declared(), hasExamples) {
		return nil
	}
	out := &fake{programs: m.Programs}
	known := b.mentionable(m.Capabilities)
	for _, program := range m.Programs {
		s := b.all()
		for _, c := range known.mentioned(program.Title, program.Source, program.Result) {
			s &= b.held[c]
		}
		out.held = append(out.held, s)
	}
	return out
}

// fakeVariants are the forms of what lists namespaces and programs.
func (p *plan) fakeVariants() []planVariant {
	return p.variantsWith(p.fake.held)
}

// checkPrograms refuses what could not be written.
func (p *planner) checkPrograms(programs []*schema.Program) {
	for _, program := range programs {
		p.checkTexts(program.Pos, program.Title, program.Source, program.Result)
		if _, err := parseJSON(program.Result); err != nil || program.Source == "" {
			p.fail(program.Pos, "program", "", "the program %s has no source, or its result is no JSON", strconv.Quote(program.Title))
		}
	}
}

// fakeNames are the names that package fake has for a namespace: what answers
// its capabilities, and the list of its examples. Both are made of the field
// in the catalog's Handlers, which no other namespace has, and have capitals,
// which no package name has.
func (n *namespace) fakeNames() (handlers, examples string) {
	field := unexported(n.field)
	return field + "Handlers", field + "Examples"
}

func (p *plan) fakePath() string { return path.Join(p.pkg, "fake") }

func (p *plan) fakeNamespaceFile(n *namespace) *jen.File {
	alias := namespaceAlias(n.pkg, map[string]bool{"context": true, "types": true, "examples": true})
	imports := p.typesImport()
	imports[path.Join(p.pkg, n.dir)] = alias
	imports[examplesPath] = "examples"
	f := file(p.fakePath(), "fake", imports)
	handlers, examples := n.fakeNames()
	if !n.handled() {
		emitExamples(f, n, examples) // of none
		return f
	}
	f.Comment("// " + handlers + " answer the capabilities of " + n.name + ".")
	f.Type().Id(handlers).Struct()
	f.Line()
	for _, c := range n.capabilities {
		switch {
		case c.of == nil && c.Step == "":
			emitFakeMethod(f, c, handlers, examples)
		case c.of != nil && c.Step == schema.StepPrepare:
			emitRehearsedMethods(f, c.of, handlers)
		}
	}
	emitExamples(f, n, examples)
	return f
}

// emitFakeMethod
//
//	func (recordsHandlers) Lookup(_ context.Context, in records.LookupInput) (types.Record, error) {
//		return examples.Answer[types.Record](recordsExamples(), "records.lookup", &in)
//	}
func emitFakeMethod(f *jen.File, c *capability, handlers, examples string) {
	f.Func().Params(jen.Id(handlers)).Id(c.method).
		Params(jen.Id("_").Qual("context", "Context"), jen.Id("in").Add(typeExpr(c.input))).
		Params(typeExpr(c.output), jen.Error()).
		Block(jen.Return(jen.Qual(examplesPath, "Answer").Types(typeExpr(c.output)).Call(jen.Id(examples).Call(), text(c.Name), jen.Op("&").Id("in"))))
	f.Line()
}

// emitExamples
//
//	func recordsExamples() []examples.Capability {
//		return []examples.Capability{
//			{Name: "records.lookup", Examples: []examples.Example{
//				{
//					Title: "One record",
//					…
//				},
//			}},
//		}
//	}
func emitExamples(f *jen.File, n *namespace, name string) {
	var all []jen.Code
	for _, c := range n.capabilities {
		if c.of != nil && c.Step == schema.StepPrepare {
			c = c.of.shown()
		}
		if len(c.Examples) == 0 {
			continue
		}
		var list []jen.Code
		for _, e := range c.Examples {
			list = append(list, multiline("{", "}", exampleMembers(c, e)))
		}
		all = append(all, jen.Values(
			jen.Id("Name").Op(":").Add(text(c.Name)),
			jen.Id("Examples").Op(":").Index().Qual(examplesPath, "Example").Add(multiline("{", "}", list)),
		))
	}
	f.Func().Id(name).Params().Index().Qual(examplesPath, "Capability").BlockFunc(func(g *jen.Group) {
		if len(all) == 0 {
			g.Return(jen.Nil())
			return
		}
		g.Return(jen.Index().Qual(examplesPath, "Capability").Add(multiline("{", "}", all)))
	})
}

func exampleMembers(c *capability, e *schema.Example) []jen.Code {
	// checkExamples has refused what neither of the two can write.
	call, _ := exampleCall(c.Capability, e)
	if c.Approval != nil {
		call = landingCall(c, call)
	}
	out := []jen.Code{
		jen.Id("Title").Op(":").Add(text(e.Title)),
		jen.Id("Call").Op(":").Add(text(call)),
		jen.Id("Arguments").Op(":").Add(text(e.Input)),
	}
	if e.Error != "" {
		i := 0
		for i < len(c.errors)-1 && c.errors[i].code != e.Error {
			i++
		}
		return append(out, jen.Id("Error").Op(":").Qual(c.pkgPath, c.errors[i].name))
	}
	out = append(out, jen.Id("Output").Op(":").Add(text(e.Output)))
	if result, _ := resultJSON(c.Capability, e); result != jsonForm(e.Output) {
		out = append(out, jen.Id("Result").Op(":").Add(text(result)))
	}
	return out
}

// jsonForm is a canonical text as resultJSON would write it if it changed
// nothing.
func jsonForm(canonical string) string {
	v, err := parseJSON(canonical)
	if err != nil {
		return canonical
	}
	return jsonText(v)
}

// fakeFile
//
//	func Handlers() catalog.Handlers { … }
//	func Examples() []examples.Capability { … }
//	func Programs() []examples.Program { … }
func (p *plan) fakeFile() *jen.File {
	catalog := path.Join(p.pkg, "catalog")
	f := file(p.fakePath(), "fake", map[string]string{catalog: "catalog", examplesPath: "examples"})
	f.PackageComment("// Package fake answers every capability from the examples of the manifest. It")
	f.PackageComment("// is for tests and trials: nothing imports it but what wants that.")
	emitRuntimeCheck(f)
	f.Comment("// Handlers answer a call with the outcome of the example that has its")
	f.Comment("// arguments, and without one fail with runtime.CodeNoExample.")
	f.Func().Id("Handlers").Params().Qual(catalog, "Handlers").Block(
		jen.Return(jen.Qual(catalog, "Handlers").Add(multiline("{", "}", p.fakeFields()))),
	)
	f.Line()
	f.Comment("// Examples are those of the manifest.")
	f.Func().Id("Examples").Params().Index().Qual(examplesPath, "Capability").BlockFunc(func(g *jen.Group) {
		if len(p.namespaces) == 0 {
			g.Return(jen.Nil())
			return
		}
		g.Return(jen.Qual("slices", "Concat").CallFunc(func(g *jen.Group) {
			for _, n := range p.namespaces {
				_, examples := n.fakeNames()
				g.Id(examples).Call()
			}
		}))
	})
	f.Line()
	f.Comment("// Programs are the whole programs of the manifest.")
	f.Func().Id("Programs").Params().Index().Qual(examplesPath, "Program").BlockFunc(func(g *jen.Group) {
		if len(p.fake.programs) == 0 {
			g.Return(jen.Nil())
			return
		}
		g.Return(jen.Index().Qual(examplesPath, "Program").Add(multiline("{", "}", p.programs())))
	})
	return f
}

func (p *plan) fakeFields() []jen.Code {
	var fields []jen.Code
	for _, n := range p.namespaces {
		if n.handled() {
			handlers, _ := n.fakeNames()
			fields = append(fields, jen.Id(n.field).Op(":").Id(handlers).Values())
		}
	}
	if p.governed() {
		fields = append(fields, rehearsal())
	}
	return fields
}

func (p *plan) programs() []jen.Code {
	var out []jen.Code
	for _, program := range p.fake.programs {
		out = append(out, multiline("{", "}", []jen.Code{
			jen.Id("Title").Op(":").Add(text(program.Title)),
			jen.Id("Source").Op(":").Add(lines(program.Source)),
			jen.Id("Result").Op(":").Add(text(program.Result)),
		}))
	}
	return out
}

// lines is text with a line of code for each of its lines, so that a diff of
// it reads.
//
//	"def main():\n" +
//		"    return 1\n"
func lines(s string) jen.Code {
	var out *jen.Statement
	for line := range strings.Lines(s) {
		if out == nil {
			out = jen.Add(text(line))
			continue
		}
		out = out.Op("+").Line().Add(text(line))
	}
	return out
}

// fakeTestFile
//
//	func TestExamples(t *testing.T) {
//		register := func(b *runtime.Builder) { catalog.Register(b, fake.Handlers()) }
//		for name, err := range examples.Run(t.Context(), register, fake.Examples(), fake.Programs()) {
//			t.Run(name, func(t *testing.T) {
//				if err != nil {
//					t.Error(err)
//				}
//			})
//		}
//	}
func (p *plan) fakeTestFile() *jen.File {
	catalog := path.Join(p.pkg, "catalog")
	f := file(p.fakePath()+"_test", "fake_test", map[string]string{
		catalog: "catalog", p.fakePath(): "fake", examplesPath: "examples", "testing": "testing", "os": "os",
	})
	test := jen.Id("t").Op("*").Qual("testing", "T")
	f.Comment("// A test that builds a server starts workers, and a worker is this binary.")
	f.Func().Id("TestMain").Params(jen.Id("m").Op("*").Qual("testing", "M")).Block(
		jen.Qual(runtimePath, "ServeWorkerAndExit").Call(),
		jen.Qual("os", "Exit").Call(jen.Id("m").Dot("Run").Call()),
	)
	f.Line()
	f.Comment("// Every example and program of the manifest gives what the manifest says, on")
	f.Comment("// the way of a client's program.")
	f.Func().Id("TestExamples").Params(test).Block(
		jen.Id("register").Op(":=").Func().Params(jen.Id("b").Op("*").Qual(runtimePath, "Builder")).Block(
			jen.Qual(catalog, "Register").Call(jen.Id("b"), jen.Qual(p.fakePath(), "Handlers").Call()),
		),
		jen.For(jen.List(jen.Id("name"), jen.Err()).Op(":=").Range().Qual(examplesPath, "Run").Call(
			jen.Id("t").Dot("Context").Call(), jen.Id("register"), jen.Qual(p.fakePath(), "Examples").Call(), jen.Qual(p.fakePath(), "Programs").Call(),
		)).Block(
			jen.Id("t").Dot("Run").Call(jen.Id("name"), jen.Func().Params(test).Block(
				jen.If(jen.Err().Op("!=").Nil()).Block(jen.Id("t").Dot("Error").Call(jen.Err())),
			)),
		),
	)
	return f
}
