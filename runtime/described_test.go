package runtime

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/capgen/capgen/authz"
)

// The example that the tool execute is described with runs, here as there.
func TestDescribedProgram(t *testing.T) {
	text, err := os.ReadFile("mcpserver/testdata/tools_list.json")
	if err != nil {
		t.Fatal(err)
	}
	var tools []struct{ Name, Description string }
	if err := json.Unmarshal(text, &tools); err != nil {
		t.Fatal(err)
	}
	ran := false
	for _, tool := range tools {
		from := strings.Index(tool.Description, "def main():")
		if tool.Name != "execute" || from < 0 {
			continue
		}
		source, _, _ := strings.Cut(tool.Description[from:], "\n\n")
		s := build(t, Options{}, NewCapability(lookupInfo(), lookup))
		data := WithData([]byte(`{"keys": ["a", "bb", "` + strings.Repeat("long", 40) + `"]}`))
		got, err := s.Execute(t.Context(), authz.Local(), source, data)
		if err != nil || !strings.HasPrefix(string(got.Result), `{"a":20,"bb":20,"long`) || !strings.Contains(string(got.Result), `"failed: `) {
			t.Errorf("got %s, %v", got.Result, err)
		}
		ran = true
	}
	if !ran {
		t.Error("execute is described without a program")
	}
}
