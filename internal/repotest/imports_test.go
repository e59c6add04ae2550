package repotest

import (
	"fmt"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// layers says what each package may import of this module. The longest prefix
// decides; "x/..." stands for x and all below it. docs/explanation/architecture.md
// explains the picture.
var layers = []struct {
	pkg string
	may []string
}{
	{"authz", nil},
	{"authz/bearer", []string{"authz", "authz/scopes"}},
	{"authz/cedar", []string{"authz"}},
	{"authz/rego", []string{"authz"}},
	{"authz/scopes", []string{"authz"}},
	{"internal/cgrouptest", nil},
	{"internal/nearest", nil},
	{"internal/gate", nil},
	{"internal/hints", nil},
	{"internal/visible", nil},
	{"internal/exposition", nil},
	{"internal/gauge", nil},
	{"internal/oracle", []string{"runtime/canon"}},
	{"internal/ptytest", nil},
	{"internal/shelltest", nil},
	{"internal/sshagenttest", nil},
	{"internal/testdir", nil},
	{"internal/verbs", nil},
	{"internal/lint", []string{"internal/nearest", "internal/verbs", "internal/visible", "schema"}},
	{"internal/mcpimport", []string{"codegen", "internal/verbs", "internal/visible", "runtime/canon", "schema"}},
	{"internal/review", []string{"codegen", "internal/lint", "internal/visible", "runtime/canon", "runtime/program", "runtime/search", "schema", "schema/breaking"}},
	{"runtime/canon", nil},
	{"runtime/search", nil},
	{"runtime/govern", []string{"authz", "internal/visible", "runtime", "runtime/audit", "runtime/canon", "runtime/govern/..."}},
	{"runtime/govern/draft", []string{"runtime/canon", "runtime/govern", "runtime/govern/cas", "runtime/govern/change", "runtime/govern/plan", "runtime/govern/store"}},
	{"runtime/govern/root", []string{"internal/visible"}},
	{"runtime/govern/cas", []string{"runtime/govern/root"}},
	{"runtime/govern/change", []string{"runtime/canon", "runtime/govern/cas", "runtime/govern/root"}},
	{"runtime/govern/token", nil},
	{"runtime/govern/store", []string{"runtime/audit", "runtime/govern/cas", "runtime/govern/job", "runtime/govern/token"}},
	{"runtime/govern/store/postgres", []string{"runtime/govern/store"}},
	{"runtime/govern/store/sqlite", []string{"runtime/govern/store"}},
	{"runtime/govern/store/storetest", []string{"runtime/audit", "runtime/govern/cas", "runtime/govern/job", "runtime/govern/store", "runtime/govern/token"}},
	{"runtime/govern/fault", []string{"runtime/govern/root"}},
	{"runtime/govern/job", []string{"runtime/govern/token"}},
	{"runtime/govern/job/confine", []string{"runtime/internal/landlock", "runtime/worker/sandbox"}},
	{"runtime/govern/job/scope", []string{"runtime/govern/job/confine", "runtime/worker/cgroup"}},
	{"runtime/govern/job/supervise", []string{"internal/visible", "runtime/govern/job", "runtime/govern/job/confine", "runtime/govern/job/scope", "runtime/govern/root", "runtime/govern/token"}},
	{"runtime/govern/job/runner", []string{"internal/visible", "runtime/binding", "runtime/canon", "runtime/fault", "runtime/govern/job/confine", "runtime/program", "runtime/worker/sandbox"}},
	{"runtime/govern/internal/form", []string{"runtime/canon", "runtime/govern/token"}},
	{"runtime/govern/plan", []string{"runtime/canon", "runtime/govern/cas", "runtime/govern/change", "runtime/govern/internal/form", "runtime/govern/root", "runtime/govern/token"}},
	{"runtime/govern/review", []string{"internal/visible", "runtime/govern/cas", "runtime/govern/change", "runtime/govern/job/confine", "runtime/govern/job/scope", "runtime/govern/plan"}},
	{"runtime/govern/operate", []string{"internal/visible", "runtime/audit", "runtime/govern", "runtime/govern/approve", "runtime/govern/approve/daemon", "runtime/govern/job", "runtime/govern/job/confine", "runtime/govern/job/runner", "runtime/govern/job/scope", "runtime/govern/plan", "runtime/govern/review", "runtime/govern/root", "runtime/govern/store", "runtime/govern/store/sqlite", "runtime/host"}},
	{"runtime/govern/approve/daemon", []string{"runtime/audit", "runtime/canon", "runtime/govern/approve", "runtime/govern/internal/form", "runtime/govern/plan", "runtime/govern/token"}},
	{"runtime/govern/approve", []string{"runtime/canon", "runtime/govern/internal/form", "runtime/govern/plan", "runtime/govern/token"}},
	{"runtime/shaping", []string{"runtime/canon"}},
	{"runtime/internal", nil},
	{"runtime/binding", []string{"internal/visible", "runtime/canon"}},
	{"runtime/fault", []string{"runtime/canon"}},
	{"runtime/policyview", []string{"runtime/canon"}},
	{"runtime/program", []string{"internal/nearest", "runtime/binding", "runtime/canon", "runtime/fault", "runtime/program/..."}},
	{"runtime/program/python", nil},
	{"runtime/program/text", nil},
	{"runtime/program/format", nil},
	{"runtime/program/lower", []string{"runtime/program/python"}},
	{"runtime/worker", []string{"internal/gauge", "runtime/binding", "runtime/canon", "runtime/fault", "runtime/program", "runtime/worker/cgroup", "runtime/worker/sandbox", "runtime/internal/..."}},
	{"runtime/worker/cgroup", nil},
	{"runtime/worker/sandbox", []string{"runtime/internal/landlock"}},
	{"runtime/audit", []string{"runtime/canon"}},
	{"runtime", []string{"authz", "internal/gauge", "internal/hints", "runtime/audit", "runtime/binding", "runtime/canon", "runtime/fault", "runtime/policyview", "runtime/search", "runtime/shaping", "runtime/worker", "runtime/internal/..."}},
	{"runtime/mcpserver", []string{"authz", "runtime", "runtime/canon", "runtime/fault"}},
	{"runtime/mcphttp", []string{"authz", "internal/exposition"}},
	{"runtime/results", []string{"authz"}},
	{"runtime/telemetry", []string{"runtime"}},
	{"runtime/examples", []string{"authz", "runtime", "runtime/canon", "runtime/fault", "runtime/internal/..."}},
	{"runtime/host", []string{"authz", "authz/scopes", "internal/nearest", "internal/visible", "runtime", "runtime/audit", "runtime/canon", "runtime/fault", "runtime/mcphttp", "runtime/mcpserver", "runtime/results", "runtime/worker/sandbox", "runtime/internal/..."}},
	{"schema", []string{"internal/nearest", "runtime/binding", "runtime/canon"}},
	{"schema/breaking", []string{"schema"}},
	{"codegen", []string{"codegen/...", "internal/visible", "runtime/binding", "runtime/canon", "runtime/search", "schema"}},
	{"generated", []string{"generated/...", "runtime", "runtime/canon", "runtime/govern", "runtime/govern/wire"}},
	{"generated/fake", []string{"generated/...", "runtime", "runtime/examples", "runtime/govern"}},
	{"cmd/capgen", []string{"cmd/capgen/...", "codegen/...", "internal/hints", "internal/lint", "internal/mcpimport", "internal/nearest", "internal/review", "internal/visible", "schema"}},
	{"cmd/capgen-worker", []string{"runtime/worker"}},
	{"cmd/capgenvet", []string{"cmd/capgenvet/..."}},
	{"cmd/workspace", []string{"authz", "authz/bearer", "cmd/workspace/...", "generated/...", "runtime/..."}},
	{"examples/agentstubs", []string{"authz", "examples/agentstubs/...", "runtime/..."}},
	{"examples/agentstubs/generated", []string{"examples/agentstubs/generated/...", "runtime", "runtime/canon"}},
	{"examples/deployments", []string{"authz", "examples/deployments/...", "runtime/..."}},
	{"examples/deployments/generated", []string{"examples/deployments/generated/...", "runtime", "runtime/canon"}},
	{"examples/deployments/generated/fake", []string{"examples/deployments/generated/...", "runtime", "runtime/examples"}},
	{"examples/evaluate", []string{"authz", "authz/bearer", "examples/evaluate/...", "runtime/..."}},
	{"examples/evaluate/generated", []string{"examples/evaluate/generated/...", "runtime", "runtime/canon", "runtime/govern", "runtime/govern/wire"}},
	{"examples/evaluate/generated/fake", []string{"examples/evaluate/generated/...", "runtime", "runtime/examples", "runtime/govern"}},
	{"examples/policies", []string{"authz", "authz/cedar", "authz/scopes"}},
	{"examples/quickstart", []string{"authz", "examples/quickstart/...", "runtime/..."}},
	{"examples/quickstart/generated", []string{"examples/quickstart/generated/...", "runtime", "runtime/canon"}},
	{"examples/quickstart/generated/fake", []string{"examples/quickstart/generated/...", "runtime", "runtime/examples"}},
	{"bench/fullhost", []string{"runtime"}},
	{"bench/scale", nil},
	{"bench/gate", []string{"authz", "runtime", "runtime/canon"}},
	{"internal/repotest", nil},
}

// only says who may import a module of others.
var only = []struct {
	prefix string
	by     []string
}{
	{"github.com/modelcontextprotocol/go-sdk/", []string{"runtime/mcphttp", "runtime/mcpserver", "runtime/host", "runtime/telemetry", "bench/fullhost"}},
	{"go.opentelemetry.io/", []string{"runtime/telemetry"}},
	// Hosts choose it; none of ours does.
	{"github.com/capgen/capgen/runtime/telemetry", nil},
	{"go.starlark.net/", []string{"runtime/program"}},
	{"github.com/tinylib/msgp/", []string{"runtime/canon"}},
	{"github.com/open-policy-agent/", []string{"authz/rego", "bench/fullhost"}},
	{"github.com/cedar-policy/", []string{"authz/cedar"}},
	{"github.com/ncruces/", []string{"runtime/govern/store/sqlite"}},
	{"github.com/jackc/", []string{"runtime/govern/store/postgres", "bench/fullhost"}},
	{"github.com/golang-jwt/", []string{"authz/bearer"}},
	{"github.com/MicahParks/", []string{"authz/bearer"}},
	{"github.com/go-json-experiment/", []string{"authz/bearer"}},
	{"github.com/dave/jennifer/", []string{"codegen"}},
	{"go.yaml.in/yaml/", []string{"schema"}},
	{"golang.org/x/tools/", []string{"cmd/capgenvet"}},
	// Handlers that only pretend are in no binary.
	{"github.com/capgen/capgen/runtime/examples", []string{"generated/fake", "examples/deployments/generated/fake", "examples/evaluate/generated/fake", "examples/quickstart/generated/fake"}},
	{"github.com/capgen/capgen/generated/fake", nil},
	{"github.com/capgen/capgen/examples/quickstart/generated/fake", nil},
	{"github.com/capgen/capgen/examples/deployments/generated/fake", nil},
	{"github.com/capgen/capgen/examples/evaluate/generated/fake", nil},
	// The suite of stores is for tests only.
	{"github.com/capgen/capgen/runtime/govern/store/storetest", nil},
	// The second opinion is asked by tests only.
	{"github.com/capgen/capgen/internal/oracle", nil},
	{"github.com/santhosh-tekuri/jsonschema/", []string{"internal/oracle"}},
	{"github.com/gowebpki/jcs", []string{"internal/oracle"}},
	{"github.com/kljensen/snowball/", []string{"runtime/search"}},
}

// importsOf is the import graph of the non-test files, for every system at once.
func importsOf(tr *tree) (dirs []string, graph map[string][]string) {
	dirs, files := tr.packages()
	graph = map[string][]string{}
	for _, dir := range dirs {
		set := map[string]bool{}
		for _, name := range files[dir] {
			for _, p := range tr.imports(name) {
				set[p] = true
			}
		}
		graph[dir] = slices.Sorted(maps.Keys(set))
	}
	return dirs, graph
}

// ours is the folder of a package of this module.
func ours(importPath string) (dir string, ok bool) {
	return strings.CutPrefix(importPath, modulePath+"/")
}

func importDirections(tr *tree) []string {
	var out []string
	dirs, graph := importsOf(tr)
	for _, dir := range dirs {
		best := -1
		for i, l := range layers {
			if within(dir, l.pkg+"/...") && (best < 0 || len(l.pkg) > len(layers[best].pkg)) {
				best = i
			}
		}
		if best < 0 {
			out = append(out, dir+" has no layer: add it to the table in imports_test.go")
			continue
		}
		for _, p := range graph[dir] {
			if to, ok := ours(p); ok && !slices.ContainsFunc(layers[best].may, func(m string) bool { return within(to, m) }) {
				out = append(out, fmt.Sprintf("%s imports %s, which its layer does not list", dir, to))
			}
			for _, o := range only {
				if strings.HasPrefix(p, o.prefix) && !slices.ContainsFunc(o.by, func(by string) bool { return within(dir, by+"/...") }) {
					out = append(out, fmt.Sprintf("%s imports %s, which is for %s only", dir, p, strings.Join(o.by, ", ")))
				}
			}
		}
	}
	return out
}

// within: dir is what pattern names, or below it when pattern ends in "/...".
func within(dir, pattern string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return dir == base || strings.HasPrefix(dir, base+"/")
	}
	return dir == pattern
}

// workerSide: what runs in the worker process reaches neither a subject nor an
// authorizer nor the server nor the SDK, however far the way.
func workerSide(tr *tree) []string {
	var out []string
	_, graph := importsOf(tr)
	for _, from := range []string{"runtime/binding", "runtime/canon", "runtime/fault", "runtime/program", "runtime/worker", "runtime/worker/sandbox"} {
		seen := map[string]bool{}
		var walk func(dir string)
		walk = func(dir string) {
			for _, p := range graph[dir] {
				if to, ok := ours(p); ok && !seen[to] {
					seen[to] = true
					walk(to)
				} else if strings.HasPrefix(p, "github.com/modelcontextprotocol/") {
					seen[p] = true
				}
			}
		}
		walk(from)
		for _, to := range slices.Sorted(maps.Keys(seen)) {
			switch top, _, _ := strings.Cut(to, "/"); {
			case top == "authz", to == "runtime", top == "github.com",
				to == "runtime/host", to == "runtime/mcpserver", to == "runtime/policyview":
				out = append(out, fmt.Sprintf("%s reaches %s", path.Clean(from), to))
			}
		}
	}
	return out
}

// TestHostsLinkWhatTheyUse asks the go command what a host links that chose
// neither a policy engine nor a verifier nor telemetry.
func TestHostsLinkWhatTheyUse(t *testing.T) {
	command := exec.Command("go", "list", "-deps", "./examples/quickstart", "./runtime/host")
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "github.com/modelcontextprotocol/go-sdk/mcp\n") {
		t.Fatalf("not what a host links:\n%s", out)
	}
	for name := range strings.Lines(string(out)) {
		for _, never := range []string{
			"go.opentelemetry.io/", "github.com/cedar-policy/", "github.com/open-policy-agent/", "github.com/golang-jwt/", "github.com/MicahParks/",
			"github.com/prometheus/", "github.com/dave/", "github.com/google/go-cmp/", "golang.org/x/tools/",
		} {
			if strings.HasPrefix(name, never) {
				t.Errorf("links %s", strings.TrimSpace(name))
			}
		}
	}
}
