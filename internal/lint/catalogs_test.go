package lint

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/capgen/capgen/internal/mcpimport"
	"github.com/capgen/capgen/schema"
)

// catalogs are the lists of tools of the shared suites, by name; the test is
// skipped where they do not stand beside a folder above this one.
func catalogs(t *testing.T) map[string]*schema.Manifest {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		files, _ := filepath.Glob(filepath.Join(dir, "shared", "suites", "mcp-catalogs", "*.json"))
		all := map[string]*schema.Manifest{}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			namespace := mcpimport.Namespace(file)
			all[namespace] = load(t, string(mcpimport.Import(text, mcpimport.Options{File: file, Namespace: namespace, Package: "example.com/t", Confirm: true}).Manifest))
		}
		if len(all) > 0 {
			return all
		}
	}
	t.Skip("the shared suite of MCP catalogs is not here")
	return nil
}

// What real servers tell a model: the orders of one that gives many are found,
// and so is what others do now and then. The numbers are those of a reading by
// hand; a rule that finds more or less than before shows here.
func TestCatalogs(t *testing.T) {
	want := map[string]map[string]int{
		"antvis_chart":          {"long-text": 1},
		"desktop_commander":     {"long-text": 8, "opaque": 1, "order-sequence": 3, "order-to-model": 12, "unknown-tool": 6, "urgency": 14},
		"docker_hub":            {"missing-description": 4, "order-to-model": 1, "unknown-tool": 1},
		"github":                {"long-text": 2, "missing-description": 1, "mixed-parameter-names": 10, "order-sequence": 4, "order-to-model": 5, "undeclared-host": 2, "unknown-tool": 6, "urgency": 3},
		"kubernetes_mcp_server": {"order-sequence": 2, "order-to-model": 1, "undeclared-host": 6, "unknown-tool": 12, "urgency": 1},
		"posthog":               {"missing-enum-description": 8, "mixed-parameter-names": 1, "opaque": 3, "order-sequence": 2, "order-to-model": 10, "unknown-tool": 6, "urgency": 3},
	}
	all := catalogs(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		got := map[string]int{}
		for _, f := range Check(all[name]) {
			switch f.Rule {
			case "missing-search", "unbounded-input", "missing-parameter-description": // nearly everywhere
			default:
				got[f.Rule]++
			}
			if testing.Verbose() {
				fmt.Printf("%s: %s [%s]\n", f.Target, f.Message, f.Rule)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want[name]) {
			t.Errorf("%s: %v, want %v", name, got, want[name])
		}
	}
}
