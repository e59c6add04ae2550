package scaffold

import (
	"bytes"
	"go/format"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"

	"github.com/capgen/capgen/codegen"
)

// maxMain is what a reader of main.go has to take in.
const maxMain = 25

// Files hold together for every module path: Go is formatted, the module's
// name is wherever it belongs, and nothing is missing.
func TestFiles(t *testing.T) {
	for _, module := range []string{
		"example.com/dice", "example.com/dice/v2", "a.b/123", "a.b/true", "zz.example/X_y~z", "gopkg.in/dice.v3",
		"example.com/" + strings.Repeat("long/", 37) + "x",
	} {
		if err := CheckModule(module); err != nil {
			t.Fatal(err)
		}
		files, err := Files(Project{Module: module, Replace: "../capgen", Sums: []byte("sums\n")})
		if err != nil {
			t.Errorf("%s: %v", module, err)
			continue
		}
		network, err := Files(Project{Module: module, Replace: "../capgen", Template: HTTP})
		if err != nil {
			t.Errorf("%s: %v", module, err)
			continue
		}
		for _, name := range []string{"server.go", "audit.go", "policy.go", "policy_test.go", "http_test.go"} {
			if network[name] == nil || files[name] != nil {
				t.Errorf("%s: %s is of the template http alone", module, name)
			}
		}
		for _, made := range []map[string][]byte{files, network} {
			if n := bytes.Count(made["main.go"], []byte("\n")); n > maxMain {
				t.Errorf("main.go has %d lines, at most %d", n, maxMain)
			}
			for name, text := range made {
				if bytes.Contains(text, []byte("{{")) && path.Ext(name) != ".go" {
					t.Errorf("%s: %s holds what a template does not fill in", module, name)
				}
			}
		}
		for name, text := range network {
			if formatted, err := format.Source(text); path.Ext(name) == ".go" && (err != nil || !bytes.Equal(text, formatted)) {
				t.Errorf("%s: %s of the template http is not formatted: %v", module, name, err)
			}
		}
		for name, text := range files {
			if path.Ext(name) != ".go" {
				continue
			}
			formatted, err := format.Source(text)
			if err != nil || !bytes.Equal(text, formatted) {
				t.Errorf("%s: %s is not formatted: %v", module, name, err)
			}
		}
		var written []string
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if !codegen.Generated(files[name]) {
				written = append(written, name)
			}
		}
		if diff := cmp.Diff([]string{".gitignore", "Makefile", "capabilities.yaml", "go.mod", "go.sum", "main.go", "main_test.go", "random.go", "roll.star"}, written); diff != "" {
			t.Errorf("%s: files of people (-want +got):\n%s", module, diff)
		}
		for _, name := range []string{"generated/random/handlers.gen.go", "generated/random/int_gen.go", "generated/catalog/catalog_gen.go", "generated/" + codegen.SumsFile} {
			if !codegen.Generated(files[name]) {
				t.Errorf("%s: no generated %s", module, name)
			}
		}
		if !strings.Contains(string(files["main.go"]), `"`+module+`/generated/catalog"`) {
			t.Errorf("main.go imports no catalog of %s:\n%s", module, files["main.go"])
		}
		if string(files["go.sum"]) != "sums\n" {
			t.Errorf("go.sum: %q", files["go.sum"])
		}
	}
}

func TestGoMod(t *testing.T) {
	for _, c := range []struct {
		project Project
		want    string
	}{
		{Project{Module: "example.com/dice", Replace: "../cap gen"}, `module example.com/dice

go 1.26.0

tool (
	github.com/capgen/capgen/cmd/capgen
	github.com/capgen/capgen/cmd/capgenvet
)

replace github.com/capgen/capgen => "../cap gen"

require github.com/capgen/capgen v0.0.0-00010101000000-000000000000
`},
		{Project{Module: "example.com/dice", Version: "v1.2.3"}, `module example.com/dice

go 1.26.0

tool (
	github.com/capgen/capgen/cmd/capgen
	github.com/capgen/capgen/cmd/capgenvet
)

require github.com/capgen/capgen v1.2.3
`},
	} {
		files, err := Files(c.project)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, string(files["go.mod"])); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// A project needs the Go that capgen needs, and no other.
func TestGoVersion(t *testing.T) {
	const name = "../../../../go.mod"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse(name, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.Module.Mod.Path != Capgen || f.Go.Version != GoVersion {
		t.Errorf("go.mod is of %s and needs go %s; the scaffold has %s and %s", f.Module.Mod.Path, f.Go.Version, Capgen, GoVersion)
	}
}

func TestCheckModule(t *testing.T) {
	for module, want := range map[string]string{
		"":                                 "malformed module path",
		"notes":                            "missing dot in first path element",
		"example.com/a b":                  "invalid char",
		"example.com//a":                   "double slash",
		"example.com/../a":                 "example.com/notes",
		"/example.com/a":                   "example.com/notes",
		"example.com/a/v1":                 "example.com/notes",
		"example.com/a@v1.0.0":             "invalid char",
		"example.com/a\n":                  "invalid char",
		"example.com/con":                  "disallowed as path element",
		"github.com/capgen/capgen":         "capgen's own",
		"github.com/capgen/capgen/runtime": "capgen's own",
		"example.com/vendor":               "element vendor",
		"example.com/testdata/x":           "element testdata",
		"a.b/" + strings.Repeat("x", 197):  "201 bytes",
	} {
		if err := CheckModule(module); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; does not say %s", module, err, want)
		}
	}
	for _, module := range []string{"example.com", "example.com/a/v2", "github.com/capgen/capgen2", "a.b/" + strings.Repeat("x", 196)} {
		if err := CheckModule(module); err != nil {
			t.Errorf("%q: %v", module, err)
		}
	}
}

func TestName(t *testing.T) {
	for module, want := range map[string]string{
		"example.com/dice":                "dice",
		"example.com/dice/v2":             "dice",
		"gopkg.in/dice.v3":                "dice",
		"example.com":                     "example.com",
		"example.com/_my~Dice.go":         "my-Dice.go",
		"example.com/___":                 "server",
		"example.com/1":                   "1",
		"a.b/" + strings.Repeat("x", 100): strings.Repeat("x", 64),
	} {
		if got := Name(module); got != want {
			t.Errorf("%s: %s, want %s", module, got, want)
		}
	}
}
