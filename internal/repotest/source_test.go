package repotest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxLines bounds a hand-written Go file: one concept a file.
const maxLines = 600

// packageDocs: each package says in doc.go (a program: doc.go or main.go; a
// package of one file: there) what it is for, and a library what it must never know. In generated packages any
// one file may say it.
func packageDocs(tr *tree) []string {
	var out []string
	dirs, files := tr.packages()
	for _, dir := range dirs {
		generated, home := true, ""
		var text, name string
		var others []string
		for _, file := range files[dir] {
			f := tr.parse(file)
			if f == nil {
				continue
			}
			name = f.Name.Name
			if tr.handWritten(file) {
				generated = false
			}
			if f.Doc == nil {
				continue
			}
			base := path.Base(file)
			if base == "doc.go" || len(files[dir]) == 1 || base == "main.go" && name == "main" && home == "" {
				text, home = f.Doc.Text(), file
			} else {
				others = append(others, file)
			}
		}
		switch {
		case generated:
			if home == "" && len(others) == 0 {
				out = append(out, dir+": no file has a package comment")
			}
			continue
		case home == "":
			out = append(out, dir+": no doc.go with a package comment")
			continue
		}
		begin := "Package " + name + " "
		if name == "main" {
			begin = "Command " + path.Base(dir) + " "
		}
		if !strings.HasPrefix(text, begin) {
			out = append(out, fmt.Sprintf("%s: the package comment does not begin with %q", dir, begin))
		} else if name != "main" && !saysNever.MatchString(text) {
			out = append(out, dir+": doc.go does not say what the package must never know")
		}
		for _, file := range others {
			out = append(out, fmt.Sprintf("%s: package comment in %s, beside the one in %s", dir, file, path.Base(home)))
		}
	}
	return out
}

var saysNever = regexp.MustCompile(`\b(never|nothing|neither|nor)\b`)

// noInit: nothing runs before main but the initialization of plain values.
// A worker runs package initialization too.
func noInit(tr *tree) []string {
	var out []string
	for _, name := range tr.goFiles(notTest) {
		f := tr.parse(name)
		if f == nil {
			continue
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				out = append(out, fmt.Sprintf("%s: func init", tr.at(fn.Pos())))
			}
		}
	}
	return out
}

// constructors may be called to initialize a package variable: they make a
// value and do nothing else. (Conversions and builtins are no calls here.)
var constructors = []string{
	"bytes.NewReplacer", "errors.New", "fmt.Errorf", "fmt.Sprintf", "regexp.MustCompile",
	"slices.Sorted", "strings.NewReplacer", "strings.Repeat", "strings.TrimSpace", "sync.OnceValue", "sync.OnceValues",
}

// quietInit: initializing a package variable calls nothing that could have an
// effect: a worker initializes every package of its host too.
func quietInit(tr *tree) []string {
	var out []string
	for _, name := range tr.goFiles(notTest) {
		f := tr.parse(name)
		if f == nil {
			continue
		}
		for _, d := range f.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || decl.Tok != token.VAR {
				continue
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				if _, ok := n.(*ast.FuncLit); ok {
					return false
				}
				if call, ok := n.(*ast.CallExpr); ok {
					if callee := types.ExprString(call.Fun); !slices.Contains(constructors, callee) && !conversion(call) {
						out = append(out, fmt.Sprintf("%s: calls %s while the package is initialized", tr.at(call.Pos()), callee))
					}
				}
				return true
			})
		}
	}
	return out
}

// conversion also holds for the builtins that make values.
func conversion(call *ast.CallExpr) bool {
	switch fn := call.Fun.(type) {
	case *ast.ArrayType, *ast.ParenExpr, *ast.InterfaceType:
		return true
	case *ast.Ident:
		return slices.Contains([]string{"len", "make", "new", "string", "append", "byte", "rune", "int", "int64", "float64"}, fn.Name)
	}
	return false
}

func (tr *tree) at(pos token.Pos) string {
	p := tr.fset.Position(pos)
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// noMutableState: a package variable is a value that nobody changes. A channel
// and sync state are never that, and a map only when it is a literal that the
// package keeps to itself. Nothing is assigned to, deleted from or cleared.
// (A change through a pointer is beyond this check.)
func noMutableState(tr *tree) []string {
	var out []string
	dirs, files := tr.packages()
	for _, dir := range dirs {
		var asts []*ast.File
		for _, name := range files[dir] {
			if f := tr.parse(name); f != nil {
				asts = append(asts, f)
			}
		}
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
		// Imports are not loaded: names of the package itself resolve all the
		// same, and what does not resolve is no variable of ours.
		conf := types.Config{Error: func(error) {}, FakeImportC: true, Importer: noImports{}}
		pkg, _ := conf.Check(dir, tr.fset, asts, info)
		for _, f := range asts {
			out = append(out, stateHeld(tr, f)...)
			out = append(out, stateChanged(tr, f, pkg, info)...)
		}
	}
	return out
}

type noImports struct{}

func (noImports) Import(importPath string) (*types.Package, error) {
	p := types.NewPackage(importPath, path.Base(importPath))
	p.MarkComplete()
	return p, nil
}

func stateHeld(tr *tree, f *ast.File) []string {
	var out []string
	for _, d := range f.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.VAR {
			continue
		}
		for _, s := range decl.Specs {
			spec := s.(*ast.ValueSpec)
			for i, id := range spec.Names {
				what := holds(spec.Type)
				if i < len(spec.Values) {
					what = cmp.Or(what, holds(spec.Values[i]))
					if _, literal := spec.Values[i].(*ast.CompositeLit); literal && what == "a map" && !id.IsExported() {
						what = "" // a table to look things up in
					}
				}
				if what != "" && id.Name != "_" {
					out = append(out, fmt.Sprintf("%s: package variable %s holds %s", tr.at(id.Pos()), id.Name, what))
				}
			}
		}
	}
	return out
}

// holds tells what mutable thing a type, or a value as written, is.
func holds(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.MapType:
		return "a map"
	case *ast.ChanType:
		return "a channel"
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok && (x.Name == "sync" || x.Name == "atomic") {
			return "sync state"
		}
	case *ast.CompositeLit:
		return holds(e.Type)
	case *ast.IndexExpr: // atomic.Pointer[T]
		return holds(e.X)
	case *ast.StarExpr:
		return holds(e.X)
	case *ast.UnaryExpr:
		return holds(e.X)
	case *ast.CallExpr:
		if fn, ok := e.Fun.(*ast.Ident); ok && len(e.Args) > 0 && (fn.Name == "make" || fn.Name == "new") {
			return holds(e.Args[0])
		}
		if fn, ok := e.Fun.(*ast.SelectorExpr); ok { // sync.OnceValue is a lazy constant
			if x, ok := fn.X.(*ast.Ident); ok && x.Name == "sync" && !strings.HasPrefix(fn.Sel.Name, "OnceValue") {
				return "sync state"
			}
		}
	}
	return ""
}

func stateChanged(tr *tree, f *ast.File, pkg *types.Package, info *types.Info) []string {
	var out []string
	changed := func(e ast.Expr) {
		id, field := assigned(e)
		if id == nil {
			return
		}
		switch obj := info.Uses[id].(type) {
		case *types.Var:
			if pkg != nil && obj.Parent() == pkg.Scope() {
				out = append(out, fmt.Sprintf("%s: package variable %s is changed", tr.at(id.Pos()), id.Name))
			}
		case *types.PkgName:
			out = append(out, fmt.Sprintf("%s: %s.%s of another package is changed", tr.at(id.Pos()), id.Name, field))
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, e := range n.Lhs {
					changed(e)
				}
			}
		case *ast.IncDecStmt:
			changed(n.X)
		case *ast.CallExpr:
			if len(n.Args) > 0 && (isIdent(n.Fun, "delete") || isIdent(n.Fun, "clear")) {
				changed(n.Args[0])
			}
		}
		return true
	})
	return out
}

// assigned is the identifier at the root of an assignable expression, and the
// first field selected from it.
func assigned(e ast.Expr) (id *ast.Ident, field string) {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x, field
		case *ast.SelectorExpr:
			e, field = x.X, x.Sel.Name
		case *ast.IndexExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default: // through a pointer or a call: whose it is cannot be told
			return nil, ""
		}
	}
}

func longFiles(tr *tree) []string {
	var out []string
	for _, name := range tr.goFiles(tr.handWritten) {
		if n := strings.Count(tr.read(name), "\n"); n > maxLines {
			out = append(out, fmt.Sprintf("%s: %d lines, at most %d", name, n, maxLines))
		}
	}
	return out
}

// The words in halves, so that a search for them does not find this file.
var openMark = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)

// openMarks: what is not done is in an issue, not in a comment.
func openMarks(tr *tree) []string {
	var out []string
	for _, name := range tr.goFiles(tr.handWritten) {
		f := tr.parse(name)
		if f == nil {
			continue
		}
		for _, group := range f.Comments {
			for _, c := range group.List {
				if m := openMark.FindString(c.Text); m != "" {
					out = append(out, fmt.Sprintf("%s: %s", tr.at(c.Pos()), m))
				}
			}
		}
	}
	return out
}
