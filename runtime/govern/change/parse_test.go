package change

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/govern/cas"
)

func aTree() Tree {
	return Tree{Present: true, Mode: 0o750, Nodes: []Node{
		{Path: "lib", Dir: true, Mode: 0o755},
		{Path: "lib/ä.py", Mode: 0o644, Size: 3, Digest: cas.Of([]byte("abc"))},
		{Path: "run", Mode: 0o755, Digest: cas.Of(nil)},
	}}
}

func TestTreesReadBack(t *testing.T) {
	for _, tree := range []Tree{Absent, {Present: true, Mode: 0o700}, aTree()} {
		got, err := ParseTree(tree.AppendCanonical(nil))
		if diff := cmp.Diff(tree, got); err != nil || diff != "" {
			t.Errorf("(-want +got):\n%s, %v", diff, err)
		}
	}
}

func TestParseTreeRefuses(t *testing.T) {
	text := string(aTree().AppendCanonical(nil))
	for name, bad := range map[string]string{
		"nothing":    "",
		"space":      text + "\n",
		"twice":      strings.Replace(text, `{"mode":"0750"`, `{"mode":"0700","mode":"0750"`, 1),
		"no mode":    `{"nodes":[]}`,
		"unknown":    strings.Replace(text, `"mode":"0750"`, `"mode":"0750","n":1`, 1),
		"setuid":     strings.Replace(text, `"0755"`, `"4755"`, 1),
		"not octal":  strings.Replace(text, `"0755"`, `"0789"`, 1),
		"no size":    strings.Replace(text, `,"size":3`, ``, 1),
		"no digest":  strings.Replace(text, `,"sha256":"`+cas.Of(nil).String()+`"`, ``, 1),
		"order":      strings.Replace(text, `"path":"run"`, `"path":"a"`, 1),
		"outside":    strings.Replace(text, `"path":"run"`, `"path":".."`, 1),
		"upper case": strings.Replace(text, cas.Of(nil).String(), strings.ToUpper(cas.Of(nil).String()), 1),
		"long":       text + strings.Repeat(" ", MaxTreeText),
	} {
		if bad == text {
			t.Errorf("%s: nothing is wrong with it", name)
		}
		if _, err := ParseTree([]byte(bad)); !errors.Is(err, ErrNoTree) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParseTree(f *testing.F) {
	f.Add([]byte("null"))
	f.Add(aTree().AppendCanonical(nil))
	f.Fuzz(func(t *testing.T, text []byte) {
		tree, err := ParseTree(text)
		if err != nil {
			return
		}
		if again := tree.AppendCanonical(nil); !bytes.Equal(again, text) || tree.Check() != nil {
			t.Fatalf("%q is a tree, and spelt %q", text, again)
		}
	})
}
