package schema

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func readManifestSchema(t *testing.T) (doc map[string]any, compiled *jsonschema.Schema) {
	t.Helper()
	text, err := os.ReadFile("manifest.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any), compileSchema(t, v)
}

func compileSchema(t *testing.T, v any) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	const name = "mem:///test.json"
	if err := c.AddResource(name, v); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func at(t *testing.T, doc any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch p := p.(type) {
		case string:
			doc = doc.(map[string]any)[p]
		case int:
			doc = doc.([]any)[p]
		}
	}
	if doc == nil {
		t.Fatalf("nothing at %v", path)
	}
	return doc
}

func keys(v any) []string {
	var list []string
	for k := range v.(map[string]any) {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

func TestManifestSchemaHasTheLoadersKeys(t *testing.T) {
	doc, _ := readManifestSchema(t)
	w := newWords()
	for _, c := range []struct {
		v    vocabulary
		path []any
	}{
		{w.manifest, nil},
		{w.part, []any{"$defs", "part"}},
		{w.goSection, []any{"$defs", "go"}},
		{w.server, []any{"$defs", "server"}},
		{w.capability, []any{"$defs", "capability"}},
		{w.deprecated, []any{"$defs", "capability", "properties", "deprecated"}},
		{w.source, []any{"$defs", "capability", "properties", "source"}},
		{w.mcpSource, []any{"$defs", "capability", "properties", "source", "properties", "mcp"}},
		{w.claimed, []any{"$defs", "capability", "properties", "claimed"}},
		{w.retry, []any{"$defs", "retry"}},
		{w.program, []any{"$defs", "program"}},
		{w.example, []any{"$defs", "example"}},
		{w.limits, []any{"$defs", "limits"}},
		{w.runLimits, []any{"$defs", "runLimits"}},
		{w.pagination, []any{"$defs", "pagination"}},
		{w.deployments, []any{"$defs", "deployments"}},
		{w.deployment, []any{"$defs", "deployment"}},
		{w.selector, []any{"$defs", "selector"}},
		{w.credential, []any{"$defs", "credential"}},
		{w.lint, []any{"$defs", "lint"}},
		{w.allowance, []any{"$defs", "allowance"}},
		{w.schema, []any{"$defs", "schema"}},
	} {
		mapping := at(t, doc, c.path...)
		if diff := cmp.Diff(sorted(c.v.known), keys(at(t, mapping, "properties"))); diff != "" {
			t.Errorf("%s: loader (-) and schema (+) differ:\n%s", c.v.what, diff)
		}
		if at(t, mapping, "additionalProperties") != any(false) && len(c.path) == 0 {
			t.Errorf("%s: additional properties are not refused", c.v.what)
		}
	}
	for _, rule := range at(t, doc, "$defs", "schema", "allOf").([]any) {
		kind := Kind(at(t, rule, "if", "properties", "type", "anyOf", 0, "const").(string))
		var inSchema []string
		for _, k := range at(t, rule, "then", "propertyNames", "enum").([]any) {
			inSchema = append(inSchema, k.(string))
		}
		want := append([]string{"type", "title", "description", "default", "deprecated", "examples", "$defs", "keep"}, keywordsOf(kind)...)
		if diff := cmp.Diff(sorted(want), sorted(inSchema)); diff != "" {
			t.Errorf("type %s: loader (-) and schema (+) differ:\n%s", kind, diff)
		}
	}
}

// structural are the rules that the schema for editors can express; where the
// loader reports one of them, the schema has to refuse the manifest too.
var structural = []string{
	ruleWrongType, ruleMissingField, ruleUnknownKey, ruleUnsupported, ruleNotInSubset, ruleWrongKeyword,
	ruleBadName, ruleBadID, ruleBadScope, ruleRefSibling, ruleBadBound, ruleMisplacedDefault,
}

func TestManifestSchemaAgreesWithTheLoader(t *testing.T) {
	_, schema := readManifestSchema(t)
	accepted, refused := 0, 0
	check := func(name, text string) {
		tree := readTree(name, text)
		if tree == nil || hasHugeNumber(tree) {
			return
		}
		m, diags := Load(map[string][]byte{name: []byte(text)}, name)
		err := schema.Validate(plainValue(tree))
		if m != nil {
			accepted++
			if err != nil {
				t.Errorf("%s: the loader accepts it, the schema does not: %v", name, err)
			}
			return
		}
		for _, d := range diags {
			if slices.Contains(structural, d.Rule) {
				refused++
				if err == nil {
					t.Errorf("%s: the schema accepts what the loader refuses: %s", name, d)
				}
				return
			}
		}
	}
	good, _ := filepath.Glob("testdata/good/*.yaml")
	for _, file := range good {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		check(file, string(text))
	}
	for _, c := range readChunks(t) {
		check(c.file, c.text)
		if tree := readTree(c.file, c.text); tree != nil {
			for i, text := range singles(t, tree) {
				check(fmt.Sprintf("%s.%d.json", c.name(), i), text)
			}
		}
	}
	if accepted < 50 || refused < 120 {
		t.Errorf("only %d accepted and %d refused manifests compared", accepted, refused)
	}
}

// singles takes a manifest with many mistakes apart: each type, each property
// of a type and each capability in a manifest of its own, in JSON. A manifest
// refused for one mistake says nothing about the others in it.
func singles(t *testing.T, tree *node) []string {
	const manifest = `{"capgen": 1, "go": {"package": "example.com/x"}, "server": {"name": "x", "version": "1"}, "types": {%s}, "capabilities": [%s]}`
	const capability = `{"name": "base.noop", "summary": "s", "effect": "read", "scopes": "none", "input": {"type": "object", "properties": {}}, "output": {"$ref": "#/types/%s"}}`
	const object = `{"type": "object", "properties": {%s: %s}}`
	var texts []string
	one := func(name, schema string) {
		texts = append(texts, fmt.Sprintf(manifest, strconv.Quote(name)+": "+schema, fmt.Sprintf(capability, name)))
	}
	if types := tree.get("types"); types != nil {
		for _, m := range types.members {
			one(m.key, jsonText(t, m.value))
			if properties := m.value.get("properties"); properties != nil {
				for _, p := range properties.members {
					one("One", fmt.Sprintf(object, strconv.Quote(p.key), jsonText(t, p.value)))
				}
			}
		}
	}
	if list := tree.get("capabilities"); list != nil {
		for _, item := range list.items {
			texts = append(texts, fmt.Sprintf(manifest, "", jsonText(t, item)))
		}
	}
	return texts
}

// hasHugeNumber tells whether a literal has an exponent on which the validator
// gives up (it panics).
func hasHugeNumber(n *node) bool {
	if n.kind == numberNode {
		_, ok := parseDecimal(n.text)
		return !ok
	}
	return slices.ContainsFunc(n.items, hasHugeNumber) ||
		slices.ContainsFunc(n.members, func(m member) bool { return hasHugeNumber(m.value) })
}

// Each key taken away or turned into another kind of value is refused.
func TestManifestSchemaRefusesMutations(t *testing.T) {
	_, schema := readManifestSchema(t)
	text, err := os.ReadFile("testdata/good/minimal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tree := readTree("m.yaml", string(text))
	if err := schema.Validate(plainValue(tree)); err != nil {
		t.Fatal(err)
	}
	var walk func(n *node)
	walk = func(n *node) {
		for i := range n.items {
			walk(n.items[i])
		}
		for i := range n.members {
			m := n.members[i]
			if m.key != "properties" || len(m.value.members) > 0 {
				walk(m.value)
			}
			n.members = slices.Delete(n.members, i, i+1)
			if schema.Validate(plainValue(tree)) == nil {
				t.Errorf("accepted without %s", m.key)
			}
			n.members = slices.Insert(n.members, i, m)
			n.members[i].value = &node{kind: nullNode}
			if schema.Validate(plainValue(tree)) == nil {
				t.Errorf("accepted with %s: null", m.key)
			}
			n.members[i].value = m.value
		}
	}
	walk(tree)
	if err := schema.Validate(plainValue(tree)); err != nil {
		t.Fatal(err)
	}
}
