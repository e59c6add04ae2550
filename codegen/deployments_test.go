package codegen_test

import (
	"bytes"
	"go/build/constraint"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/schema"
)

// built are the Go files that a build with these tags has, without their build
// constraints.
func built(t testing.TB, files map[string][]byte, tags ...string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for name, content := range files {
		if path.Ext(name) != ".go" {
			continue
		}
		line := constraintOf(content)
		if line == "" {
			out[name] = content
			continue
		}
		expr, err := constraint.Parse(line)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if expr.Eval(func(tag string) bool { return slices.Contains(tags, tag) }) {
			out[name] = bytes.Replace(content, []byte(line+"\n\n"), nil, 1)
		}
	}
	return out
}

func constraintOf(content []byte) string {
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "package ") {
			break
		}
		if strings.HasPrefix(line, "//go:build ") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func fromText(t testing.TB, text string) *schema.Manifest {
	t.Helper()
	m, diags := schema.Load(map[string][]byte{"m.yaml": []byte(text)}, "m.yaml")
	if m == nil {
		t.Fatal(diags)
	}
	return m
}

// deployed has a namespace that all deployments have in part, one that a
// deployment lacks, a type that two capabilities share and one that only an
// absent one uses.
const deployed = `capgen: 1
go: {package: example.com/g/generated}
server: {name: s, version: "1"}
types:
  Shared: {type: string}
  Inner: {type: object, properties: {name: {type: string}}}
  Outer: {type: array, items: {$ref: "#/types/Inner"}}
capabilities:
  - {name: a.get, summary: S., effect: read, scopes: none, input: {type: object, properties: {}}, output: {$ref: "#/types/Shared"}, examples: [{title: t, input: {}, output: x}]}
  - {name: a.put, summary: S., effect: write, scopes: none, input: {type: object, properties: {s: {$ref: "#/types/Shared"}}}, output: {type: boolean}}
  - {name: a.drop, summary: S., effect: destroy, scopes: none, tags: [danger], input: {type: object, properties: {}}, output: {$ref: "#/types/Outer"}, examples: [{title: t, input: {}, output: []}]}
  - {name: b.c.wipe, summary: S., effect: destroy, scopes: none, tags: [danger], input: {type: object, properties: {}}, output: {type: boolean}}
programs:
  - {title: Gets, source: "def main(): return a.get()", result: x}
  - {title: Drops, source: "def main(): return [a.get(), a . drop()]", result: [x, []]}
deployments:
`

func TestBuildConstraints(t *testing.T) {
	for _, test := range []struct {
		name, deployments string
		want              map[string]string // by file; those without one are left out
	}{
		{"default only", "  default: {}\n", nil},
		{"default with requirements", "  default: {require: [sandbox]}\n", nil},
		{"two that hold the same", "  default: {}\n  prod: {}\n", map[string]string{
			"catalog/deployment.default.gen.go": "capgen_default",
			"catalog/deployment.prod.gen.go":    "capgen_prod",
			"catalog/deployment.gen.go":         "!capgen_default && !capgen_prod",
		}},
		{"default none", "  default: none\n  prod: {}\n", map[string]string{
			"catalog/deployment.prod.gen.go": "capgen_prod",
			"catalog/deployment.gen.go":      "!capgen_prod",
		}},
		{"three", "  default: {}\n  prod: {exclude: [{tag: danger}]}\n  test: {exclude: [{effect: write}]}\n", map[string]string{
			"a/drop_gen.go":                     "capgen_default || capgen_test",
			"a/put_gen.go":                      "capgen_default || capgen_prod",
			"a/handlers.gen.go":                 "!capgen_default && !capgen_prod && !capgen_test",
			"a/handlers.default.gen.go":         "capgen_default",
			"a/handlers.prod.gen.go":            "capgen_prod",
			"a/handlers.test.gen.go":            "capgen_test",
			"b/c/wipe_gen.go":                   "capgen_default || capgen_test",
			"b/c/handlers.default.gen.go":       "capgen_default || capgen_test",
			"types/inner_gen.go":                "capgen_default || capgen_test",
			"types/outer_gen.go":                "capgen_default || capgen_test",
			"catalog/deployment.default.gen.go": "capgen_default",
			"catalog/deployment.prod.gen.go":    "capgen_prod",
			"catalog/deployment.test.gen.go":    "capgen_test",
			"catalog/deployment.gen.go":         "!capgen_default && !capgen_prod && !capgen_test",
			"catalog/handlers.gen.go":           "!capgen_default && !capgen_test",
			"catalog/handlers.default.gen.go":   "capgen_default || capgen_test",
			"fake/a_gen.go":                     "!capgen_default && !capgen_prod && !capgen_test",
			"fake/a_gen.default.go":             "capgen_default",
			"fake/a_gen.prod.go":                "capgen_prod",
			"fake/a_gen.test.go":                "capgen_test",
			"fake/b.c_gen.default.go":           "capgen_default || capgen_test",
			"fake/fake.gen.go":                  "!capgen_default && !capgen_test",
			"fake/fake.default.gen.go":          "capgen_default || capgen_test",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := generate(t, fromText(t, deployed+test.deployments))
			got := map[string]string{}
			for name, content := range files {
				if line := constraintOf(content); line != "" {
					got[name] = strings.TrimPrefix(line, "//go:build ")
				}
			}
			if test.want == nil {
				test.want = map[string]string{}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("build constraints (-want +got):\n%s", diff)
			}
		})
	}
}

// compile is the compiler's front end over what a build with these tags has.
func compile(t testing.TB, files map[string][]byte, tags ...string) error {
	t.Helper()
	return check(t, "example.com/g/generated", built(t, files, tags...))
}

func TestTagsOfDeployments(t *testing.T) {
	both := generate(t, fromText(t, deployed+"  default: {}\n  prod: {exclude: [{tag: danger}], require: [sandbox, authorizer], credentials: {t: {from: env, name: T, host: t.example}}}\n"))
	none := generate(t, fromText(t, deployed+"  default: none\n  dev: {}\n  prod: {exclude: [{tag: danger}]}\n"))
	same := generate(t, fromText(t, deployed+"  default: none\n  dev: {}\n  prod: {}\n"))
	for _, test := range []struct {
		name  string
		files map[string][]byte
		tags  []string
		want  string // in the error; empty for none
	}{
		{"no tag", both, nil, ""},
		{"default", both, []string{"capgen_default"}, ""},
		{"prod", both, []string{"capgen_prod"}, ""},
		{"mistyped", both, []string{"capgen_prd"}, ""},
		{"known and mistyped", both, []string{"capgen_prod", "capgen_prd"}, ""},
		{"two", both, []string{"capgen_prod", "capgen_default"}, "redeclared"},
		{"default none, no tag", none, nil, "a_build_needs_one_of_the_tags__capgen_dev__capgen_prod"},
		{"default none, mistyped", none, []string{"capgen_prd"}, "a_build_needs_one_of_the_tags__capgen_dev__capgen_prod"},
		{"default none, the tag default", none, []string{"capgen_default"}, "a_build_needs_one_of_the_tags__capgen_dev__capgen_prod"},
		{"default none, dev", none, []string{"capgen_dev"}, ""},
		{"default none, two", none, []string{"capgen_dev", "capgen_prod"}, "redeclared"},
		{"the same, no tag", same, nil, "a_build_needs_one_of_the_tags__capgen_dev__capgen_prod"},
		{"the same, two", same, []string{"capgen_dev", "capgen_prod"}, "redeclared"},
	} {
		err := compile(t, test.files, test.tags...)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	for name, want := range map[string][]string{
		"catalog/deployment.gen.go":         {`Deployment = "untagged"`, "b.Require(runtime.RequireAuthorizer, runtime.RequireSandbox)"},
		"catalog/deployment.default.gen.go": {`Deployment = "default"`},
		"catalog/deployment.prod.gen.go": {`Deployment = "prod"`, "b.Require(runtime.RequireAuthorizer, runtime.RequireSandbox)",
			`runtime.CredentialSource{Credential: "t", From: "env", Name: "T", Host: "t.example"}`},
	} {
		for _, line := range want {
			if !bytes.Contains(both[name], []byte(line)) {
				t.Errorf("%s lacks %s:\n%s", name, line, both[name])
			}
		}
	}
	// A program goes where everything that it mentions is.
	for tag, want := range map[string]bool{"": false, "capgen_prod": false, "capgen_default": true} {
		programs := ""
		for name, content := range built(t, both, tag) {
			if strings.HasPrefix(name, "fake/fake") {
				programs += string(content)
			}
		}
		if !strings.Contains(programs, `"Gets"`) || strings.Contains(programs, `"Drops"`) != want {
			t.Errorf("the programs of a build with the tag %q:\n%s", tag, programs)
		}
	}
	if bytes.Contains(both["catalog/deployment.gen.go"], []byte("CredentialSource")) || bytes.Contains(both["catalog/deployment.default.gen.go"], []byte("Require")) {
		t.Error("a build has what another deployment needs")
	}
}

// Whatever deployments there are, a build has exactly the code of a manifest
// without what it leaves out, over every kind of type and rule.
func TestBuildsAreThoseOfASmallerManifest(t *testing.T) {
	text, err := os.ReadFile("testdata/kinds/capabilities.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(3) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		m := load(t, "capabilities.yaml", text)
		names := []string{"default", "prod", "test"}
		held := map[string][]*schema.Capability{}
		for i, c := range m.Capabilities {
			first := rnd.IntN(len(names)) // each is somewhere, the first everywhere
			for n, name := range names {
				if n == first || i == 0 || rnd.IntN(2) == 0 {
					held[name] = append(held[name], c)
				}
			}
		}
		for _, name := range names {
			m.Deployments = append(m.Deployments[:slices.Index(names, name):slices.Index(names, name)], &schema.Deployment{Name: name, Capabilities: held[name]})
		}
		files := generate(t, m)
		held[""] = m.Common().Capabilities
		for name, caps := range held {
			tags := []string{"capgen_" + name}
			if name == "" {
				tags = nil
			}
			got := built(t, files, tags...)
			if err := check(t, m.Package, got); err != nil {
				t.Errorf("seed %d, build %q: %v", seed, name, err)
			}
			small := smallerManifest(m, caps)
			want := built(t, generate(t, small))
			if diff := cmp.Diff(packageTexts(want), packageTexts(got)); diff != "" {
				t.Fatalf("seed %d, build %q (-smaller manifest +deployment):\n%s", seed, name, diff)
			}
		}
	}
}

// smallerManifest has those capabilities only, and the types that they use.
func smallerManifest(m *schema.Manifest, caps []*schema.Capability) *schema.Manifest {
	used := map[*schema.NamedType]bool{}
	var walk func(t *schema.Type)
	walk = func(t *schema.Type) {
		if t == nil {
			return
		}
		if t.Kind == schema.Ref && !used[t.Ref] {
			used[t.Ref] = true
			walk(t.Ref.Type)
		}
		walk(t.Items)
		walk(t.Keys)
		for _, p := range t.Properties {
			walk(p.Type)
		}
		for _, v := range t.Variants {
			walk(v)
		}
	}
	for _, c := range m.Capabilities {
		walk(c.Input)
		walk(c.Output)
	}
	unused := map[*schema.NamedType]bool{}
	for _, t := range m.Types {
		unused[t] = !used[t] // these are in every build
	}
	clear(used)
	for _, c := range caps {
		walk(c.Input)
		walk(c.Output)
	}
	small := *m
	small.Capabilities, small.Deployments = caps, nil
	small.Types = slices.DeleteFunc(slices.Clone(m.Types), func(t *schema.NamedType) bool { return !used[t] && !unused[t] })
	small.Programs = slices.DeleteFunc(slices.Clone(m.Programs), func(p *schema.Program) bool {
		return slices.ContainsFunc(m.Capabilities, func(c *schema.Capability) bool {
			return strings.Contains(p.Source, c.Name+"(") && !slices.Contains(caps, c)
		})
	})
	return &small
}

// packageTexts are the files of a build by package, one after the other, with
// names that do not say which deployments have them. How the catalog is divided
// into files, and what it says of the deployment, is another matter.
func packageTexts(files map[string][]byte) map[string]string {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		plain := name
		for _, deployment := range []string{".default", ".prod", ".test"} {
			plain = strings.Replace(plain, deployment+".", ".", 1)
		}
		if path.Dir(name) != "catalog" {
			out[plain] = string(files[name])
			continue
		}
		text := string(files[name])
		if i := strings.Index(text, "// Handlers are what"); i >= 0 {
			out["catalog"] = strings.Replace(text[i:], "b.Deployment(Deployment)", "declare(b)", 1)
		}
	}
	return out
}

// A text must not bring the name of a capability into a build that does not
// hold it.
func TestTextsNameNothingAbsent(t *testing.T) {
	for _, test := range []struct {
		old, new string
		want     string // finding, by a part; empty for none
	}{
		{"", "", ""},
		{"name: a.get, summary: S.", "name: a.get, summary: See a.put.", ""},
		{"name: a.drop, summary: S.", "name: a.drop, summary: Unlike b.c.wipe.", ""},
		{"name: a.get, summary: S.", "name: a.get, summary: Unlike a.drop.", "a.get names a.drop, which deployment prod does not hold"},
		{"name: a.get, summary: S.", "name: a.get, summary: S., description: Not (b.c.wipe)", "a.get names b.c.wipe, which deployment prod"},
		{"name: a.get, summary: S.", "name: a.get, summary: S., search: [do as a.drop]", "a.get names a.drop"},
		{"name: a.get, summary: S.", "name: a.get, summary: S., errors: {e: As a.drop does.}", "a.get names a.drop"},
		{"{title: t, input: {}, output: x}", "{title: t, input: {}, output: x/a.drop}", "a.get names a.drop"},
		{"{title: t, input: {}, output: x}", "{title: As wipe-7, input: {}, output: x}", "a.get names b.c.wipe"},
		{"properties: {s: {$ref", "properties: {s2: {type: string, description: Of a.drop}, s: {$ref", "a.put names a.drop"},
		{"properties: {s: {$ref", "properties: {s2: {type: string, default: a.drop}, s: {$ref", "a.put names a.drop"},
		{"properties: {s: {$ref", "properties: {s2: {type: string, enum: [a.drop]}, s: {$ref", "a.put names a.drop"},
		{"Shared: {type: string}", "Shared: {type: string, description: By a.drop}", "type Shared names a.drop"},
		{"Inner: {type: object,", "Inner: {type: object, description: By a.drop,", ""},
		{"version: \"1\"}", "version: \"1\", instructions: Begin. a.drop is next}", "the server's text names a.drop"},
		{"summary: S., effect: write", "summary: S., effect: write, was: [a.drip]", ""},
	} {
		text := strings.Replace(deployed, "name: b.c.wipe", "name: b.c.wipe, id: wipe-7", 1)
		if test.old != "" && !strings.Contains(text, test.old) {
			t.Fatalf("no %q", test.old)
		}
		text = strings.Replace(text, test.old, test.new, 1)
		_, diags := codegen.Generate(fromText(t, text+"  default: {}\n  prod: {exclude: [{tag: danger}]}\n"))
		if test.want == "" && len(diags) > 0 || test.want != "" && (len(diags) != 1 || !strings.Contains(diags[0].String(), test.want) || diags[0].Rule != "absent-name") {
			t.Errorf("%s: %v, want %q", test.new, diags, test.want)
		}
	}
}

// What a model made by hand says reaches file names and constraints only if it
// has the form of what a manifest says.
func TestHandMadeDeployments(t *testing.T) {
	base := func() *schema.Manifest { return fromText(t, deployed+"  default: {}\n") }
	for want, change := range map[string]func(m *schema.Manifest, d *schema.Deployment){
		"deployment-name":     func(_ *schema.Manifest, d *schema.Deployment) { d.Name = "x\n//go:build ignore" },
		"unknown-requirement": func(_ *schema.Manifest, d *schema.Deployment) { d.Require = []string{"luck"} },
		"unreached":           func(_ *schema.Manifest, d *schema.Deployment) { d.Capabilities = d.Capabilities[1:] },
		"too-many-deployments": func(m *schema.Manifest, d *schema.Deployment) {
			m.Deployments = slices.Repeat([]*schema.Deployment{d}, 64)
		},
		"text-utf8": func(_ *schema.Manifest, d *schema.Deployment) { d.Credentials = []schema.Credential{{Name: "\xff"}} },
	} {
		m := base()
		change(m, m.Deployments[0])
		files, diags := codegen.Generate(m)
		if files != nil || len(diags) == 0 || diags[0].Rule != want {
			t.Errorf("%s: %v", want, diags)
		}
	}
	m := base()
	m.Deployments = append(m.Deployments, m.Deployments[0])
	if _, diags := codegen.Generate(m); len(diags) == 0 || diags[0].Rule != "deployment-name" {
		t.Errorf("twice the same: %v", diags)
	}
}

func TestLockFilesShowDeployments(t *testing.T) {
	files := generate(t, fromText(t, deployed+"  default: {}\n  prod: {exclude: [{tag: danger}], require: [sandbox, authorizer], credentials: {t: {from: env, name: T, host: t.example}}}\n"))
	for name, lines := range map[string][]string{
		"lock/a.lock": {"a.drop deployments default\n", "a.get deployments default prod\n"},
		"lock/catalog.lock": {"default capabilities 4: read 1, write 1, destroy 2\n", "prod capabilities 2: read 1, write 1\nprod require authorizer sandbox\n" +
			"prod credential t env \"T\" for \"t.example\"\n", "untagged capabilities 2: read 1, write 1\nuntagged require authorizer sandbox\n"},
	} {
		for _, line := range lines {
			if !strings.Contains(string(files[name]), line) {
				t.Errorf("%s lacks %q:\n%s", name, line, files[name])
			}
		}
	}
	if files := generate(t, fromText(t, deployed+"  default: {}\n")); files["lock/catalog.lock"] != nil || bytes.Contains(files["lock/a.lock"], []byte("deployments")) {
		t.Error("a manifest without deployments has lines of them")
	}
}
