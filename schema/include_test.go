package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const partHead = "capgen: 1\ngo: {package: example.com/x/generated}\nserver: {name: x, version: \"1\"}\n"

func partEntry(name, extra string) string {
	return "  - {name: " + name + extra + ", summary: s, effect: read, scopes: none, input: {type: object, properties: {}}, output: {type: boolean}}\n"
}

// What parts of a manifest may not do is an error that shows the place, and
// the other place where there is one.
func TestParts(t *testing.T) {
	type files = map[string]string
	one := "capabilities:\n" + partEntry("a.b", "")
	for _, c := range []struct {
		name  string
		files files
		want  []string
	}{
		{"nothing in them", files{"m.yaml": partHead + "include: [a.yaml]\n", "a.yaml": "types: {}\n"},
			[]string{`m.yaml:1:1: error: neither the manifest nor its parts have capabilities [missing-field]`}},
		{"an empty part", files{"m.yaml": partHead + "include: [a.json]\n" + one, "a.json": "{}"},
			[]string{`a.json:1:1: error: the part that is included at m.yaml:4:11 declares nothing [bad-include]`}},
		{"no mapping", files{"m.yaml": partHead + "include: [a.json]\n" + one, "a.json": "[]"},
			[]string{`a.json:1:1: error: a part of a manifest has to be a mapping, not a list [wrong-type]`}},
		{"what is the manifest's", files{"m.yaml": partHead + "include: [a.yaml]\n" + one, "a.yaml": "include: [b.yaml]\nserver: {}\ntypes: {}\ntags: []\nx: 1\n"}, []string{
			`a.yaml:1:1: error: "include" in a part of a manifest, included at m.yaml:4:11 [bad-include]`,
			`a.yaml:2:1: error: "server" in a part of a manifest, included at m.yaml:4:11 [bad-include]`,
			`a.yaml:4:1: error: a part of a manifest takes no key "tags" [unknown-key]`,
			`a.yaml:5:1: error: a part of a manifest takes no key "x" [unknown-key]`}},
		{"twice", files{"m.yaml": partHead + "include: [a.yaml, ./a.yaml]\n", "a.yaml": one},
			[]string{`m.yaml:4:19: error: "a.yaml" is included twice, first at m.yaml:4:11 [bad-include]`}},
		{"itself, by another way", files{"m.yaml": partHead + "include: [a/../m.yaml]\n" + one},
			[]string{`m.yaml:4:11: error: the manifest includes itself [bad-include]`}},
		{"a type twice", files{"m.yaml": partHead + "include: [b/a.yaml]\ntypes:\n  T: {type: string}\n" + one, "b/a.yaml": "types:\n  T: {type: string}\n"}, []string{
			`m.yaml:6:3: warning: type "T" is used by no capability [unused-type]`,
			`b/a.yaml:2:3: error: type "T" stands twice, first at m.yaml:6:3 [name-collision]`}},
		{"a type in another case", files{"m.yaml": partHead + "include: [a.yaml, b.yaml]\n" + one, "a.yaml": "types:\n  Ab: {type: string}\n", "b.yaml": "types:\n  AB: {type: string}\n"}, []string{
			`a.yaml:2:3: warning: type "Ab"`, `b.yaml:2:3: error: type "AB" differs from "Ab" (a.yaml:2:3) in case only [name-collision]`, `b.yaml:2:3: warning: type "AB"`}},
		{"a capability twice", files{"m.yaml": partHead + "include: [a.yaml]\n" + one, "a.yaml": one},
			[]string{`a.yaml:2:12: error: capability "a.b" stands twice, first at m.yaml:6:12 [name-collision]`}},
		{"an id twice", files{"m.yaml": partHead + "include: [a.yaml]\ncapabilities:\n" + partEntry("a.b", ", id: one"), "a.yaml": "capabilities:\n" + partEntry("a.c", ", id: one")},
			[]string{`a.yaml:2:21: error: id "one" stands twice, first at m.yaml:6:21 [id-collision]`}},
		{"a namespace", files{"m.yaml": partHead + "include: [a.yaml]\n" + one, "a.yaml": "capabilities:\n" + partEntry("a.b.c", "")},
			[]string{`a.yaml:2:12: error: "a.b" is a capability (m.yaml:6:12) and cannot be the namespace of "a.b.c" too [name-collision]`}},
		{"syntax", files{"m.yaml": partHead + "include: [a.json]\n" + one, "a.json": `{"types": }`},
			[]string{`a.json:1:11: error:`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string][]byte{}
			for name, text := range c.files {
				files[name] = []byte(text)
			}
			m, diags := Load(files, "m.yaml")
			expectFindings(t, diags, c.want)
			if m != nil {
				t.Error("a manifest all the same")
			}
			for _, d := range diags {
				if strings.Contains(d.Message, "first at") && d.Related == nil {
					t.Errorf("no second position: %v", d)
				}
			}
		})
	}
}

// expectFindings compares findings by their starts, in any order of files.
func expectFindings(t *testing.T, diags []Diagnostic, want []string) {
	t.Helper()
	ok := len(diags) == len(want)
	for _, w := range want {
		ok = ok && slices.ContainsFunc(diags, func(d Diagnostic) bool { return strings.HasPrefix(d.String(), w) })
	}
	if !ok {
		t.Errorf("got  %v\nwant %v", diags, want)
	}
}

// However types and capabilities are spread over files, in whatever order and
// form: the manifest is the same.
func TestPartsMakeNoDifference(t *testing.T) {
	text, err := os.ReadFile("testdata/good/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want, diags := Load(map[string][]byte{"m.yaml": text}, "m.yaml")
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 2))
		tree := readTree("m.yaml", string(text))
		files := spread(t, tree, r)
		got, diags := Load(files, "dir/m.json")
		if diff := cmp.Diff(want, got, ignorePositions); diff != "" || len(diags) > 0 {
			t.Fatalf("seed %d: %v\n%s", seed, diags, diff)
		}
	}
}

// spread moves types and capabilities of a manifest into up to four parts.
func spread(t *testing.T, tree *node, r *rand.Rand) map[string][]byte {
	names := []string{"a.json", "b/c.json", "b/d/e.json", "z.json"}
	parts := make([]*node, len(names))
	for i := range parts {
		parts[i] = &node{kind: mappingNode, members: []member{
			{key: "types", value: &node{kind: mappingNode}},
			{key: "capabilities", value: &node{kind: listNode}},
		}}
	}
	types, list := tree.get("types"), tree.get("capabilities")
	for i := range types.members {
		if j := r.IntN(len(parts) + 1); j < len(parts) {
			to := parts[j].get("types")
			to.members = append(to.members, types.members[i])
			types.members[i].key = ""
		}
	}
	for i, item := range list.items {
		if j := r.IntN(len(parts) + 1); j < len(parts) {
			to := parts[j].get("capabilities")
			to.items = append(to.items, item)
			list.items[i] = nil
		}
	}
	types.members = slices.DeleteFunc(types.members, func(m member) bool { return m.key == "" })
	list.items = slices.DeleteFunc(list.items, func(n *node) bool { return n == nil })
	tree.members = append(tree.members, member{key: "include", value: &node{kind: listNode}})
	files := map[string][]byte{}
	for i := range parts {
		if len(parts[i].get("capabilities").items) == 0 {
			parts[i].members = parts[i].members[:1] // an empty list is a mistake
		}
		tree.get("include").items = append(tree.get("include").items, &node{kind: stringNode, text: names[i]})
		files["dir/"+names[i]] = []byte(jsonText(t, parts[i]))
	}
	if len(list.items) == 0 {
		tree.members = slices.DeleteFunc(tree.members, func(m member) bool { return m.key == "capabilities" })
	}
	shuffle(tree, r, "")
	r.Shuffle(len(names), func(i, j int) {
		items := tree.get("include").items
		items[i], items[j] = items[j], items[i]
	})
	files["dir/m.json"] = []byte(jsonText(t, tree))
	return files
}

// A file is asked for by its path below the manifest, once, and what goes
// wrong is told where the path stands.
func TestOpening(t *testing.T) {
	const text = partHead + "include: [a.yaml, b/c.yaml]\n"
	var asked []string
	m, diags := LoadFrom([]byte(text), "../x/m.yaml", func(p string) ([]byte, error) {
		asked = append(asked, p)
		if p == "a.yaml" {
			return []byte("capabilities:\n" + partEntry("a.b", "")), nil
		}
		return nil, errors.New("path escapes from parent\x1b[2J")
	})
	if diff := cmp.Diff([]string{"a.yaml", "b/c.yaml"}, asked); diff != "" {
		t.Error(diff)
	}
	expectFindings(t, diags, []string{`../x/m.yaml:4:19: error: ../x/b/c.yaml cannot be read: path escapes from parent\u{001b}[2J [file-missing]`})
	if m != nil {
		t.Error("a manifest all the same")
	}
	for _, name := range []string{"m.yaml", "./m.yaml", "/m.yaml", "/a/m.yaml", "a/b/m.yaml", "../m.yaml"} {
		m, diags := LoadFrom([]byte(partHead+"include: [p/a.yaml]\n"), name, func(p string) ([]byte, error) {
			if p != "p/a.yaml" {
				return nil, fs.ErrNotExist
			}
			return []byte("capabilities:\n" + partEntry("a.b", "")), nil
		})
		if m == nil || m.Capabilities[0].Pos.File != path.Join(path.Dir(name), "p/a.yaml") {
			t.Errorf("%s: %v %v", name, m, diags)
		}
	}
}

// The files of a manifest are bounded together.
func TestPartsAreBounded(t *testing.T) {
	var include strings.Builder
	files := map[string][]byte{}
	for i := range 300 {
		name := fmt.Sprintf("p%03d.yaml", i)
		fmt.Fprintf(&include, "%s, ", name)
		files[name] = fmt.Appendf(nil, "capabilities:\n%s", partEntry(fmt.Sprintf("a.b%d", i), ""))
	}
	files["m.yaml"] = []byte(partHead + "include: [" + include.String() + "]\n")
	_, diags := Load(files, "m.yaml")
	if len(diags) != 300-255 || !strings.Contains(diags[0].Message, "more than 256 files") {
		t.Errorf("%d findings, %v", len(diags), diags[:1])
	}
	l := defaultLimits()
	l.files, l.allBytes = 400, len(files["m.yaml"])+len(files["p000.yaml"])
	_, diags = load(files, "m.yaml", l)
	if !HasErrors(diags) || diags[0].Rule != ruleFileTooLarge || diags[0].Column != strings.Index(string(files["m.yaml"]), "p001")-len(partHead)+1 {
		t.Errorf("%v", diags[0])
	}
	l = defaultLimits()
	l.fileNodes = 60
	_, diags = load(map[string][]byte{
		"m.yaml": []byte(partHead + "include: [a.json, b.json]\n"),
		"a.json": []byte(`{"types": [` + strings.Repeat("1,", 30) + `1]}`),
		"b.json": []byte(`{"types": [` + strings.Repeat("1,", 30) + `1]}`),
	}, "m.yaml", l)
	if !slices.ContainsFunc(diags, func(d Diagnostic) bool { return d.Rule == ruleTooManyNodes && d.File == "b.json" }) {
		t.Errorf("%v", diags)
	}
	if bytes.Count(files["m.yaml"], []byte("p")) < 300 {
		t.Error("the test includes nothing")
	}
}
