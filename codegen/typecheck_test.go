package codegen_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// dependencies are the packages that generated code imports, loaded once.
var dependencies = sync.OnceValues(func() (map[string]*types.Package, error) {
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps},
		"context", "github.com/capgen/capgen/runtime", "github.com/capgen/capgen/runtime/canon")
	if err != nil {
		return nil, err
	}
	out := map[string]*types.Package{}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%v", p.Errors)
		}
		out[p.PkgPath] = p.Types
	}
	return out, nil
})

// checker type-checks generated packages, which exist in memory only.
type checker struct {
	root  string
	files map[string][]byte
	done  map[string]*types.Package
	fset  *token.FileSet
}

func (c *checker) Import(importPath string) (*types.Package, error) {
	if p := c.done[importPath]; p != nil {
		return p, nil
	}
	dir, ok := strings.CutPrefix(importPath, c.root+"/")
	if !ok {
		return nil, fmt.Errorf("unexpected import %s", importPath)
	}
	var parsed []*ast.File
	for name, content := range c.files {
		if path.Dir(name) == dir && path.Ext(name) == ".go" {
			f, err := parser.ParseFile(c.fset, name, content, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			parsed = append(parsed, f)
		}
	}
	if len(parsed) == 0 {
		return nil, fmt.Errorf("no package %s", importPath)
	}
	config := types.Config{Importer: c}
	p, err := config.Check(importPath, c.fset, parsed, nil)
	if err == nil {
		c.done[importPath] = p
	}
	return p, err
}

// typecheck is the compiler's front end over generated files.
func typecheck(t testing.TB, root string, files map[string][]byte) map[string]*types.Package {
	t.Helper()
	deps, err := dependencies()
	if err != nil {
		t.Fatal(err)
	}
	c := &checker{root: root, files: files, done: map[string]*types.Package{}, fset: token.NewFileSet()}
	for importPath, p := range deps {
		c.done[importPath] = p
	}
	var dirs []string
	for name := range files {
		if path.Ext(name) == ".go" {
			dirs = append(dirs, path.Dir(name))
		}
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		if _, err := c.Import(root + "/" + dir); err != nil {
			t.Errorf("%s: %v\n%s", dir, err, files[dir+"/handlers.gen.go"])
		}
	}
	return c.done
}

// The hand-made model goes beyond what manifests may say today: names for
// names, defaults of references.
func TestKindsTypecheck(t *testing.T) {
	const root = "example.com/kinds/generated"
	typecheck(t, root, generate(t, kinds(root)))
}
