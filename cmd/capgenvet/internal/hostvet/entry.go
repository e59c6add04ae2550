package hostvet

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// workerEntry: a program that can build a server enters the worker first, and
// so does a test binary.
func workerEntry(r reporter) {
	const rule = "a worker is this program, started again, and what stands before the entry runs in each worker, outside of the sandbox"
	s := r.summary
	var testMain *ast.FuncDecl
	var builds []*ast.FuncDecl // tests that build a server
	for _, file := range r.pass.Files {
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil {
				continue
			}
			switch {
			case s.isTest(file):
				if isTestMain(fn) {
					testMain = fn
				}
				if isTestFunction(fn) && s.reaches(fn, serves) {
					builds = append(builds, fn)
				}
			case r.pass.Pkg.Name() == "main" && fn.Name.Name == "main":
				if s.reaches(fn, serves) && !s.entersFirst(fn) {
					r.report(fn.Name.Pos(), "the first statement of main must be runtime.ServeWorkerAndExit(): %s", rule)
				}
			}
		}
	}
	switch {
	case len(builds) == 0:
	case testMain != nil:
		if !s.entersFirst(testMain) {
			r.report(testMain.Name.Pos(), "the first statement of TestMain must be runtime.ServeWorkerAndExit(), since tests start workers: %s", rule)
		}
	case !s.entryElsewhere():
		first := builds[0]
		r.report(first.Name.Pos(), "%s starts workers, by %s, so the package needs a TestMain that begins with runtime.ServeWorkerAndExit(): a worker is this test binary, started again",
			first.Name.Name, s.declared(first).trace(serves))
	}
}

func isTestMain(fn *ast.FuncDecl) bool { return fn.Recv == nil && fn.Name.Name == "TestMain" }

func isTestFunction(fn *ast.FuncDecl) bool {
	for _, prefix := range []string{"Test", "Benchmark", "Fuzz", "Example"} {
		if strings.HasPrefix(fn.Name.Name, prefix) {
			return true
		}
	}
	return false
}

// declared is the node of a declaration.
func (s *summary) declared(fn *ast.FuncDecl) *node {
	return s.nodeOf(s.pass.TypesInfo.Defs[fn.Name].(*types.Func))
}

func (s *summary) reaches(fn *ast.FuncDecl, k kind) bool {
	n := s.declared(fn)
	return n != nil && n.trace(k) != nil
}

// entersFirst tells whether a function begins with the worker's entry.
func (s *summary) entersFirst(fn *ast.FuncDecl) bool {
	if fn.Body == nil || len(fn.Body.List) == 0 {
		return false
	}
	statement, ok := fn.Body.List[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := ast.Unparen(statement.X).(*ast.CallExpr)
	if !ok {
		return false
	}
	callee := typeutil.StaticCallee(s.pass.TypesInfo, call)
	if callee == nil {
		return false
	}
	switch callee.FullName() {
	case module + "/runtime.ServeWorkerAndExit", module + "/runtime/worker.ServeWorkerAndExit":
		return true
	}
	return false
}

// exportEntry says of a package with a good TestMain that it has one: tests of
// the same folder in the external test package run under it as well.
func (s *summary) exportEntry() {
	for _, file := range s.pass.Files {
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && s.isTest(file) && isTestMain(fn) && s.entersFirst(fn) {
				s.pass.ExportPackageFact(new(entersWorker))
			}
		}
	}
}

// entryElsewhere: the package under test has the TestMain.
func (s *summary) entryElsewhere() bool {
	tested, ok := strings.CutSuffix(s.pass.Pkg.Path(), "_test")
	if !ok {
		return false
	}
	for _, p := range s.pass.Pkg.Imports() {
		if p.Path() == tested && s.pass.ImportPackageFact(p, new(entersWorker)) {
			return true
		}
	}
	return false
}
