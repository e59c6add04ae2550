package hostvet

import (
	"go/token"
	"go/types"
)

// quietInit: this package does nothing privileged while it is initialized,
// and of a host, no dependency does that nobody vouched for.
func quietInit(r reporter) {
	s := r.summary
	s.ends(s.initNode(), privileged, func(pos token.Pos, t trace) {
		r.report(pos, "%s while the package is initialized: each worker does that too, before it enters the sandbox", t)
	})
	main := s.main()
	if main == nil || main.trace(serves) == nil {
		return
	}
	for _, p := range s.initialized {
		if p.Module == modulePath(r.pass) && p.Module != "" || p.Path == r.pass.Pkg.Path() {
			continue // it is reported there
		}
		r.report(main.fn.Pos(), "%s reaches %s while it is initialized, in each worker too, before the sandbox: after a look at it, write %sdependency %s and why that is harmless",
			p.Path, p.Trace, prefix, p.Path)
	}
}

// vouched tells whether the host vouches for a dependency, which uses what it
// says.
func (ds *directives) vouched(path string) bool {
	found := false
	for _, d := range ds.all {
		if d.dependency == path {
			d.used, found = true, true
		}
	}
	return found
}

// main is the main function of a program; nil in other packages.
func (s *summary) main() *node {
	if s.pass.Pkg.Name() != "main" {
		return nil
	}
	fn, ok := s.pass.Pkg.Scope().Lookup("main").(*types.Func)
	if !ok {
		return nil
	}
	return s.nodeOf(fn)
}

// quietStdout: what the main function of a stdio host reaches prints nothing.
func quietStdout(r reporter) {
	main := r.summary.main()
	if main == nil || main.trace(speaks) == nil {
		return
	}
	r.summary.ends(main, prints, func(pos token.Pos, t trace) {
		r.report(pos, "%s writes to standard output, which is the protocol's in a host: write to standard error, or to the logger", t)
	})
}
