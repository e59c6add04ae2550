// Package tokens counts what a model reads of the tools, in tokens of o200k. It
// stands in the tools module because the tokenizer does; it must never know
// more of capgen than golden files and bin/workspace.
package tokens

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

const (
	// maxToolsList bounds the whole answer to tools/list.
	maxToolsList = 900
	// maxNamespace bounds the descriptions of an ordinary namespace of 30
	// capabilities, as many answers as that takes.
	maxNamespace = 2500
	// maxWorkspace bounds the description of all that bin/workspace has.
	maxWorkspace = 4000
)

// count is how many tokens the JSON text is, without white space between its
// tokens.
func count(t *testing.T, text []byte) int {
	t.Helper()
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		t.Fatal(err)
	}
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	n, err := codec.Count(compact.String())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func within(t *testing.T, what string, n, bound int) {
	t.Helper()
	t.Logf("%s: %d tokens, at most %d", what, n, bound)
	if n == 0 || n > bound {
		t.Errorf("%s is %d tokens, want 1 to %d", what, n, bound)
	}
}

// The tokenizer gives what is known of it: texts and their counts.
func TestCount(t *testing.T) {
	for text, want := range map[string]int{`"hello world"`: 4, `{ "name" : "files.read" }`: 6} {
		if got := count(t, []byte(text)); got != want {
			t.Errorf("%s is %d tokens, want %d", text, got, want)
		}
	}
}

func TestToolsList(t *testing.T) {
	tools := read(t, "../../runtime/mcpserver/testdata/tools_list.json")
	within(t, "tools/list", count(t, append(append([]byte(`{"tools":`), tools...), '}')), maxToolsList)
}

func TestNamespace(t *testing.T) {
	n := 0
	for line := range bytes.Lines(read(t, "../../codegen/testdata/shop/describe.jsonl")) {
		n += count(t, line)
	}
	within(t, "a namespace of 30 capabilities", n, maxNamespace)
}

func TestWorkspace(t *testing.T) {
	const workspace = "../../bin/workspace"
	if _, err := os.Stat(workspace); err != nil {
		t.Skip("bin/workspace is not built: run make tokens")
	}
	answer, err := exec.Command(workspace, "describe", "--root", ".", "files.list", "files.read", "files.search", "files.stat", "files.tree").Output()
	if err != nil {
		t.Fatal(err)
	}
	within(t, "the five capabilities of workspace", count(t, answer), maxWorkspace)
}
