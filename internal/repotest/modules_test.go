package repotest

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// maxIndirect bounds what a user's project gains in requirements.
const maxIndirect = 25

type goMod struct {
	Module  struct{ Path string }
	Require []struct {
		Path, Version string
		Indirect      bool
	}
	Replace []struct{ Old struct{ Path string } }
	Exclude []struct{ Path string }
}

func readGoMod(t *testing.T, file string) goMod {
	t.Helper()
	out, err := exec.Command("go", "mod", "edit", "-json", filepath.Join(root, file)).Output()
	if err != nil {
		t.Fatal(err)
	}
	var m goMod
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// dependencyLine is a line of docs/reference/dependencies.md: a module in the
// first cell, and in the others what for and why, or what it comes with.
var dependencyLine = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.*) \\|$")

// dependencyFindings compares the modules that a go.mod requires with the lines
// that explain them; each has a reason in every cell.
func dependencyFindings(required []string, document string) []string {
	var out, documented []string
	for _, m := range dependencyLine.FindAllStringSubmatch(document, -1) {
		documented = append(documented, m[1])
		for _, cell := range strings.Split(m[2], "|") {
			if strings.TrimSpace(cell) == "" {
				out = append(out, m[1]+": an empty cell")
			}
		}
	}
	for _, r := range required {
		if !slices.Contains(documented, r) {
			out = append(out, r+": required, but docs/reference/dependencies.md has no line")
		}
	}
	for _, d := range documented {
		if !slices.Contains(required, d) {
			out = append(out, d+": has a line, but nothing requires it")
		}
	}
	return out
}

func TestDependencies(t *testing.T) {
	broken := dependencyFindings([]string{"example.com/a", "example.com/b"},
		"| Module | For |\n|---|---|\n| `example.com/a` | good | |\n| `example.com/c` | x | y |\n")
	if diff := cmp.Diff([]string{
		"example.com/a: an empty cell",
		"example.com/b: required, but docs/reference/dependencies.md has no line",
		"example.com/c: has a line, but nothing requires it",
	}, broken); diff != "" {
		t.Errorf("over a document that breaks the rule (-want +got):\n%s", diff)
	}
	var required []string
	indirect := 0
	for _, file := range []string{"go.mod", "tools/go.mod"} {
		m := readGoMod(t, file)
		for _, r := range m.Require {
			if !slices.Contains(required, r.Path) {
				required = append(required, r.Path)
			}
			if r.Indirect && file == "go.mod" {
				indirect++
			}
		}
		for _, r := range m.Replace {
			t.Errorf("%s: replaces %s; a module that is imported must build without", file, r.Old.Path)
		}
		for _, e := range m.Exclude {
			t.Errorf("%s: excludes %s", file, e.Path)
		}
		if want := strings.TrimSuffix(modulePath+"/"+filepath.ToSlash(filepath.Dir(file)), "/."); m.Module.Path != want {
			t.Errorf("%s: module %s, want %s", file, m.Module.Path, want)
		}
	}
	for _, f := range dependencyFindings(required, repository(t).read("docs/reference/dependencies.md")) {
		t.Error(f)
	}
	if indirect > maxIndirect {
		t.Errorf("go.mod: %d indirect requirements, at most %d", indirect, maxIndirect)
	}
}
