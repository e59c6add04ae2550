package repotest

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// dispatchFiles are the files a native call passes through, beside generated
// code: patterns of path.Match.
var dispatchFiles = []string{
	"runtime/*.go",
	"runtime/binding/*.go",
	"runtime/fault/*.go",
	"runtime/worker/*.go",
	"runtime/canon/*.go",
	"runtime/shaping/*.go",
}

// offDispatchPath are files of package runtime that no native call passes
// through, and that need what the path must not use.
var offDispatchPath = []string{
	"runtime/builder.go",  // reflect: a typed nil is no authorizer; runs once, before anything is served
	"runtime/tool.go",     // encoding/json: the schemas of tools, once at Build
	"runtime/discover.go", // encoding/json: answers of search and description
}

// dispatchPath: from worker bytes to a typed value and back there is no
// reflection and no untyped map. An authorizer's view of the arguments
// (runtime/policyview) is the one exception, and is built only when asked for.
func dispatchPath(tr *tree) []string {
	var out []string
	for _, name := range tr.goFiles(notTest) {
		if !onDispatchPath(name) || slices.Contains(offDispatchPath, name) {
			continue
		}
		f := tr.parse(name)
		if f == nil {
			continue
		}
		for _, spec := range f.Imports {
			if p := strings.Trim(spec.Path.Value, `"`); p == "reflect" || p == "encoding/json" || strings.HasPrefix(p, "encoding/json/") {
				out = append(out, fmt.Sprintf("%s: imports %s on the call path", tr.at(spec.Pos()), p))
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if m, ok := n.(*ast.MapType); ok && isIdent(m.Key, "string") && isAny(m.Value) {
				out = append(out, fmt.Sprintf("%s: map[string]any on the call path", tr.at(m.Pos())))
			}
			return true
		})
	}
	return out
}

func onDispatchPath(name string) bool {
	if slices.Contains(strings.Split(path.Dir(name), "/"), "generated") {
		return true
	}
	return slices.ContainsFunc(dispatchFiles, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

func isAny(e ast.Expr) bool {
	i, ok := e.(*ast.InterfaceType)
	return isIdent(e, "any") || ok && len(i.Methods.List) == 0
}

// TestFilesOffDispatchPath: a file that no longer needs its place in the list
// belongs under the rule again.
func TestFilesOffDispatchPath(t *testing.T) {
	repo := repository(t)
	for _, name := range offDispatchPath {
		alone := bad("runtime/x.go", repo.read(name))
		if len(dispatchPath(newTree(t, alone))) == 0 {
			t.Errorf("%s uses nothing that the call path must not: remove it from offDispatchPath", name)
		}
	}
}
