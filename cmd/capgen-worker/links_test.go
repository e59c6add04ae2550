package main

import (
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// links.txt lists what the binary links on Linux, one package a line; those of
// the standard library that nobody imports by name are left out. What is added
// to it runs in every worker, before the sandbox: look twice, then write it
// with -update.
const linksFile = "links.txt"

var update = flag.Bool("update", false, "write "+linksFile)

func links(t *testing.T, arch string) string {
	t.Helper()
	c := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}", ".")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	out, err := c.Output()
	if err != nil {
		t.Skip("no go command: ", err)
	}
	var kept []string
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		standard := !strings.Contains(strings.SplitN(name, "/", 2)[0], ".")
		if standard && (strings.HasPrefix(name, "internal/") || strings.Contains(name, "/internal/") || strings.HasPrefix(name, "vendor/")) {
			continue
		}
		kept = append(kept, name)
	}
	slices.Sort(kept)
	return strings.Join(kept, "\n") + "\n"
}

func TestLinks(t *testing.T) {
	got := links(t, "amd64")
	if *update {
		if err := os.WriteFile(linksFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(linksFile)
	if err != nil {
		t.Fatal(err)
	}
	for arch, got := range map[string]string{"amd64": got, "arm64": links(t, "arm64")} {
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s links other packages than %s says (-want +got):\n%s", arch, linksFile, d)
		}
	}
	// What a worker must never hold, whatever the list says.
	for name := range strings.Lines(got) {
		for _, never := range []string{"net", "net/http", "os/exec", "os/user", "plugin", "runtime/cgo", "database/sql"} {
			if strings.TrimSpace(name) == never {
				t.Errorf("links %s", never)
			}
		}
		for _, ours := range []string{"authz", "schema", "codegen", "generated", "runtime/host", "runtime/mcpserver"} {
			if strings.HasPrefix(name, "github.com/capgen/capgen/"+ours) {
				t.Errorf("links %s", name)
			}
		}
	}
}
