package repotest

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
)

// referenceTables: a reference page has a row for each thing the code has, and
// no row for a thing it has not. A row begins with the name in backticks.
func referenceTables(tr *tree) []string {
	var out []string
	for _, table := range []struct {
		page, what string
		have       []string
	}{
		{"docs/reference/errors.md", "class", tr.constants("runtime/fault", "Class")},
		{"docs/reference/limits.md", "limit", tr.fields("runtime", "Limits")},
		{"docs/reference/http.md", "limit", append(tr.fields("runtime/mcphttp", "Limits"), tr.fields("runtime/mcpserver", "Limits")...)},
	} {
		var rows []string
		for _, line := range strings.Split(tr.read(table.page), "\n") {
			if rest, ok := strings.CutPrefix(line, "| `"); ok {
				name, _, _ := strings.Cut(rest, "`")
				rows = append(rows, name)
			}
		}
		for _, name := range table.have {
			if !slices.Contains(rows, name) {
				out = append(out, fmt.Sprintf("%s: no row for %s %s", table.page, table.what, name))
			}
		}
		for _, name := range rows {
			if !slices.Contains(table.have, name) {
				out = append(out, fmt.Sprintf("%s: %s is no %s", table.page, name, table.what))
			}
		}
	}
	for _, page := range []string{"docs/reference/performance.md", "docs/explanation/operations.md"} {
		for _, m := range testName.FindAllStringSubmatch(tr.read(page), -1) {
			if !tr.hasTest(m[1], m[2]) {
				out = append(out, fmt.Sprintf("%s: %s has no %s", page, m[1], m[2]))
			}
		}
	}
	return out
}

// specs calls each for the declarations of the non-test files of a package.
func (tr *tree) specs(dir string, each func(ast.Spec)) {
	for _, name := range tr.goFiles(notTest) {
		f := tr.parse(name)
		if path.Dir(name) != dir || f == nil {
			continue
		}
		for _, d := range f.Decls {
			if decl, ok := d.(*ast.GenDecl); ok {
				for _, s := range decl.Specs {
					each(s)
				}
			}
		}
	}
}

// constants are the string values of the constants of a type.
func (tr *tree) constants(dir, typeName string) []string {
	var out []string
	tr.specs(dir, func(s ast.Spec) {
		v, ok := s.(*ast.ValueSpec)
		if !ok || !isIdent(v.Type, typeName) {
			return
		}
		for _, value := range v.Values {
			if lit, ok := value.(*ast.BasicLit); ok {
				out = append(out, strings.Trim(lit.Value, `"`))
			}
		}
	})
	return out
}

// fields are the names of the fields of a struct.
func (tr *tree) fields(dir, typeName string) []string {
	var out []string
	tr.specs(dir, func(s ast.Spec) {
		t, ok := s.(*ast.TypeSpec)
		if !ok || t.Name.Name != typeName {
			return
		}
		if st, ok := t.Type.(*ast.StructType); ok {
			for _, field := range st.Fields.List {
				for _, id := range field.Names {
					out = append(out, id.Name)
				}
			}
		}
	})
	return out
}

const (
	quickstart         = "examples/quickstart/"
	maxQuickstartLines = 60 // what README shows of it
)

// smallStart: the first capability of README is whole, so that a reader can
// copy it, and stays small.
func smallStart(tr *tree) []string {
	var out []string
	lines := 0
	var from []string
	for _, b := range tr.blocks() {
		if b.file == "README.md" && strings.HasPrefix(b.from, quickstart) {
			lines += strings.Count(b.text, "\n")
			from = append(from, strings.TrimPrefix(b.from, quickstart))
		}
	}
	for _, name := range []string{"capabilities.yaml", "main.go"} {
		if !slices.Contains(from, name) {
			out = append(out, "README.md: shows nothing of "+quickstart+name)
		}
	}
	if lines > maxQuickstartLines {
		out = append(out, fmt.Sprintf("README.md: %d lines for a first capability, at most %d", lines, maxQuickstartLines))
	}
	for _, b := range tr.blocks() {
		if b.file == "README.md" && strings.HasPrefix(b.from, quickstart) && tr.has(b.from) && b.text != tr.read(b.from) {
			out = append(out, fmt.Sprintf("%s: shows only a part of %s", b.at(), b.from))
		}
	}
	return out
}
