package codegen_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/capgen/capgen/internal/oracle"
	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/program"
	"github.com/capgen/capgen/schema"
)

// suiteDir is the folder of JSON-Schema-Test-Suite, draft 2020-12, which stands
// in a folder above the module.
func suiteDir(t testing.TB) string {
	t.Helper()
	for above := ".."; len(above) < 30; above += "/.." {
		dir := filepath.Join(above, "shared", "suites", "json-schema", "tests", "draft2020-12")
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
	}
	t.Skip("the JSON Schema suite is in no folder above the module")
	return ""
}

// suiteGroup is one schema of the suite with its tests.
type suiteGroup struct {
	file        string
	Description string
	Schema      json.RawMessage
	Tests       []suiteTest
}

type suiteTest struct {
	Description string
	Data        json.RawMessage
	Valid       bool
}

func (g *suiteGroup) id() string { return g.file + ": " + g.Description }

func suiteGroups(t testing.TB) []*suiteGroup {
	t.Helper()
	dir := suiteDir(t)
	var groups []*suiteGroup
	for _, pattern := range []string{"*.json", "optional/*.json", "optional/format/*.json"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var list []*suiteGroup
			if err := json.Unmarshal(text, &list); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, g := range list {
				g.file = strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(name), filepath.ToSlash(dir)+"/"), ".json")
			}
			groups = append(groups, list...)
		}
	}
	return groups
}

// suiteCase is a schema that a manifest takes, with the tests that it is put to.
type suiteCase struct {
	*suiteGroup
	name   string // G17, its type
	lifted bool
	text   []byte // of the schema, as it stands under types
}

// suiteManifest declares one capability for each case, and one type unless the
// schema is nothing but a reference: that is no type of its own.
func suiteManifest(cases []*suiteCase) []byte {
	types, capabilities := map[string]any{}, []any{}
	for _, c := range cases {
		value := map[string]any{"$ref": "#/types/" + c.name}
		input := map[string]any{"type": "object", "required": []string{"v"}, "properties": map[string]any{"v": value}}
		types[c.name] = json.RawMessage(c.text)
		var root map[string]any
		if json.Unmarshal(c.text, &root) == nil && root["$ref"] != nil {
			delete(types, c.name)
			input["$defs"] = root["$defs"]
			if root["$defs"] == nil {
				delete(input, "$defs")
			}
			delete(root, "$defs")
			input["properties"] = map[string]any{"v": root}
		}
		capabilities = append(capabilities, map[string]any{
			"name": "suite." + strings.ToLower(c.name), "summary": "Take a value.", "effect": "read", "scopes": "none",
			"input": input, "output": map[string]any{"type": "boolean"},
		})
	}
	text, err := json.Marshal(map[string]any{
		"capgen": 1, "go": map[string]any{"package": suitePackage},
		"server": map[string]any{"name": "suite", "version": "1.0.0"},
		"types":  types, "capabilities": capabilities,
	})
	if err != nil {
		panic(err)
	}
	return text
}

// refusals are the errors that a manifest of c alone has.
func (c *suiteCase) refusals() []schema.Diagnostic {
	_, diags := schema.Load(map[string][]byte{"suite.json": suiteManifest([]*suiteCase{c})}, "suite.json")
	return slices.DeleteFunc(diags, func(d schema.Diagnostic) bool { return d.Severity != schema.SeverityError })
}

// suiteCases are the groups as they are written and, where a manifest does not
// take that, lifted. What neither way is taken has to be among the skips.
func suiteCases(t *testing.T, groups []*suiteGroup, skips *suiteSkips) []*suiteCase {
	t.Helper()
	var cases []*suiteCase
	for i, g := range groups {
		name := fmt.Sprintf("G%d", i)
		written := &suiteCase{suiteGroup: g, name: name, text: prepare(g.Schema, name)}
		if len(written.refusals()) == 0 {
			cases = append(cases, written)
			continue
		}
		texts, problem := liftings(written.text)
		var refused []schema.Diagnostic
		taken := false
		for j, text := range texts {
			lifted := &suiteCase{suiteGroup: g, name: fmt.Sprintf("G%dL%d", i, j), lifted: true, text: bytes.ReplaceAll(text, []byte(`#/types/`+name+`"`), fmt.Appendf(nil, `#/types/G%dL%d"`, i, j))}
			lifted.text = bytes.ReplaceAll(lifted.text, []byte(name+"D"), []byte(lifted.name+"D"))
			if diags := lifted.refusals(); len(diags) > 0 {
				refused = append(refused, diags...)
				continue
			}
			taken = true
			cases = append(cases, lifted)
		}
		if !taken {
			skips.group(t, g, problem, refused)
		}
	}
	return cases
}

// For the official suite, as written and lifted: the decoders accept what the
// oracle accepts, and write what the oracle writes; and they accept nothing
// that the suite calls invalid.
func TestJSONSchemaSuite(t *testing.T) {
	groups := suiteGroups(t)
	skips := newSuiteSkips()
	cases := suiteCases(t, groups, skips)
	manifest, diags := schema.Load(map[string][]byte{"suite.json": suiteManifest(cases)}, "suite.json")
	if manifest == nil {
		t.Fatal(diags)
	}
	files := generate(t, manifest)
	child := startChild(t, files, cases)
	bindings := bindingsOf(t, files)
	counts := struct{ written, lifted, accepted, refused, narrower, programs int }{}
	for _, c := range cases {
		i := slices.IndexFunc(manifest.Capabilities, func(m *schema.Capability) bool { return m.Name == "suite."+strings.ToLower(c.name) })
		s := &suiteSubject{subject: subject{
			name: manifest.Capabilities[i].Name, judge: compileOracle(t, manifest.Capabilities[i].Input),
			limits: program.Limits{Steps: 1e6, Calls: 10, Depth: depth, ValueBytes: 1 << 20, ResultBytes: 1 << 20, SourceBytes: 1 << 20, Parallel: 1},
		}, child: child, suiteCase: c}
		var err error
		s.table, err = binding.ParseTable(binding.EncodeTable([]binding.Entry{{Name: s.subject.name, ID: s.subject.name, Binding: bindings[s.subject.name]}}))
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range c.Tests {
			accepted, ran := s.test(t, test)
			if c.lifted {
				counts.lifted++
			} else {
				counts.written++
			}
			switch {
			case accepted:
				counts.accepted++
			case test.Valid:
				counts.narrower++
				counts.refused++
			default:
				counts.refused++
			}
			if ran {
				counts.programs++
			}
		}
	}
	skips.unused(t)
	t.Logf("%d tests as written, %d lifted: %d accepted, %d refused, of which the suite accepts %d before schemas are closed and capped; %d values by a program too; no over-accept",
		counts.written, counts.lifted, counts.accepted, counts.refused, counts.narrower, counts.programs)
	t.Logf("%s", skips)
	if n := counts.written + counts.lifted; n < 563 || counts.accepted < n/5 || counts.refused < n/5 {
		t.Errorf("%d tests, %d accepted and %d refused: too few to say anything", n, counts.accepted, counts.refused)
	}
}

// suiteSubject is a case with all who judge it.
type suiteSubject struct {
	subject
	*suiteCase
	child *child
}

// test compares what the child and the oracle say of a test's value, and
// reports whether they accept it and whether a program could send it too.
func (s *suiteSubject) test(t *testing.T, test suiteTest) (accepted, ran bool) {
	t.Helper()
	what := fmt.Sprintf("%s (%s): %s: %s", s.id(), s.suiteCase.name, test.Description, test.Data)
	text := fmt.Appendf(nil, `{"v":%s}`, test.Data)
	got := s.child.ask(t, question{Type: s.suiteCase.name, Text: text})
	instance, err := oracle.Read(text, depth)
	if refused := (*oracle.Refusal)(nil); errors.As(err, &refused) {
		if got.Error == nil {
			t.Errorf("%s: accepted, in spite of %v", what, refused)
		}
		return false, false
	}
	if err != nil {
		t.Fatal(err)
	}
	found := s.judge.Judge(instance)
	if got.Problem != "" {
		t.Errorf("%s: %s", what, got.Problem)
	}
	switch accepted = got.Error == nil; {
	case accepted != (len(found) == 0):
		t.Errorf("%s: the decoder says %v, the oracle %v", what, got.Error, found)
	case accepted && !test.Valid:
		t.Errorf("%s: accepted, and the suite refuses it", what)
	case !accepted && !oracle.Explains(found, got.Error):
		t.Errorf("%s: %v is not among %v", what, got.Error, found)
	case accepted:
		want, err := s.judge.Canonical(instance)
		if err != nil || !bytes.Equal(want, got.Canonical) {
			t.Errorf("%s: canonical %s, want %s, %v", what, got.Canonical, want, err)
		}
	}
	s.wire = nil
	v := sampleOf(instance)
	_, _ = program.Run(program.Program{Source: v.call(s.subject.name), Limits: s.limits}, s.table, s)
	if s.wire == nil {
		return accepted, false
	}
	bound := s.child.ask(t, question{Type: s.suiteCase.name, Text: s.wire, Wire: true})
	if bound.Error != nil || accepted && !bytes.Equal(bound.Canonical, got.Canonical) {
		t.Errorf("%s: a program's value is %s, %v; JSON's is %s", what, bound.Canonical, bound.Error, got.Canonical)
	}
	if bound.Error == nil && !accepted {
		t.Errorf("%s: a program may send what JSON may not", what)
	}
	return accepted, true
}

// sampleOf is a JSON value as a program writes it.
func sampleOf(v any) *sample {
	s := &sample{kind: aNull}
	switch v := v.(type) {
	case bool:
		s.kind, s.text = aBool, fmt.Sprint(v)
	case json.Number:
		s.kind, s.text = anInt, v.String()
		if strings.ContainsAny(s.text, ".e") {
			s.kind = aFloat
		}
	case string:
		s.kind, s.text = aText, v
	case []any:
		s.kind = aList
		for _, item := range v {
			s.items = append(s.items, sampleOf(item))
		}
	case map[string]any:
		s.kind = aDict
		for key, member := range v {
			s.add(key, sampleOf(member))
		}
	}
	return s
}
