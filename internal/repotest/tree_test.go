package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const modulePath = "github.com/capgen/capgen"

// root is the repository, seen from this package's folder.
const root = "../.."

// tree is the files of a repository: those that a clone has, without what git
// and builds keep beside them.
type tree struct {
	fsys  fs.FS
	files []string // sorted
	fset  *token.FileSet
	asts  map[string]*ast.File
}

func newTree(t *testing.T, fsys fs.FS) *tree {
	t.Helper()
	tr := &tree{fsys: fsys, fset: token.NewFileSet(), asts: map[string]*ast.File{}}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name == ".git" || name == "bin" || name == "dist" || path.Base(name) == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() && name != ".git" { // .git is a file in a linked work tree
			tr.files = append(tr.files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(tr.files)
	return tr
}

func repository(t *testing.T) *tree {
	t.Helper()
	tr := newTree(t, os.DirFS(root))
	if !tr.has("go.mod") || len(tr.files) < 20 {
		t.Fatalf("%s does not look like the repository: %d files", root, len(tr.files))
	}
	return tr
}

// bad is a tree of name, content, name, content, …
func bad(namesAndTexts ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(namesAndTexts); i += 2 {
		m[namesAndTexts[i]] = &fstest.MapFile{Data: []byte(namesAndTexts[i+1])}
	}
	return m
}

func (tr *tree) has(name string) bool {
	_, found := slices.BinarySearch(tr.files, name)
	return found
}

// read returns the text of a file, or "" where there is none.
func (tr *tree) read(name string) string {
	b, err := fs.ReadFile(tr.fsys, name)
	if err != nil {
		return ""
	}
	return string(b)
}

// goFiles are the Go files outside of testdata that keep says yes to.
func (tr *tree) goFiles(keep ...func(name string) bool) []string {
	var out []string
files:
	for _, name := range tr.files {
		if !strings.HasSuffix(name, ".go") || strings.Contains("/"+name, "/testdata/") {
			continue
		}
		for _, k := range keep {
			if !k(name) {
				continue files
			}
		}
		out = append(out, name)
	}
	return out
}

func notTest(name string) bool { return !strings.HasSuffix(name, "_test.go") }

// The form that the Go project defines for generated files.
var generatedMark = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func (tr *tree) handWritten(name string) bool { return !generatedMark.MatchString(tr.read(name)) }

// parse returns the syntax of a Go file; a file that does not parse is nil,
// and the compiler says so elsewhere.
func (tr *tree) parse(name string) *ast.File {
	if f, ok := tr.asts[name]; ok {
		return f
	}
	f, err := parser.ParseFile(tr.fset, name, tr.read(name), parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		f = nil
	}
	tr.asts[name] = f
	return f
}

// packages are the non-test Go files by folder, whatever system they are for.
func (tr *tree) packages() (dirs []string, files map[string][]string) {
	files = map[string][]string{}
	for _, name := range tr.goFiles(notTest) {
		files[path.Dir(name)] = append(files[path.Dir(name)], name)
	}
	for dir := range files {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return dirs, files
}

// imports of one file, unquoted.
func (tr *tree) imports(name string) []string {
	f := tr.parse(name)
	if f == nil {
		return nil
	}
	var out []string
	for _, spec := range f.Imports {
		out = append(out, strings.Trim(spec.Path.Value, `"`))
	}
	return out
}
