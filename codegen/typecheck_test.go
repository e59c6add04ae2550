package codegen_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

// exports are the export data files of what generated code imports, by import
// path, as the go command builds them.
var exports = sync.OnceValues(func() (map[string]string, error) {
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}",
		"context", "os", "slices", "testing", "time",
		"github.com/capgen/capgen/runtime", "github.com/capgen/capgen/runtime/canon", "github.com/capgen/capgen/runtime/examples",
		"github.com/capgen/capgen/runtime/govern", "github.com/capgen/capgen/runtime/govern/wire")
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if importPath, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			files[importPath] = file
		}
	}
	return files, nil
})

// checker type-checks generated packages, which exist in memory only.
type checker struct {
	root  string
	files map[string][]byte
	done  map[string]*types.Package
	fset  *token.FileSet
	built types.Importer // of packages that exist
}

func (c *checker) Import(importPath string) (*types.Package, error) {
	if p := c.done[importPath]; p != nil {
		return p, nil
	}
	dir, ok := strings.CutPrefix(importPath, c.root+"/")
	if !ok {
		return c.built.Import(importPath)
	}
	var parsed []*ast.File
	for name, content := range c.files {
		if packageOf(name) == dir && path.Ext(name) == ".go" {
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

// packageOf is the directory of a generated file; of a test, which is a
// package of its own, the directory with _test behind it.
func packageOf(name string) string {
	if strings.HasSuffix(name, "_test.go") {
		return path.Dir(name) + "_test"
	}
	return path.Dir(name)
}

// typecheck is the compiler's front end over generated files, which have to
// pass.
func typecheck(t testing.TB, root string, files map[string][]byte) {
	t.Helper()
	if err := check(t, root, files); err != nil {
		t.Error(err)
	}
}

// check returns what is wrong with them.
func check(t testing.TB, root string, files map[string][]byte) (err error) {
	t.Helper()
	exported, err := exports()
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	c := &checker{root: root, files: files, done: map[string]*types.Package{}, fset: fset}
	c.built = importer.ForCompiler(fset, "gc", func(importPath string) (io.ReadCloser, error) { return os.Open(exported[importPath]) })
	var dirs []string
	for name := range files {
		if path.Ext(name) == ".go" {
			dirs = append(dirs, packageOf(name))
		}
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		if _, e := c.Import(root + "/" + dir); e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w\n%s", dir, e, files[dir+"/handlers.gen.go"]))
		}
	}
	return err
}

// The hand-made model goes beyond what manifests may say today: names for
// names, defaults of references.
func TestKindsTypecheck(t *testing.T) {
	const root = "example.com/kinds/generated"
	typecheck(t, root, generate(t, kinds(root)))
}
