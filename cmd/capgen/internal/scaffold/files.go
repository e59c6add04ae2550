package scaffold

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"path"
	"strings"
	"text/template"

	"golang.org/x/mod/modfile"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/schema"
)

const (
	// Capgen is the module that each project requires.
	Capgen = "github.com/capgen/capgen"
	// GoVersion is the least version of Go that it needs.
	GoVersion = "1.26.0"

	manifest = "capabilities.yaml"
	// generated is the last element of go.package in the manifest.
	generated = "generated"
	// unreleased is the version that the go command gives to a module of
	// which it knows nothing but a replacement.
	unreleased = "v0.0.0-00010101000000-000000000000"
)

//go:embed templates
var templates embed.FS

// Project is what tells one new project from another.
type Project struct {
	// Module is the module path, which CheckModule accepts.
	Module string
	// Version is the released version of capgen to require. It is empty where
	// Replace is the path of a checkout, as a replace directive has it:
	// absolute, or beginning with ./ or ../.
	Version, Replace string
	// Template is one of Templates; empty is the first.
	Template string
	// Sums is the go.sum to begin with: that of the checkout, so that no sum
	// has to be asked for.
	Sums []byte
}

// Local and HTTP are the templates of a project: a server for whoever starts
// it, and one that is ready for a network.
const (
	Local = "local"
	HTTP  = "http"
)

// Templates are their names, the one that is taken where none is named first.
func Templates() []string { return []string{Local, HTTP} }

// Files are the files of the project, by slash-separated path.
func Files(p Project) (map[string][]byte, error) {
	files := map[string][]byte{"go.sum": p.Sums}
	data := struct {
		Module, Name string
		HTTP         bool
	}{p.Module, Name(p.Module), p.Template == HTTP}
	sources := map[string]string{"main.go": "main.go"} // templates by the file that is made
	for _, name := range []string{manifest, "random.go", "main_test.go", "roll.star", "Makefile", ".gitignore"} {
		sources[name] = strings.TrimPrefix(name, ".")
	}
	if data.HTTP {
		for _, name := range []string{"main.go", "server.go", "audit.go", "policy.go", "policy_test.go", "http_test.go"} {
			sources[name] = path.Join("http", name)
		}
	}
	for name, source := range sources {
		text, err := execute(source, data)
		if err != nil {
			return nil, err
		}
		files[name] = text
	}
	code, err := generate(files[manifest])
	if err != nil {
		return nil, err
	}
	for name, text := range code {
		files[path.Join(generated, name)] = text
	}
	files["go.mod"], err = goMod(p)
	return files, err
}

// execute fills one template in, by its path without .tmpl. Go files are formatted afterwards: where the
// module's own imports belong depends on its path.
func execute(name string, data any) ([]byte, error) {
	t, err := template.ParseFS(templates, "templates/"+name+".tmpl")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return nil, err
	}
	if path.Ext(name) != ".go" {
		return b.Bytes(), nil
	}
	text, err := format.Source(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}

// generate compiles the manifest. What it finds there has to do with the
// module path, the only thing that is not the same in each project.
func generate(text []byte) (map[string][]byte, error) {
	m, diags := schema.Load(map[string][]byte{manifest: text}, manifest)
	if schema.HasErrors(diags) {
		return nil, fmt.Errorf("%s: %s", manifest, diags[0].Message)
	}
	files, diags := codegen.Generate(m)
	if schema.HasErrors(diags) {
		return nil, fmt.Errorf("%s: %s", manifest, diags[0].Message)
	}
	return files, nil
}

// goMod names capgen as what it is for a project: a library, a tool that go
// generate runs, and one for go vet. The rest is for go mod tidy to fill in.
func goMod(p Project) ([]byte, error) {
	f := new(modfile.File)
	if err := f.AddModuleStmt(p.Module); err != nil {
		return nil, err
	}
	if err := f.AddGoStmt(GoVersion); err != nil {
		return nil, err
	}
	for _, tool := range []string{"/cmd/capgen", "/cmd/capgenvet"} {
		if err := f.AddTool(Capgen + tool); err != nil {
			return nil, err
		}
	}
	version := p.Version
	if p.Replace != "" {
		version = unreleased
		if err := f.AddReplace(Capgen, "", p.Replace, ""); err != nil {
			return nil, err
		}
	}
	if err := f.AddRequire(Capgen, version); err != nil {
		return nil, err
	}
	return f.Format()
}
