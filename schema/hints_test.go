package schema

import (
	"fmt"
	"strings"
	"testing"
)

// The parsers have words for their grammars; the hint is for the person who
// wrote the file. One test a mistake that people make.
func TestSyntaxHints(t *testing.T) {
	for _, c := range []struct {
		name, file, text, at, hint string
	}{
		{"tab", "m.yaml", "go:\n\tpackage: a\n", "2:1", "indent with spaces"},
		{"at sign", "m.yaml", "a: @b\n", "1:4", `quote the value: "@"`},
		{"percent", "m.yaml", "a: %b\n", "1:4", `quote the value: "%"`},
		{"backquote", "m.yaml", "a: `b`\n", "1:4", "quote the value: \"`\""},
		{"star", "m.yaml", "a: *b c\n", "1:4", "quote the value if it is a string"},
		{"colon", "m.yaml", "a: b: c\n", "1:5", "quote the value if the colon belongs to it"},
		{"bare reference", "m.yaml", "a: {$ref: #/types/A}\n", "2:1", `quote the reference: "#/types/NAME"`},
		{"open bracket", "m.yaml", "a: {b: [c, d}\n", "1:13", "close the bracket that is open"},
		{"apostrophe", "m.yaml", "a:\n  b: 'don't do'\n", "2:11", "write an apostrophe twice"},
		{"indented more", "m.yaml", "a: 1\n  b: 2\n", "2:4", "mend the indentation"},
		{"indented less", "m.yaml", "a:\n  - b: 1\n c: 2\n", "3:2", "mend the indentation"},
		{"open quote", "m.yaml", "a: 'b\nc: d\n", "3:1", "close the quotation mark"},
		{"bad escape", "m.yaml", "a: \"\\q\"\n", "1:5", ""},
		{"trailing comma in an object", "m.json", "{\"a\": 1,\n}", "2:1", "remove the comma before it"},
		{"trailing comma in a list", "m.json", `[1, ]`, "1:5", "remove the comma before it"},
		{"line comment", "m.json", "// a\n{}", "1:1", "JSON has no comments"},
		{"comment of YAML", "m.json", "{\"a\": 1 # one\n}", "1:9", "JSON has no comments"},
		{"single quotes", "m.json", `{'a': 1}`, "1:2", "double quotes"},
		{"no comma", "m.json", `{"a": 1 "b": 2}`, "1:9", "put a comma"},
		{"YAML", "m.json", "capgen: 1\n", "1:1", "rename a YAML manifest"},
		{"cut off", "m.json", `{"a": [1`, "1:9", "ends before its last bracket"},
		{"empty", "m.json", " \n", "2:1", "the file is empty"},
		{"other", "m.json", `{"a": NaN}`, "1:7", ""},
		{"UTF-16, little endian", "m.yaml", "\xff\xfea\x00", "1:1", "save it as UTF-8"},
		{"UTF-16, big endian", "m.yaml", "\xfe\xff\x00a", "1:1", "save it as UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, diags := Load(map[string][]byte{c.file: []byte(c.text)}, c.file)
			if len(diags) != 1 {
				t.Fatalf("findings: %v", diags)
			}
			d := diags[0]
			if at := fmt.Sprintf("%d:%d", d.Line, d.Column); at != c.at || !strings.Contains(d.Hint, c.hint) || (c.hint == "") != (d.Hint == "") {
				t.Errorf("at %s: %s\nhint %q\nwant at %s: hint %q", at, d, d.Hint, c.at, c.hint)
			}
		})
	}
}

// What is still open is the second position.
func TestSyntaxErrorNamesWhatIsOpen(t *testing.T) {
	for text, want := range map[string]string{
		"a:\n  b: [c, d\n": "m.yaml:2:6",
		"a: 'b\nc: d\n":    "m.yaml:1:4",
	} {
		_, diags := Load(map[string][]byte{"m.yaml": []byte(text)}, "m.yaml")
		if len(diags) != 1 || diags[0].Related == nil || diags[0].Related.String() != want {
			t.Errorf("%q: got %+v, want a finding related to %s", text, diags, want)
		}
	}
}

func TestRepairedNames(t *testing.T) {
	for name, want := range map[string]string{
		"Notes.Find": "notes.find", "notes/find-all": "notes.find_all", "notes:find": "notes.find",
		"find": "", "notes.": "", "notes.2": "", "nötes.find": "",
	} {
		if got := repairedName(name); got != want {
			t.Errorf("repairedName(%q) = %q, want %q", name, got, want)
		}
	}
}
