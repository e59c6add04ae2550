package govern

import (
	"errors"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/govern/change"
)

func TestTreeOf(t *testing.T) {
	got, contents, err := treeOf(Change{
		Files: []File{{Path: "lib/deep/a.py", Content: []byte("a")}, {Path: "run", Mode: 0o755, Content: []byte("a")}},
		Dirs:  []string{"empty/er", "lib"},
	})
	if err != nil || len(contents) != 1 || got.Mode != 0o755 {
		t.Fatalf("%+v, %d, %v", got, len(contents), err)
	}
	var lines []string
	for _, n := range got.Nodes {
		lines = append(lines, octal(n.Mode)+" "+n.Path)
	}
	if text := strings.Join(lines, "\n"); text != "0755 empty\n0755 empty/er\n0755 lib\n0755 lib/deep\n0644 lib/deep/a.py\n0755 run" {
		t.Error(text)
	}
}

func TestTreeOfRefuses(t *testing.T) {
	for what, c := range map[string]Change{
		"twice":           {Files: []File{{Path: "a"}, {Path: "a"}}},
		"file in a file":  {Files: []File{{Path: "a"}, {Path: "a/b"}}},
		"file over a dir": {Files: []File{{Path: "a/b"}, {Path: "a"}}},
		"dir over a file": {Files: []File{{Path: "a/b"}}, Dirs: []string{"a/b"}},
		"way out":         {Files: []File{{Path: "../a"}}},
		"absolute":        {Files: []File{{Path: "/a"}}},
		"empty":           {Files: []File{{Path: ""}}},
		"two cases":       {Files: []File{{Path: "A"}, {Path: "a"}}},
		"setuid":          {Files: []File{{Path: "a", Mode: 1 << 23}}},
	} {
		if tree, _, err := treeOf(c); err == nil {
			t.Errorf("%s: %+v", what, tree)
		} else if strings.Contains(what, "case") && !errors.Is(err, change.ErrNoTree) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
