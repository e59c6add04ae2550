package schema

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The chunks of testdata/bad/*.yaml are separated by lines "# ---". Where a
// finding is expected its line ends in
//
//	### rule-id "regular expression"
//
// once for each finding; the expression is matched against message, hint and
// nearest name. A chunk is completed with the sections it leaves out, unless
// it starts with "# raw".

var expectation = regexp.MustCompile(`### ([a-z-]+) ("(?:[^"\\]|\\.)*")`)

type chunk struct {
	file, text string
	line       int // of its first line in the file
	expected   map[int][]expected
}

type expected struct {
	rule string
	re   *regexp.Regexp
}

func (c *chunk) name() string { return fmt.Sprintf("%s:%d", c.file, c.line) }

func readChunks(t *testing.T) []chunk {
	t.Helper()
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no chunks: %v", err)
	}
	var chunks []chunk
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		line := 1
		for _, part := range strings.Split(string(text), "# ---\n") {
			c := chunk{file: filepath.Base(file), line: line, text: part, expected: map[int][]expected{}}
			for i, l := range strings.Split(part, "\n") {
				for _, m := range expectation.FindAllStringSubmatch(l, -1) {
					pattern, err := strconv.Unquote(strings.NewReplacer(`\"`, `\"`, `\`, `\\`).Replace(m[2]))
					if err != nil {
						t.Fatalf("%s:%d: %v", file, line+i, err)
					}
					c.expected[line+i] = append(c.expected[line+i], expected{m[1], regexp.MustCompile(pattern)})
				}
			}
			if strings.Count(part, "###") != countExpected(c.expected) {
				t.Fatalf("%s: an expectation that is not understood", c.name())
			}
			// Leading blank lines keep line numbers.
			c.text = strings.Repeat("\n", line-1) + complete(part)
			line += strings.Count(part, "\n") + 1
			chunks = append(chunks, c)
		}
	}
	return chunks
}

func countExpected(m map[int][]expected) int {
	n := 0
	for _, e := range m {
		n += len(e)
	}
	return n
}

var typeLine = regexp.MustCompile(`(?m)^  ([A-Za-z_]+):`)

// complete adds the sections that a chunk leaves out. Types get a capability
// that uses each of them.
func complete(text string) string {
	if strings.HasPrefix(text, "# raw") {
		return text
	}
	has := func(section string) bool { return regexp.MustCompile(`(?m)^` + section + `:`).MatchString(text) }
	for _, s := range []struct{ section, line string }{
		{"capgen", "capgen: 1"},
		{"go", "go: {package: example.com/x/generated}"},
		{"server", "server: {name: x, version: \"1\"}"},
	} {
		if !has(s.section) {
			text += s.line + "\n"
		}
	}
	if !has("capabilities") {
		output := "{type: boolean}"
		if _, types, ok := strings.Cut("\n"+text, "\ntypes:"); ok {
			output = "{type: object, properties: {"
			for i, m := range typeLine.FindAllStringSubmatch(types, -1) {
				output += fmt.Sprintf("p%d: {$ref: \"#/types/%s\"}, ", i, m[1])
			}
			output += "}}"
		}
		text += "capabilities:\n  - {name: base.noop, summary: Do nothing., effect: read, scopes: none, input: {type: object, properties: {}}, output: " + output + "}\n"
	}
	return text
}

func TestChunks(t *testing.T) {
	for _, c := range readChunks(t) {
		t.Run(c.name(), func(t *testing.T) {
			m, diags := Load(map[string][]byte{c.file: []byte(c.text)}, c.file)
			if (m == nil) != HasErrors(diags) {
				t.Errorf("manifest is nil: %v, errors: %v", m == nil, HasErrors(diags))
			}
			for _, d := range diags {
				if !take(c.expected, d) {
					t.Errorf("unexpected: %s\n\thint: %s nearest: %s", d, d.Hint, d.Nearest)
				}
				if d.Hint == "" && d.Rule != ruleYAMLSyntax {
					t.Errorf("no hint: %s", d)
				}
			}
			for line, list := range c.expected {
				for _, e := range list {
					t.Errorf("%s:%d: missing: %s %q", c.file, line, e.rule, e.re)
				}
			}
		})
	}
}

// take removes the expectation that d meets.
func take(all map[int][]expected, d Diagnostic) bool {
	text := d.Message + "\n" + d.Hint + "\n" + d.Nearest
	for i, e := range all[d.Line] {
		if e.rule == d.Rule && regexp.MustCompile("(?s)"+e.re.String()).MatchString(text) {
			all[d.Line] = append(all[d.Line][:i:i], all[d.Line][i+1:]...)
			return true
		}
	}
	return false
}
