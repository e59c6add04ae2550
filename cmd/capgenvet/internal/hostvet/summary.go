package hostvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// summary is what reach knows of one package.
type summary struct {
	*graph
	directives  *directives
	initialized []privilegedPackage // with this package, for which nobody vouches
	handlers    []handler           // that this package makes
	// skipped is a package of the standard library, or of no code.
	skipped bool
}

// collect reads a package, and exports the facts about it.
func collect(pass *analysis.Pass) (*summary, error) {
	if standard(pass) || strings.HasSuffix(pass.Pkg.Path(), ".test") { // the main that go test writes
		return &summary{skipped: true, directives: &directives{}}, nil
	}
	s := &summary{directives: &directives{}}
	if ours(pass) {
		s.directives = readDirectives(pass)
	}
	s.graph = newGraph(pass)
	s.silence()
	s.settle()
	s.exportFunctions()
	s.exportInitialization()
	s.findHandlers()
	s.exportEntry()
	return s, nil
}

// standard: the table says what the standard library does.
func standard(pass *analysis.Pass) bool {
	if pass.Module != nil && pass.Module.Path != "" {
		return false
	}
	first, _, _ := strings.Cut(pass.Pkg.Path(), "/")
	return !strings.Contains(first, ".") && pass.Pkg.Name() != "main" && !strings.HasPrefix(first, "command-line-arguments")
}

// ours: comments of a dependency do not excuse it, except those of capgen, to
// which a host trusts its workers anyway.
func ours(pass *analysis.Pass) bool {
	return pass.Module == nil || pass.Module.Version == "" || pass.Module.Path == module
}

// modulePath is empty where there are no modules.
func modulePath(pass *analysis.Pass) string {
	if pass.Module == nil {
		return ""
	}
	return pass.Module.Path
}

// silence gives each site what comments answer there.
func (s *summary) silence() {
	if len(s.directives.all) == 0 {
		return
	}
	for _, n := range s.order {
		for _, site := range n.sites {
			at := s.pass.Fset.Position(site.pos)
			for _, d := range s.directives.all {
				k := silenced(d.rule)
				if d.dependency != "" || k == 0 || d.line != at.Line || d.file != at.Filename {
					continue
				}
				site.silenced |= k
				site.answers = append(site.answers, answer{k, d})
			}
		}
	}
}

// settle follows the references until nothing new is reached. Shortest ways
// come first, in the order of the source.
func (s *summary) settle() {
	for i, k := range kinds {
		var reached []*node
		for _, n := range s.order {
			for _, site := range n.sites {
				t := site.own(k)
				if t == nil {
					continue
				}
				if site.silenced&k != 0 {
					site.answered(k)
				} else if n.traces[i] == nil {
					n.traces[i] = t
					reached = append(reached, n)
				}
			}
		}
		callers := s.callers(k)
		for len(reached) > 0 {
			n := reached[0]
			reached = reached[1:]
			for _, c := range callers[n] {
				if c.site.silenced&k != 0 {
					c.site.answered(k)
				} else if c.by.traces[i] == nil {
					t := *n.traces[i]
					if n.fn.Object() != nil {
						t = t.from(name(n.fn.Object().(*types.Func)))
					}
					c.by.traces[i] = &t
					reached = append(reached, c.by)
				}
			}
		}
	}
}

type caller struct {
	by   *node
	site *site
}

func (s *summary) callers(k kind) map[*node][]caller {
	out := map[*node][]caller{}
	for _, n := range s.order {
		for _, site := range n.sites {
			if site.follows(k) {
				out[site.to] = append(out[site.to], caller{n, site})
			}
		}
	}
	return out
}

// follows tells whether a kind is reached through the site's function. What
// does not run here does not run while a package is initialized.
func (s *site) follows(k kind) bool { return s.to != nil && (s.called || k != privileged) }

// own is the trace of a kind that ends here or in another package.
func (s *site) own(k kind) *trace {
	for i := range s.found {
		if s.found[i].Kind == k {
			return &s.found[i]
		}
	}
	return nil
}

func (s *site) answered(k kind) {
	for _, a := range s.answers {
		if a.kind == k {
			a.directive.used = true
		}
	}
}

// trace is what a node reaches of a kind, nil if nothing.
func (n *node) trace(k kind) *trace { return n.traces[slices.Index(kinds[:], k)] }

// ends calls yield for each site at which something of kind k begins that
// root reaches inside of this package.
func (s *summary) ends(root *node, k kind, yield func(pos token.Pos, t trace)) {
	seen := map[*node]bool{}
	var visit func(n *node)
	visit = func(n *node) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, site := range n.sites {
			if site.silenced&k != 0 {
				continue
			}
			if t := site.own(k); t != nil {
				yield(site.pos, *t)
			}
			if site.follows(k) {
				visit(site.to)
			}
		}
	}
	visit(root)
}

func (s *summary) exportFunctions() {
	for _, n := range s.order {
		fn, ok := n.fn.Object().(*types.Func)
		if !ok || fn.Pkg() != s.pass.Pkg {
			continue
		}
		var fact reaches
		for _, t := range n.traces {
			if t != nil {
				fact.Traces = append(fact.Traces, *t)
			}
		}
		if len(fact.Traces) > 0 {
			s.pass.ExportObjectFact(fn, &fact)
		}
	}
}

// initNode is the initialization of the package, init functions included.
func (s *summary) initNode() *node { return s.order[0] }

// exportInitialization joins what the imports say with the package itself.
// Imports of test files are not linked into a host.
func (s *summary) exportInitialization() {
	all := map[string]privilegedPackage{}
	for _, file := range s.pass.Files {
		if s.isTest(file) {
			continue
		}
		for _, p := range s.pass.Pkg.Imports() {
			var fact initialization
			if imports(file, p.Path()) && s.pass.ImportPackageFact(p, &fact) {
				for _, dependency := range fact.Packages {
					if !s.directives.vouched(dependency.Path) {
						all[dependency.Path] = dependency
					}
				}
			}
		}
	}
	if t := s.initNode().trace(privileged); t != nil {
		all[s.pass.Pkg.Path()] = privilegedPackage{s.pass.Pkg.Path(), modulePath(s.pass), *t}
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		s.initialized = append(s.initialized, all[path])
	}
	if len(all) > 0 {
		s.pass.ExportPackageFact(&initialization{s.initialized})
	}
}

func (s *summary) isTest(file *ast.File) bool {
	return strings.HasSuffix(s.pass.Fset.Position(file.FileStart).Filename, "_test.go")
}

func imports(file *ast.File, path string) bool {
	return slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool { return strings.Trim(spec.Path.Value, "`\"") == path })
}

// nodeOf is the node of a declared function of this package.
func (s *summary) nodeOf(fn *types.Func) *node { return s.nodes[s.prog.FuncValue(fn.Origin())] }

// literal is the node of a function literal.
func (s *summary) literal(lit *ast.FuncLit) *node {
	for _, n := range s.order {
		if n.fn.Syntax() == lit {
			return n
		}
	}
	return nil
}

// conversions calls yield for each conversion of a value to an interface.
func (s *summary) conversions(yield func(n *node, pos token.Pos, c *ssa.MakeInterface)) {
	for _, n := range s.order {
		for _, block := range live(n.fn) {
			for i, instruction := range block.Instrs {
				if c, ok := instruction.(*ssa.MakeInterface); ok {
					yield(n, position(block, i), c)
				}
			}
		}
	}
}
