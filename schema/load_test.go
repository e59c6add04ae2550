package schema

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const head = `capgen: 1
go: {package: example.com/x/generated}
server: {name: x, version: "1"}
`

// special are the cases that no chunk can hold: files that are not YAML, and
// limits reached with small inputs.
func special() []struct {
	name   string
	limits func(*limits)
	files  map[string][]byte
	want   []string // findings, by their start
} {
	type files = map[string][]byte
	same := func(*limits) {}
	yaml := func(s string) files { return files{"m.yaml": []byte(s)} }
	noop := func(name, extra string) string {
		return "  - {name: " + name + ", summary: s, effect: read, scopes: none, input: {type: object, properties: {}}, output: {type: boolean}" + extra + "}\n"
	}
	return []struct {
		name   string
		limits func(*limits)
		files  map[string][]byte
		want   []string
	}{
		{"missing", same, files{"n.yaml": nil}, []string{`m.yaml: error: no such file [file-missing]`}},
		{"large", func(l *limits) { l.fileBytes = 3 }, yaml("abcd"), []string{`m.yaml:1:1: error: more than 3 bytes [file-too-large]`}},
		{"bom", same, yaml("\xef\xbb\xbfcapgen: 1\n"), []string{`m.yaml:1:1: error: the file starts with a byte order mark [encoding]`}},
		{"utf-16", same, yaml("\xff\xfec\x00"), []string{`m.yaml:1:1: error: the file is UTF-16 [encoding]`}},
		{"latin-1", same, yaml("a: é\nb: \xe9\n"), []string{`m.yaml:2:4: error: byte 0xe9 is not UTF-8 [encoding]`}},
		{"line separator", same, yaml("a: é\u2028b\n"), []string{`m.yaml:1:6: error: character U+2028 in the file [encoding]`}},
		{"next line", same, yaml("a: \u0085b\n"), []string{`m.yaml:1:4: error: character U+0085 in the file [encoding]`}},
		{"lone return", same, yaml("a: b\rc: d\n"), []string{`m.yaml:1:5: error: character U+000D in the file [encoding]`}},
		{"nul", same, yaml("a: \x00\n"), []string{`m.yaml:1:4: error: character U+0000 in the file [encoding]`}},
		{"depth", func(l *limits) { l.fileDepth = 2 }, yaml("[[[]]]"), nil},
		{"too deep", func(l *limits) { l.fileDepth = 2 }, yaml("[[[\n[]]]]"), []string{`m.yaml:2:1: error: nested more than 2 deep [too-deep]`}},
		{"nodes", func(l *limits) { l.fileNodes = 2 }, yaml("- a\n- b\n"), []string{`m.yaml:2:3: error: more than 2 values in the manifest's files [too-many-nodes]`}},
		{"capabilities", func(l *limits) { l.capabilities = 1 }, yaml(head + "capabilities:\n" + noop("a.b", "") + noop("a.c", "")),
			[]string{`m.yaml:6:5: error: 2 capabilities, the limit is 1 [limit]`}},
		{"properties", func(l *limits) { l.properties = 1 }, yaml(head + "capabilities:\n" + noop("a.b", "\n    ,description: {}") +
			"  - {name: a.c, summary: s, effect: read, scopes: none, input: {type: object, properties: {a: {type: string}, b: {type: string}}}, output: {type: boolean}}\n"),
			[]string{`m.yaml:6:19: error: description has to be a string`, `m.yaml:7:111: error: 2 properties, the limit is 1 [limit]`}},
		{"enum", func(l *limits) { l.enum = 1 }, yaml(head + "capabilities:\n" + strings.Replace(noop("a.b", ""), "{type: boolean}", "{type: string, enum: [a, b]}", 1)),
			[]string{`m.yaml:5:129: error: 2 values in an enum, the limit is 1 [limit]`}},
		{"search bytes", same, yaml(head + "capabilities:\n" + noop("a.b", ", search: [a, "+strings.Repeat("b", 1024)+"]")),
			[]string{`m.yaml:5:133: error: the search phrases have more than 1024 bytes [limit]`}},
		{"long summary", same, yaml(head + "capabilities:\n" + strings.Replace(noop("a.b", ""), "summary: s", "summary: "+strings.Repeat("é", 301), 1)),
			[]string{`m.yaml:5:26: error: summary has 301 characters, the limit is 300 [bad-text]`}},
		{"scopes", same, yaml(head + "capabilities:\n" + strings.Replace(noop("a.b", ""), "scopes: none", "scopes: ["+strings.Repeat("a, ", 64)+"a]", 1)),
			[]string{`m.yaml:5:244: error: 65 scopes, the limit is 64 [limit]`}},
		{"texts", func(l *limits) { l.textBytes = 10 }, yaml(head + "capabilities:\n" + noop("a.b", "") + noop("a.c", "")),
			[]string{`m.yaml:6:5: error: the texts of the manifest have more than 10 bytes`}},
		{"one default", func(l *limits) { l.defaultBytes = 8 }, yaml(head + "capabilities:\n" + strings.Replace(noop("a.b", ""), "properties: {}", "properties: {a: {type: string, default: 12345678a}}", 1)),
			[]string{`m.yaml:5:119: error: a default of more than 8 bytes`}},
		{"defaults", func(l *limits) { l.textBytes = 8 }, yaml(head + "capabilities:\n" + strings.Replace(noop("a.b", ""), "properties: {}", "properties: {a: {type: string, default: 12345678a}}", 1)),
			[]string{`m.yaml:5:119: error: the defaults have more than 8 bytes together`}},
		{"default in default", func(l *limits) { l.defaultBytes = 2000 }, yaml(head + `types:
  Inner: {type: object, properties: {z: {type: string, default: ` + strings.Repeat("z", 100) + `}}}
capabilities:
` + strings.Replace(noop("a.b", ""), "properties: {}", `properties: {a: {type: array, items: {$ref: "#/types/Inner"}, default: [`+strings.Repeat("{},", 1000)+`]}}`, 1)),
			[]string{`m.yaml:7:150: error: a default of more than 2000 bytes`}},
		{"value depth", func(l *limits) { l.valueDepth = 2 }, yaml(head + `types:
  A: {type: array, items: {type: string}}
  B: {type: array, items: {$ref: "#/types/A"}}
  C: {type: array, items: {$ref: "#/types/B"}}
  D: {type: array, items: {$ref: "#/types/C"}}
capabilities:
` + strings.Replace(noop("a.b", ""), "{type: boolean}", `{$ref: "#/types/D"}`, 1)),
			[]string{`m.yaml:7:3: error: values of type "C" nest 3 deep, the limit is 2 [too-deep]`}},
		{"value depth of objects", func(l *limits) { l.valueDepth = 2 }, yaml(head + "capabilities:\n" +
			strings.Replace(noop("a.b", ""), "{type: boolean}", "{type: object, properties: {a: {type: object, properties: {b: {type: object, properties: {}}}}}}", 1)),
			[]string{`m.yaml:5:5: error: values of capability "a.b" nest 3 deep, the limit is 2 [too-deep]`}},
		{"parts", func(l *limits) { l.schemaParts = 10 }, yaml(head + doubling(30) + "capabilities:\n" + strings.Replace(noop("a.b", ""), "{type: boolean}", `{$ref: "#/types/T0"}`, 1)),
			[]string{`m.yaml:32:3: error: type "T27" has more than 10 parts`}},
		{"all parts", func(l *limits) { l.allParts = 5 }, yaml(head + "capabilities:\n" + noop("a.b", "") + noop("a.c", "") + noop("a.d", "")),
			[]string{`m.yaml:7:5: error: the capabilities have more than 5 schema parts together`}},
		{"empty json", same, files{"m.json": nil}, []string{`m.json:1:1: error: unexpected end`}},
		{"json syntax", same, files{"m.json": []byte("{\n \"a\": tru}")}, []string{`m.json:2:7: error:`}},
		{"json trailing", same, files{"m.json": []byte("{}\n{}")}, []string{`m.json:2:1: error: unexpected data after the value [json-syntax]`}},
		{"json surrogate", same, files{"m.json": []byte(`{"a": "\ud800"}`)}, []string{`m.json:1:`}},
		{"json comma", same, files{"m.json": []byte("[1,\n]")}, []string{`m.json:2:1: error:`}},
		{"json depth", func(l *limits) { l.fileDepth = 2 }, files{"m.json": []byte("[[[\n[]]]]")}, []string{`m.json:2:1: error: nested more than 2 deep [too-deep]`}},
		{"json nodes", func(l *limits) { l.fileNodes = 2 }, files{"m.json": []byte("[1,\n2]")}, []string{`m.json:2:1: error: more than 2 values in the manifest's files [too-many-nodes]`}},
		{"json positions", same, files{"m.json": []byte("{\n \"capgen\" : 2 ,\n  \"é\": 1, \"x\": 2, \"capgen\": 3}")}, []string{
			`m.json:1:1: error: a manifest needs "capabilities"`, `m.json:1:1: error: a manifest needs "go"`, `m.json:1:1: error: a manifest needs "server"`,
			`m.json:2:13: error: manifest version 2`, `m.json:3:3: error: a manifest takes no key "é"`, `m.json:3:12: error: a manifest takes no key "x"`,
			`m.json:3:20: error: key "capgen" stands twice, first at m.json:2:2 [duplicate-key]`}},
		{"many", same, yaml(manyKeys(250)), nil},
	}
}

// doubling is a chain of n types, each of which uses the next twice.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString("types:\n")
	for i := range n - 1 {
		fmt.Fprintf(&b, "  T%d: {type: object, properties: {a: {$ref: \"#/types/T%d\"}, b: {$ref: \"#/types/T%d\"}}}\n", i, i+1, i+1)
	}
	fmt.Fprintf(&b, "  T%d: {type: string}\n", n-1)
	return b.String()
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: 1\n", i)
	}
	return b.String()
}

func nameOf(files map[string][]byte) string {
	if _, ok := files["m.json"]; ok {
		return "m.json"
	}
	return "m.yaml"
}

func TestSpecial(t *testing.T) {
	for _, c := range special() {
		t.Run(c.name, func(t *testing.T) {
			l := defaultLimits()
			c.limits(&l)
			_, diags := load(c.files, nameOf(c.files), l)
			if c.want == nil {
				return
			}
			ok := len(diags) == len(c.want)
			for i := range min(len(diags), len(c.want)) {
				ok = ok && strings.HasPrefix(diags[i].String(), c.want[i])
			}
			if !ok {
				t.Errorf("got %v\nwant %v", diags, c.want)
			}
		})
	}
}

// Every rule is reported by some test case, and nothing is reported that is
// no rule.
func TestRulesFire(t *testing.T) {
	fired := map[string]bool{}
	record := func(diags []Diagnostic) {
		for _, d := range diags {
			fired[d.Rule] = true
		}
	}
	for _, c := range readChunks(t) {
		_, diags := Load(map[string][]byte{c.file: []byte(c.text)}, c.file)
		record(diags)
	}
	for _, c := range special() {
		l := defaultLimits()
		c.limits(&l)
		_, diags := load(c.files, nameOf(c.files), l)
		record(diags)
	}
	var declared []string
	for _, r := range Rules() {
		declared = append(declared, r.ID)
		if r.Text == "" || !strings.HasSuffix(r.Text, ".") {
			t.Errorf("rule %s: no sentence", r.ID)
		}
	}
	if diff := cmp.Diff(sorted(declared), slices.Sorted(maps.Keys(fired))); diff != "" {
		t.Errorf("declared (-) and fired (+) rules differ:\n%s", diff)
	}
}

func TestFindingsAreCappedAndSorted(t *testing.T) {
	_, diags := Load(map[string][]byte{"m.yaml": []byte(manyKeys(250))}, "m.yaml")
	if len(diags) != MaxDiagnostics+1 {
		t.Fatalf("%d findings", len(diags))
	}
	last := diags[MaxDiagnostics]
	// 250 unknown keys and four missing ones.
	if last.Message != "54 more findings are not shown" || last.Severity != SeverityError {
		t.Errorf("closing: %v", last)
	}
	if !slices.IsSortedFunc(diags[:MaxDiagnostics], func(a, b Diagnostic) int { return a.compare(b.Position) }) {
		t.Error("not sorted")
	}
	// More than is even kept: the count still holds.
	_, diags = Load(map[string][]byte{"m.yaml": []byte(manyKeys(keptFindings + 50))}, "m.yaml")
	if got := diags[MaxDiagnostics].Message; got != fmt.Sprintf("%d more findings are not shown", keptFindings+54-MaxDiagnostics) {
		t.Errorf("closing: %s", got)
	}
}

// A closing line that hides errors is an error itself.
func TestHiddenErrorsCount(t *testing.T) {
	var diags []Diagnostic
	for i := range MaxDiagnostics {
		diags = append(diags, Diagnostic{Position: Position{"m", i + 1, 1}, Severity: SeverityWarning})
	}
	diags = append(diags, Diagnostic{Position: Position{"m", 999, 1}, Severity: SeverityError})
	if !HasErrors(Sort(diags, 0)) {
		t.Error("the error is lost")
	}
}

var ignorePositions = cmp.Options{cmpopts.IgnoreTypes(Position{})}

func TestGoodManifests(t *testing.T) {
	files, err := filepath.Glob("testdata/good/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no manifests")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			m, diags := Load(map[string][]byte{"m.yaml": text}, "m.yaml")
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			tree := readTree("m.yaml", string(text))
			inJSON, diags := Load(map[string][]byte{"m.json": []byte(jsonText(t, tree))}, "m.json")
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			if diff := cmp.Diff(m, inJSON, ignorePositions); diff != "" {
				t.Errorf("YAML (-) and JSON (+) differ:\n%s", diff)
			}
			crlf, diags := Load(map[string][]byte{"m.yaml": []byte(strings.ReplaceAll(string(text), "\n", "\r\n"))}, "m.yaml")
			if diff := cmp.Diff(m, crlf); diff != "" || len(diags) > 0 {
				t.Errorf("other line ends, another manifest: %v\n%s", diags, diff)
			}
			for seed := range uint64(20) {
				shuffle(tree, rand.New(rand.NewPCG(seed, 1)), "")
				shuffled, diags := Load(map[string][]byte{"m.json": []byte(jsonText(t, tree))}, "m.json")
				if diff := cmp.Diff(m, shuffled, ignorePositions); diff != "" || len(diags) > 0 {
					t.Fatalf("shuffled keys, another manifest: %v\n%s", diags, diff)
				}
			}
		})
	}
}

// shuffle reorders everything whose order means nothing: all keys but those of
// `properties`, and capabilities, scopes and required.
func shuffle(n *node, r *rand.Rand, key string) {
	for _, item := range n.items {
		shuffle(item, r, "")
	}
	for _, m := range n.members {
		shuffle(m.value, r, m.key)
	}
	switch key {
	case "properties":
	case "capabilities", "scopes", "required":
		r.Shuffle(len(n.items), func(i, j int) { n.items[i], n.items[j] = n.items[j], n.items[i] })
	default:
		r.Shuffle(len(n.members), func(i, j int) { n.members[i], n.members[j] = n.members[j], n.members[i] })
	}
}

func TestFullManifest(t *testing.T) {
	text, err := os.ReadFile("testdata/good/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m, diags := Load(map[string][]byte{"m.yaml": text}, "m.yaml")
	if m == nil {
		t.Fatal(diags)
	}
	if want := (Server{Name: "records", Title: "Records", Version: "1.2.0", Instructions: "Look records up by key.\n\nKeys are short."}); cmp.Diff(want, m.Server, ignorePositions) != "" {
		t.Errorf("server: %+v", m.Server)
	}
	var names []string
	for _, c := range m.Capabilities {
		names = append(names, c.Name)
	}
	if diff := cmp.Diff([]string{"records.find", "records.lookup", "records.purge.all"}, names); diff != "" {
		t.Error(diff)
	}
	lookup := m.Capabilities[1]
	got := *lookup
	got.Input, got.Output, got.Pos, got.Examples, got.At = nil, nil, Position{}, nil, nil
	want := Capability{
		ID: "records-lookup", Name: "records.lookup", Summary: "Look up one record by key.",
		Description: "Looks in the index first, then in the store.",
		Search:      []string{"fetch entry", "find stored item"},
		Effect:      "read", Idempotency: "natural", World: "open", Scopes: []string{"admin", "records:read"},
		Source:  &Source{Tool: "getRecord", Title: "Get a record"},
		Claimed: []Claim{{"readOnlyHint", true}, {"openWorldHint", false}},
		Errors: []DeclaredError{
			{"gone_2", "It was removed.", Position{"m.yaml", 65, 7}},
			{"not_found", "No record has that key.", Position{"m.yaml", 64, 7}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if lookup.Namespace() != "records" || lookup.Leaf() != "lookup" {
		t.Error(lookup.Namespace(), lookup.Leaf())
	}
	purge := m.Capabilities[2]
	if purge.Namespace() != "records.purge" || purge.Leaf() != "all" || purge.Idempotency != "key" ||
		purge.Scopes != nil || purge.Description != purge.Summary || purge.ID != "records.clear" || purge.World != "closed" {
		t.Errorf("%+v", purge)
	}
	if diff := cmp.Diff(&Deprecation{Since: "2026-11-29", Use: "records.find"}, purge.Deprecated); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]string{{"records.clear", "records.wipe"}, {"bulk", "slow"}}, [][]string{purge.Was, purge.Tags}); diff != "" {
		t.Error(diff)
	}
	if find := m.Capabilities[0]; find.Idempotency != "none" || find.Input.Kind != Ref || find.Input.Ref.Name != "Query" {
		t.Errorf("%+v", find)
	}
	if lookup.Output.Ref != m.Types[2] || m.Types[2].Name != "Record" {
		t.Error("a reference does not point into Types")
	}
	const input = `{"type":"object","properties":{` +
		`"key":{"type":"string","minLength":1,"maxLength":128},` +
		`"limit":{"type":"integer","minimum":1,"maximum":100,"default":20},` +
		`"ratio":{"type":"number","default":0},` +
		`"exact":{"type":"boolean","default":false},` +
		`"order":{"type":"string","enum":["up","down"],"default":"up"},` +
		`"filter":{"type":"object","properties":{"owner":{"type":"string","maxLength":1048576},` +
		`"depth":{"type":"integer","minimum":-9007199254740991,"maximum":9007199254740991,"default":3},` +
		`"b":{"type":"array","items":{"type":"number"},"maxItems":10000,"default":[1.5,100,1e+21]}},` +
		`"additionalProperties":false,"default":{"b":[1.5,100,1e+21],"depth":3,"owner":"me"}},` +
		`"glob":{"type":"string","maxLength":1048576}},"required":["key"],"additionalProperties":false}`
	if diff := cmp.Diff(input, string(EffectiveSchema(lookup.Input))); diff != "" {
		t.Error(diff)
	}
	const record = `{"type":"object","title":"A record","description":"One record as it is stored.","properties":{` +
		`"key":{"type":"string","maxLength":128,"pattern":"^[a-z][a-z0-9/]*$"},` +
		`"count":{"type":"integer","minimum":-9007199254740991,"maximum":9007199254740991},` +
		`"weight":{"type":"number","exclusiveMinimum":0,"maximum":1000,"multipleOf":0.25},` +
		`"tags":{"type":"array","items":{"type":"string","enum":["red","on","1","q\""]},"minItems":1,"maxItems":5}},` +
		`"required":["key","count"],"additionalProperties":false}`
	if diff := cmp.Diff(record, string(EffectiveSchema(m.Types[2].Type))); diff != "" {
		t.Error(diff)
	}
	if pos := lookup.Input.Properties[1].Pos; pos != (Position{"m.yaml", 50, 9}) {
		t.Errorf("position of limit: %v", pos)
	}
}
