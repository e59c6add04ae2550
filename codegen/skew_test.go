package codegen_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Code of another generation than the runtime does not compile, and where the
// compiler points it says what to do.
func TestSkewDoesNotCompile(t *testing.T) {
	const file, constant = "../runtime/capability.go", "GeneratedCode1"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "const "+constant+" ") {
		t.Fatalf("%s declares no %s", file, constant)
	}
	next := filepath.Join(t.TempDir(), "capability.go")
	if err := os.WriteFile(next, []byte(strings.ReplaceAll(string(text), constant, "GeneratedCode2")), 0o600); err != nil {
		t.Fatal(err)
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{absolute: next}})
	if err != nil {
		t.Fatal(err)
	}
	replaced := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(replaced, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "build", "-overlay", replaced, "../examples/quickstart/generated/notes").CombinedOutput()
	if err == nil {
		t.Fatal("the generated code compiles")
	}
	at := regexp.MustCompile(`(\S+\.go):(\d+):\d+: undefined: runtime\.` + constant).FindStringSubmatch(string(out))
	if at == nil {
		t.Fatalf("another error: %s", out)
	}
	source, err := os.ReadFile(at[1])
	if err != nil {
		t.Fatal(err)
	}
	line, _ := strconv.Atoi(at[2])
	lines := strings.Split(string(source), "\n")
	if above := strings.Join(lines[max(0, line-4):line-1], "\n"); !strings.Contains(above, "run go generate with") {
		t.Errorf("above %s:%d stands\n%s", at[1], line, above)
	}
}
