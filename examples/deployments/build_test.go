package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func goTool(t *testing.T, args ...string) string {
	t.Helper()
	out, err := tryGo(args...)
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func tryGo(args ...string) (string, error) {
	out, err := exec.Command("go", args...).CombinedOutput()
	return string(out), err
}

// binary builds the program with a tag; "" is none. Nothing is stripped, so
// that everything that a build has can be found in it.
func binary(t *testing.T, tag string, flags ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds programs")
	}
	name := filepath.Join(t.TempDir(), "deployments")
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-compressdwarf=false", "-tags", tag, "-o", name}, flags...)
	goTool(t, append(args, ".")...)
	return name
}

// Which files a build has is decided by the tags of deployments that it knows:
// no tag never widens, and two do not compile.
func TestTags(t *testing.T) {
	files := func(tags string) string {
		return goTool(t, "list", "-e", "-tags", tags, "-f", "{{.ImportPath}} {{.GoFiles}}", "./...")
	}
	untagged, prod, all := files(""), files("capgen_prod"), files("capgen_default")
	for name, same := range map[string]bool{
		"no tag, and a mistyped one":        files("capgen_prd") == untagged,
		"a known tag, and a mistyped one":   files("capgen_prod,capgen_prd") == prod,
		"the tag default is no tag":         all != untagged,
		"no tag is prod but for its name":   strings.ReplaceAll(prod, "deployment.prod.gen.go", "deployment.gen.go") == untagged,
		"default holds the shredder":        strings.Contains(all, "shred_gen.go") && strings.Contains(all, "furnace"),
		"prod does not":                     !strings.Contains(prod, "shred") && !strings.Contains(prod, "incinerate"),
		"nor does a build without a tag":    !strings.Contains(untagged, "shred") && !strings.Contains(untagged, "incinerate"),
		"a type is where its capability is": strings.Contains(all, "ashes_gen.go") && !strings.Contains(prod, "ashes_gen.go"),
	} {
		if !same {
			t.Errorf("not so: %s\nno tag:\n%s\nprod:\n%s\ndefault:\n%s", name, untagged, prod, all)
		}
	}
	out, err := tryGo("build", "-o", os.DevNull, "-tags", "capgen_default,capgen_prod", ".")
	if err == nil || !strings.Contains(out, "Deployment redeclared in this block") {
		t.Errorf("two tags: %v\n%s", err, out)
	}
}

// traces are what the binary of a deployment must not have of a capability
// that the deployment does not hold, and has where it is held. The program
// links text/template, so that the linker keeps every exported method.
var traces = []string{
	"letters.shred", "letters/shred", "shred_gen.go", "Shred", "Feed one letter to the shredder", "glues it together", "confetti",
	"A paper clip stops the machine", "How many strips", "a clip in the blades", "desk/destroy.go",
	"furnace.incinerate", "generated/furnace", "incinerate_gen.go", "burn-box-7", "Incinerate", "cinders", "Ashes", "ashes_gen.go", "smoke", "What is left of a burnt box", "How much it weighs",
}

// A client of prod gets the answers of a server whose manifest has never had
// what prod leaves out: results, ranks, descriptions and mistakes alike.
func TestNothingIsLeftOfWhatADeploymentLacks(t *testing.T) {
	// The build without a tag has the files of prod, as TestTags shows.
	all, prod := binary(t, "capgen_default"), binary(t, "capgen_prod")
	for name, held := range map[string]bool{all: true, prod: false} {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, trace := range append(traces, "letters.render", "letters/render_gen.go", "Render", "text/template") {
			want := held || !slices.Contains(traces, trace)
			if got := bytes.Contains(content, []byte(trace)); got != want {
				t.Errorf("prod %t: %q is in the binary: %t", name == prod, trace, got)
			}
		}
	}
	requests := requests(t)
	got := answers(t, prod, requests)
	want := answers(t, binary(t, "", "-overlay", smaller(t)), requests)
	if len(got) != len(want) || len(got) < 50 {
		t.Fatalf("%d answers, and %d of a smaller manifest", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("prod:\n%s\na smaller manifest:\n%s", got[i], want[i])
		}
	}
	// What holds more answers otherwise: the comparison can fail.
	if slices.Equal(answers(t, all, requests), want) {
		t.Error("default answers like prod")
	}
}

// requests are those of one session, a line each.
func requests(t *testing.T) string {
	var b strings.Builder
	add := func(method string, params any) {
		line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1000 + strings.Count(b.String(), "\n"), "method": method, "params": params})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	call := func(tool string, arguments map[string]any) {
		add("tools/call", map[string]any{"name": tool, "arguments": arguments})
	}
	add("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "1"}})
	b.WriteString(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	add("tools/list", map[string]any{})
	for _, query := range []string{
		"", "letters", "letter", "shred", "destroy a letter", "burn letters", "furnace", "incinerate box", "fill in", "which letters exist",
		"letters.shred", "burn-box-7", "write to somebody for ever", "lettres", "title", "name",
	} {
		call("search_api", map[string]any{"query": query})
	}
	for _, name := range []string{"letters.render", "letters.list", "letters.shred", "furnace.incinerate", "burn-box-7", "furnace", "letters"} {
		call("describe_api", map[string]any{"names": []string{name}})
	}
	for _, program := range []string{
		`letters.list()`, `letters.shred(title = "welcome")`, `letters.shread()`, `letters.shred`, `furnace.incinerate()`, `furnace`, `str(letters)`, `repr(letters)`,
		`dir(letters)`, `letters.render()`, `leters.list()`, `hasattr(letters, "shred")`, `globals()`, `letters.render(title = "x", name = "y")`,
	} {
		source := "def main():\n    return " + program + "\n"
		call("execute", map[string]any{"source": source})
		call("execute", map[string]any{"source": source, "check": true})
	}
	return b.String()
}

// varies is what two servers never have in common: the name of their
// deployment, the names of executions, and times.
var varies = regexp.MustCompile(`(deployment\W{1,6})(prod|default)|(execution\W{1,6})[a-z0-9-]+|(duration_us\W{1,6})[0-9]+`)

// answers runs one session, and returns its answers in the order of requests.
func answers(t *testing.T, program, requests string) []string {
	cmd := exec.Command(program, "stdio")
	cmd.Stdin = strings.NewReader(requests)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		var id struct{ ID int }
		if err := json.Unmarshal([]byte(line), &id); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		lines = append(lines, fmt.Sprintf("%d %s", id.ID, varies.ReplaceAllString(line, "$1$3$4…")))
	}
	slices.Sort(lines)
	return lines
}

// smaller is an overlay in which the code is generated from the manifest
// without what prod leaves out.
func smaller(t *testing.T) string {
	text, err := os.ReadFile("capabilities.yaml")
	if err != nil {
		t.Fatal(err)
	}
	manifest := string(text)
	cut := func(from, to string) {
		i := strings.Index(manifest, from)
		j := i + strings.Index(manifest[i:], to)
		if i < 0 || j < i {
			t.Fatalf("no %q before %q", from, to)
		}
		manifest = manifest[:i] + manifest[j:]
	}
	cut("  Ashes:\n", "capabilities:\n")
	cut("  - name: letters.shred\n", "programs:\n")
	cut("  - title: Shred what is left\n", "deployments:\n")
	manifest = manifest[:strings.Index(manifest, "deployments:\n")]
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "capabilities.yaml"), []byte(manifest), 0o666); err != nil {
		t.Fatal(err)
	}
	goTool(t, "run", "../../cmd/capgen", "generate", "--manifest", filepath.Join(dir, "capabilities.yaml"))
	here, err := filepath.Abs("generated")
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for _, root := range []string{here, filepath.Join(dir, "generated")} {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				relative, _ := filepath.Rel(root, path)
				replace[filepath.Join(here, relative)] = map[bool]string{false: path}[root == here]
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(name, overlay, 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}
