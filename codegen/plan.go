package codegen

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/capgen/capgen/schema"
)

// The import paths that generated code refers to.
const (
	runtimePath = "github.com/capgen/capgen/runtime"
	canonPath   = "github.com/capgen/capgen/runtime/canon"
)

// plan is a manifest with every Go name resolved. Emitters decide nothing.
type plan struct {
	pkg        string // import path of the generated root
	server     schema.Server
	namespaces []*namespace
	types      []*namedType
	fake       *fake
	builds     *builds
	runs       bool // the manifest has a run, in this build or another
}

// namespace is one generated package.
type namespace struct {
	name         string // a.b
	dir          string // a/b
	pkg          string // package clause
	alias        string // import name in the catalog
	field        string // in the catalog's Handlers
	capabilities []*capability
	service      bool // something of it goes through the service
	runs         bool // something of it is a run
}

// capability is one file of a namespace.
type capability struct {
	*schema.Capability
	file          string
	held          buildSet
	constraint    string // of its file; empty for none
	method        string // of Handlers
	constructor   string
	pkgPath       string // of its namespace
	input, output *goType
	decls         []*decl
	pages         *pager // nil for none
	errors        []declaredError
	of            *governed // nil for what is no part
}

// family tells whether every manifest with an approval has c alike.
func (c *capability) family() bool { return c.Step != "" && c.of == nil }

// namedType is one file of package types.
type namedType struct {
	file       string
	constraint string // of the file; empty for none
	decls      []*decl
}

// decl is one declared Go type.
type decl struct {
	name string
	// lead is the first sentence of its doc comment, text the manifest's.
	lead, text string
	// root declarations have all three methods, others only those that their
	// kind needs.
	root   bool
	object bool
	// recursive declarations may hold themselves.
	recursive bool
	fields    []*field // of an object, in declaration order
	// union is what a declaration of one is made of; marker is the method of
	// a variant.
	union  *union
	marker string
	// under is what any other declaration is defined as.
	under  *goType
	consts []constant
	// open constants are those known now.
	open     bool
	patterns []pattern
}

// field is one property of an object.
type field struct {
	name     string // Go
	member   string // JSON
	text     string
	typ      *goType
	required bool
	// deprecated is told in the comment.
	deprecated bool
	// fixed is the text of the value that the manifest sets, told as well.
	fixed string
	def   jen.Code // an expression; nil for none
}

// optional fields may be absent after decoding.
func (f *field) optional() bool { return !f.required && f.def == nil }

// constant is one value of an enum.
type constant struct{ name, value string }

// pattern is a package-level canon.Pattern.
type pattern struct{ name, expr string }

// form is how a value is declared, read and written.
type form int

const (
	scalar form = iota // r.Op(args…)
	array
	named    // has Decode and Encode
	nullable // canon.Nullable of items
	mapping  // of strings to items
)

// goType is one schema type at one place.
type goType struct {
	form form
	// basic is the predeclared type of a scalar.
	basic string
	// name is the declared type, or of a scalar the enum it is converted to;
	// empty for none. pkg is its import path.
	name, pkg string
	// pointer tells that the place holds a pointer to a named type.
	pointer bool
	// op is the method of Reader and Writer that handles a scalar; args are
	// the Go expressions of its bounds, or those of an array.
	op   string
	args []string
	// checks follow op, on readers and writers alike.
	checks []check
	items  *goType
	// unique items of an array differ.
	unique bool
	// keyArgs and keyChecks are the bounds of a map's keys.
	keyArgs   []string
	keyChecks []check
	// pattern is what a check refers to; its name is empty for none.
	pattern pattern
}

// check is one call r.Method(value, Arg), with value as a float64 or not.
type check struct {
	method, arg string
	float       bool
}

// planner gathers names and resolves them.
type planner struct {
	pkg   string
	diags []schema.Diagnostic
	// typeNames are the Go names of the manifest's types.
	typeNames map[*schema.NamedType]string
	// known are the manifest's types; sizes are their measured ones.
	known map[*schema.NamedType]bool
	sizes map[*schema.NamedType]int
	// builds are set once they are known to be good.
	builds *builds
}

func newPlan(m *schema.Manifest) (*plan, []schema.Diagnostic) {
	p := &planner{
		pkg:       m.Package,
		typeNames: map[*schema.NamedType]string{},
		known:     map[*schema.NamedType]bool{},
		sizes:     map[*schema.NamedType]int{},
	}
	p.checkPackage(m.Package)
	p.checkDeployments(m)
	p.checkTexts(schema.Position{}, m.Server.Name, m.Server.Title, m.Server.Version, m.Server.Instructions)
	caps := slices.SortedFunc(slices.Values(m.Capabilities), func(a, b *schema.Capability) int { return cmp.Compare(a.Name, b.Name) })
	p.checkModel(m.Types, caps)
	p.checkPrograms(m.Programs)
	p.checkGoverned(m)
	if len(p.diags) > 0 {
		return nil, p.diags
	}
	out := &plan{pkg: m.Package, server: m.Server, builds: p.builds, runs: slices.ContainsFunc(caps, func(c *schema.Capability) bool { return c.Run != nil })}
	out.types = p.planTypes(m.Types, p.builds.typeSets(m))
	out.namespaces = p.planNamespaces(caps)
	out.fake = planFake(m, p.builds)
	p.checkAbsent(m)
	return out, p.diags
}

func (p *planner) fail(pos schema.Position, rule, hint, format string, args ...any) {
	p.diags = append(p.diags, schema.Diagnostic{
		Position: pos, Severity: schema.SeverityError, Rule: rule,
		Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

func (p *planner) typesPath() string { return path.Join(p.pkg, "types") }

func (p *planner) planTypes(types []*schema.NamedType, held map[*schema.NamedType]buildSet) []*namedType {
	scope := newScope("package types", &p.diags)
	files := newScope("directory types", &p.diags)
	for _, t := range types {
		p.typeNames[t] = goName(t.Name)
		scope.claim(goName(t.Name), "type "+t.Name, t.Pos)
		files.claim(snake(goName(t.Name))+"_gen.go", "type "+t.Name, t.Pos)
	}
	var out []*namedType
	for _, t := range types {
		name := p.typeNames[t]
		b := &builder{planner: p, scope: scope, pkg: p.typesPath()}
		b.root(name, "the manifest's type "+t.Name, t.Type)
		b.decls[0].recursive = t.Recursive
		out = append(out, &namedType{file: "types/" + snake(name) + "_gen.go", constraint: p.builds.constraint(held[t]), decls: b.decls})
	}
	return out
}

func (p *planner) planNamespaces(caps []*schema.Capability) []*namespace {
	var out []*namespace
	scopes := map[string]*scope{}
	fields := newScope("the catalog's Handlers", &p.diags)
	// What the catalog has beside imports; declare is there with tags only.
	aliases := map[string]bool{"runtime": true, "b": true, "h": true, "declare": p.builds.tagged}
	if slices.ContainsFunc(caps, func(c *schema.Capability) bool { return c.Step != "" }) {
		aliases["govern"] = true
		aliases["wire"] = aliases["wire"] || slices.ContainsFunc(caps, func(c *schema.Capability) bool { return c.Run != nil })
		fields.reserve("the service of what people approve", governField)
	}
	planned := map[*schema.Capability]*governed{}
	for _, c := range caps {
		ns, leaf := c.Namespace(), c.Leaf()
		if c.Of != nil {
			ns, leaf = c.Of.Namespace(), c.Of.Leaf() // a part is its capability's, in Go
		}
		s := scopes[ns]
		if s == nil {
			n := newNamespace(ns, aliases)
			fields.claim(n.field, "namespace "+ns, c.Pos)
			s = newScope("package "+n.dir, &p.diags)
			// Handlers and Register need no claim: names that are made of the
			// manifest end in Input, Output, Pages, Capability or Pattern, or begin
			// with such a name.
			scopes[ns] = s
			out = append(out, n)
		}
		n := out[slices.IndexFunc(out, func(n *namespace) bool { return n.name == ns })]
		switch {
		case c.Of != nil:
			if planned[c.Of] == nil {
				planned[c.Of] = p.planGoverned(c.Of, n, leaf, s)
			}
			n.capabilities = append(n.capabilities, p.planPart(c, planned[c.Of], n, s))
		case c.Step != "":
			n.capabilities = append(n.capabilities, p.planFamily(c, n, s))
		default:
			n.capabilities = append(n.capabilities, p.planCapability(c, n, leaf, s))
		}
		n.service = n.service || c.Step != ""
		n.runs = n.runs || c.Step == schema.StepStart
	}
	return out
}

func newNamespace(name string, aliases map[string]bool) *namespace {
	segments := strings.Split(name, ".")
	return &namespace{
		name:  name,
		dir:   strings.Join(segments, "/"),
		pkg:   packageName(segments[len(segments)-1]),
		alias: namespaceAlias(name, aliases),
		field: goName(name),
	}
}

func (p *planner) planCapability(c *schema.Capability, n *namespace, leaf string, s *scope) *capability {
	name := goName(leaf)
	out := &capability{Capability: c, file: n.dir + "/" + leaf + "_gen.go", method: name, constructor: unexported(name) + "Capability", pkgPath: path.Join(p.pkg, n.dir)}
	out.held = p.builds.held[c]
	out.constraint = p.builds.constraint(out.held)
	s.claim(out.constructor, "capability "+c.Name, c.Pos)
	b := &builder{planner: p, scope: s, pkg: path.Join(p.pkg, n.dir)}
	out.input = b.rootOrReference(name+"Input", "the input of "+c.Name, c.Input)
	out.output = b.rootOrReference(name+"Output", "the output of "+c.Name, c.Output)
	out.decls = b.decls
	out.pages = p.planPages(c, n, name, s)
	out.errors = p.planErrors(c, name, s)
	return out
}
