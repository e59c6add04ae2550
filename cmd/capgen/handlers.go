package main

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/schema"
)

// maxHandlerFile is how long a Go file may be that is looked at, in bytes.
const maxHandlerFile = 4 << 20

// handlerFiles looks for handlers in the module around the manifest.
type handlerFiles struct {
	manifest *schema.Manifest
	// byMethod are the capabilities that some build does not hold, and those
	// whose methods look the same.
	byMethod map[string][]codegen.Handler
	// labels are what the generated packages call themselves, by import path.
	labels map[string]string
	diags  []schema.Diagnostic
}

// misplaced finds handlers of capabilities that some build does not hold, in
// files which that build compiles: what they do would be in its binary.
func (t *tool) misplaced(ctx context.Context, o *options, m *schema.Manifest, generated *tree) ([]schema.Diagnostic, error) {
	if !m.Tagged() {
		return nil, nil
	}
	module, err := t.moduleDir(o)
	if err != nil || module == "" {
		return nil, err
	}
	h := &handlerFiles{manifest: m, byMethod: map[string][]codegen.Handler{}, labels: map[string]string{}}
	for _, c := range codegen.Handlers(m) {
		h.byMethod[c.Method] = append(h.byMethod[c.Method], c)
		h.labels[c.InputPackage] = c.InputLabel
	}
	root, err := os.OpenRoot(module)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var skip os.FileInfo
	if generated.root != nil {
		if skip, err = generated.root.Stat("."); err != nil {
			return nil, err
		}
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return enterPackage(root, name, base, skip)
		case !d.Type().IsRegular() && d.Type() != fs.ModeSymlink || path.Ext(base) != ".go" || strings.HasSuffix(base, "_test.go"):
			return nil
		}
		// The go command compiles what a link leads to, too.
		info, err := root.Stat(filepath.FromSlash(name))
		if err != nil && d.Type() == fs.ModeSymlink {
			return nil // out of the module, or to nothing
		}
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxHandlerFile {
			return err
		}
		text, err := root.ReadFile(filepath.FromSlash(name))
		if err != nil || !bytes.Contains(text, []byte(m.Package)) {
			return err
		}
		h.file(t.shownPath(filepath.Join(module, filepath.FromSlash(name))), text)
		return nil
	})
	return h.diags, err
}

// enterPackage passes over what the go command does, other modules, and the
// generated root.
func enterPackage(root *os.Root, name, base string, generated os.FileInfo) error {
	if name == "." {
		return nil
	}
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "vendor" {
		return fs.SkipDir
	}
	if _, err := root.Stat(filepath.Join(filepath.FromSlash(name), "go.mod")); err == nil {
		return fs.SkipDir
	}
	if info, err := root.Stat(filepath.FromSlash(name)); err == nil && generated != nil && os.SameFile(info, generated) {
		return fs.SkipDir
	}
	return nil
}

// moduleDir is the folder of the go.mod in or above the manifest's; empty where
// there is none.
func (t *tool) moduleDir(o *options) (string, error) {
	dir, err := filepath.Abs(filepath.Dir(t.path(o.manifest)))
	if err != nil {
		return "", err
	}
	for modulePath(filepath.Join(dir, "go.mod")) == "" {
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", nil
		}
		dir = parent
	}
	return dir, nil
}

// shownPath is a path as messages have it: relative to where capgen runs, if it
// is below.
func (t *tool) shownPath(name string) string {
	if here, err := filepath.Abs(t.dir); err == nil {
		if relative, err := filepath.Rel(here, name); err == nil && filepath.IsLocal(relative) {
			name = relative
		}
	}
	return filepath.ToSlash(name)
}

// file looks at one Go file. What does not parse is the compiler's business.
func (h *handlerFiles) file(name string, text []byte) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return
	}
	imports := map[string]string{}
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil || h.labels[p] == "" {
			continue
		}
		label := h.labels[p]
		if spec.Name != nil {
			label = spec.Name.Name
		}
		imports[label] = p
	}
	constraint := buildConstraint(f)
	for _, decl := range f.Decls {
		method, ok := decl.(*ast.FuncDecl)
		if !ok || method.Recv == nil {
			continue
		}
		h.method(fset.Position(method.Name.Pos()), method, imports, constraint)
	}
}

// method reports a method that builds have which none of the capabilities it
// may be the handler of belongs to.
func (h *handlerFiles) method(at token.Position, method *ast.FuncDecl, imports map[string]string, expr constraint.Expr) {
	pkg, name := lastParameter(method, imports)
	var worst *schema.Diagnostic
	for _, c := range h.byMethod[method.Name.Name] {
		if c.InputPackage != pkg || c.InputName != name {
			continue
		}
		builds := h.without(c, expr)
		if len(builds) == 0 {
			return
		}
		d := finding(at.Filename, "handler-tag",
			fmt.Sprintf("%s handles %s, and this file is part of builds that do not hold it: %s", method.Name.Name, c.Name, strings.Join(builds, ", ")),
			"begin the file with //go:build "+c.Constraint+", and keep in it only what those builds have")
		d.Line, d.Column = at.Line, at.Column
		worst = &d
	}
	if worst != nil {
		h.diags = append(h.diags, *worst)
	}
}

// lastParameter is the type of the second of two parameters, or what it is an
// approved one of: its import path and its name.
func lastParameter(method *ast.FuncDecl, imports map[string]string) (pkg, name string) {
	list := method.Type.Params.List
	if method.Type.Params.NumFields() != 2 {
		return "", ""
	}
	last := list[len(list)-1].Type
	if of, ok := last.(*ast.IndexExpr); ok { // govern.Approved of the type
		last = of.Index
	}
	selector, ok := last.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	x, ok := selector.X.(*ast.Ident)
	if !ok {
		return "", ""
	}
	return imports[x.Name], selector.Sel.Name
}

// without are the builds that have a file with that constraint and do not hold
// the capability.
func (h *handlerFiles) without(c codegen.Handler, expr constraint.Expr) []string {
	var out []string
	for _, d := range h.manifest.Deployments {
		if !d.Holds(c.Capability) && mayHave(expr, d.Tag()) {
			out = append(out, d.Name)
		}
	}
	if c.Constraint != "" && !h.manifest.DefaultNone && mayHave(expr, "") {
		out = append(out, schema.Untagged)
	}
	return out
}

// buildConstraint is the //go:build line of a file; nil for none.
func buildConstraint(f *ast.File) constraint.Expr {
	for _, group := range f.Comments {
		if group.Pos() > f.Package {
			break
		}
		for _, c := range group.List {
			if expr, err := constraint.Parse(c.Text); err == nil && constraint.IsGoBuild(c.Text) {
				return expr
			}
		}
	}
	return nil
}

// mayHave tells whether a build with that tag, and no other one of a
// deployment, may have what an expression constrains, whatever the other tags.
func mayHave(expr constraint.Expr, tag string) bool {
	yes, _ := outcomes(expr, tag)
	return yes
}

// outcomes tells whether an expression may be true, and whether it may be
// false.
func outcomes(expr constraint.Expr, tag string) (yes, no bool) {
	switch x := expr.(type) {
	case *constraint.TagExpr:
		if strings.HasPrefix(x.Tag, "capgen_") {
			return x.Tag == tag, x.Tag != tag
		}
		return true, true
	case *constraint.NotExpr:
		no, yes = outcomes(x.X, tag)
		return yes, no
	case *constraint.AndExpr:
		xYes, xNo := outcomes(x.X, tag)
		yYes, yNo := outcomes(x.Y, tag)
		return xYes && yYes, xNo || yNo
	case *constraint.OrExpr:
		xYes, xNo := outcomes(x.X, tag)
		yYes, yNo := outcomes(x.Y, tag)
		return xYes || yYes, xNo && yNo
	}
	return true, false // no constraint
}
