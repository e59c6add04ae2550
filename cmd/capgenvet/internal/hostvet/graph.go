package hostvet

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path/filepath"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// node is one function of the package: declared, literal, or the
// initialization as a whole.
type node struct {
	fn     *ssa.Function
	sites  []*site
	traces [len(kinds)]*trace // what it reaches, by kind; the summary fills it
}

// site is a place in a function that reaches something by itself, through a
// function of another package, or through one of this package.
type site struct {
	pos token.Pos
	// found are traces that end here, or in another package.
	found []trace
	// to is the function of this package, and called tells that it runs here:
	// it may else run later, or never.
	to     *node
	called bool
	// silenced are the kinds that comments answer.
	silenced kind
	answers  []answer // by the comments
}

type answer struct {
	kind      kind
	directive *directive
}

// graph builds the nodes of a package.
type graph struct {
	pass  *analysis.Pass
	known known
	prog  *ssa.Program
	nodes map[*ssa.Function]*node
	order []*node
}

func newGraph(pass *analysis.Pass) *graph {
	g := &graph{pass: pass, known: newKnown(), nodes: map[*ssa.Function]*node{}}
	g.prog = ssa.NewProgram(pass.Fset, 0)
	for _, p := range pass.Pkg.Imports() {
		g.prog.CreatePackage(p, nil, nil, true)
	}
	pkg := g.prog.CreatePackage(pass.Pkg, pass.Files, pass.TypesInfo, false)
	pkg.Build()

	g.add(pkg.Func("init"))
	for _, file := range pass.Files {
		for _, d := range file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				if fn, ok := pass.TypesInfo.Defs[d.Name].(*types.Func); ok {
					g.add(g.prog.FuncValue(fn))
				}
			}
		}
	}
	for _, n := range g.order {
		g.read(n)
	}
	return g
}

// live are the blocks of a function that may run: not those after a condition
// that is a constant, as in if debug { … }, or of another system.
func live(fn *ssa.Function) []*ssa.BasicBlock {
	if len(fn.Blocks) == 0 {
		return nil
	}
	seen := make([]bool, len(fn.Blocks))
	var visit func(b *ssa.BasicBlock)
	visit = func(b *ssa.BasicBlock) {
		if seen[b.Index] {
			return
		}
		seen[b.Index] = true
		next := b.Succs
		if branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If); ok {
			if c, ok := branch.Cond.(*ssa.Const); ok && c.Value != nil {
				if constant.BoolVal(c.Value) {
					next = next[:1]
				} else {
					next = next[1:]
				}
			}
		}
		for _, b := range next {
			visit(b)
		}
	}
	visit(fn.Blocks[0])
	if fn.Recover != nil {
		visit(fn.Recover)
	}
	var out []*ssa.BasicBlock
	for _, b := range fn.Blocks {
		if seen[b.Index] {
			out = append(out, b)
		}
	}
	return out
}

// add adds a function and the literals in it.
func (g *graph) add(fn *ssa.Function) {
	if fn == nil || g.nodes[fn] != nil {
		return
	}
	n := &node{fn: fn}
	g.nodes[fn] = n
	g.order = append(g.order, n)
	for _, literal := range fn.AnonFuncs {
		g.add(literal)
	}
}

// read finds the sites of a function.
func (g *graph) read(n *node) {
	var operands []*ssa.Value
	for _, block := range live(n.fn) {
		for i, instruction := range block.Instrs {
			pos := position(block, i)
			var callee *ssa.Function
			if call, ok := instruction.(ssa.CallInstruction); ok {
				if callee = call.Common().StaticCallee(); callee != nil {
					g.reference(n, pos, callee, call.Common().Args, true)
				}
				if _, ok := instruction.(*ssa.Go); ok {
					g.found(n, pos, privileged, "a goroutine")
				}
			}
			operands = instruction.Operands(operands[:0])
			for _, operand := range operands {
				switch v := (*operand).(type) {
				case *ssa.Function:
					if v != callee {
						_, body := v.Syntax().(*ast.RangeStmt) // of a range over a function
						g.reference(n, pos, v, nil, body)
					}
				case *ssa.Global:
					if v.Pkg != nil && v.Pkg.Pkg.Path() == "os" && v.Name() == "Stdout" && writesTo(instruction) {
						g.found(n, pos, privileged|prints, "os.Stdout")
					}
				}
			}
			if store, ok := instruction.(*ssa.Store); ok {
				if what := unsafeRequest(store); what != 0 {
					g.found(n, pos, what, "http.Request.Method")
				}
			}
			if conversion, ok := instruction.(*ssa.MakeInterface); ok {
				for _, method := range methodsOf(conversion) {
					g.object(n, pos, method, nil, false)
				}
			}
		}
	}
}

// reference is to a function: called here, or its value taken.
func (g *graph) reference(n *node, pos token.Pos, fn *ssa.Function, args []ssa.Value, called bool) {
	if to := g.nodes[fn]; to != nil && fn.Object() == nil { // a literal, or init
		n.sites = append(n.sites, &site{pos: pos, to: to, called: called})
		return
	}
	if method, ok := fn.Object().(*types.Func); ok { // also behind wrappers
		g.object(n, pos, method, args, called)
	}
}

// object is a reference to a declared function.
func (g *graph) object(n *node, pos token.Pos, fn *types.Func, args []ssa.Value, called bool) {
	fn = fn.Origin()
	if what := g.known.ofCall(fn, args); what != 0 {
		if !called {
			what &^= privileged
		}
		g.found(n, pos, what, name(fn))
		return
	}
	if to := g.nodes[g.prog.FuncValue(fn)]; to != nil {
		n.sites = append(n.sites, &site{pos: pos, to: to, called: called})
		return
	}
	var fact reaches
	if fn.Pkg() == g.pass.Pkg || fn.Pkg() == nil || !g.pass.ImportObjectFact(fn, &fact) {
		return
	}
	s := &site{pos: pos}
	for _, t := range fact.Traces {
		if called || t.Kind != privileged {
			s.found = append(s.found, t.from(name(fn)))
		}
	}
	if len(s.found) > 0 {
		n.sites = append(n.sites, s)
	}
}

func (g *graph) found(n *node, pos token.Pos, what kind, text string) {
	at := g.pass.Fset.Position(pos)
	s := &site{pos: pos}
	for _, k := range kinds {
		if what&k != 0 {
			s.found = append(s.found, trace{Kind: k, What: text, At: fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)})
		}
	}
	n.sites = append(n.sites, s)
}

// name is a function as a reader of the code knows it: os.Open,
// (*tree.Tree).Walk.
func name(fn *types.Func) string {
	short := func(p *types.Package) string { return p.Name() }
	if recv := fn.Signature().Recv(); recv != nil {
		return fmt.Sprintf("(%s).%s", types.TypeString(recv.Type(), short), fn.Name())
	}
	if fn.Pkg() == nil {
		return fn.Name()
	}
	return fn.Pkg().Name() + "." + fn.Name()
}

// methodsOf are the methods of a value that an interface it is converted to
// has.
func methodsOf(c *ssa.MakeInterface) []*types.Func {
	wanted, ok := c.Type().Underlying().(*types.Interface)
	if !ok || types.IsInterface(c.X.Type()) {
		return nil
	}
	set := types.NewMethodSet(c.X.Type())
	var out []*types.Func
	for i := range wanted.NumMethods() {
		m := wanted.Method(i)
		if selection := set.Lookup(m.Pkg(), m.Name()); selection != nil {
			out = append(out, selection.Obj().(*types.Func))
		}
	}
	return out
}

// writesTo tells whether os.Stdout is used here for more than to ask about the
// file, or to put another in its place.
func writesTo(instruction ssa.Instruction) bool {
	if store, ok := instruction.(*ssa.Store); ok {
		global, ok := store.Addr.(*ssa.Global)
		return !ok || global.Name() != "Stdout"
	}
	load, ok := instruction.(*ssa.UnOp)
	if !ok {
		return true
	}
	for _, user := range *load.Referrers() {
		call, ok := user.(ssa.CallInstruction)
		if !ok {
			return true
		}
		callee := call.Common().StaticCallee()
		if callee == nil || callee.Object() == nil || len(call.Common().Args) == 0 || call.Common().Args[0] != load {
			return true
		}
		switch callee.Object().(*types.Func).FullName() {
		case "(*os.File).Fd", "(*os.File).Stat", "(*os.File).Name", "(*os.File).SyscallConn":
		default:
			return true
		}
	}
	return false
}

// position is where an instruction stands in the source. What the compiler
// adds, a conversion or a load, stands where its value is used next, or after
// what comes before it.
func position(block *ssa.BasicBlock, i int) token.Pos {
	instruction := block.Instrs[i]
	for range 4 {
		if instruction.Pos().IsValid() {
			return instruction.Pos()
		}
		value, ok := instruction.(ssa.Value)
		if !ok || value.Referrers() == nil || len(*value.Referrers()) == 0 {
			break
		}
		instruction = (*value.Referrers())[0]
	}
	for ; i >= 0; i-- {
		if pos := block.Instrs[i].Pos(); pos.IsValid() {
			return pos
		}
	}
	return block.Parent().Pos()
}
