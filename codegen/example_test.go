package codegen_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/schema"
)

// shown is what describe_api is to show of a.b.
func shown(t *testing.T, c *schema.Capability) string {
	t.Helper()
	files := generate(t, manifest("example.com/g", nil, c))
	m := regexp.MustCompile("(?m)^\t\tExample: +[\"`](.*)[\"`],$").FindSubmatch(files["a/b_gen.go"])
	if m == nil {
		return ""
	}
	return strings.ReplaceAll(string(m[1]), `\\`, `\`)
}

func TestDescribedExample(t *testing.T) {
	input := object(required("key", str()), defaulted("limit", integer(), `20`), optional("at", number()), optional("raw", &schema.Type{Kind: schema.Bytes, MaxLength: 100}))
	tenant := defaulted("tenant", str(), `"acme"`)
	tenant.Fixed = true
	input.Properties = append(input.Properties, tenant)
	for _, test := range []struct {
		name   string
		output *schema.Type
		e      schema.Example
		want   string
	}{
		{"scalars", boolean(), schema.Example{Input: `{"key":"a","limit":20,"tenant":"acme"}`, Output: `true`}, `a.b(key="a")  # True`},
		{"order and kinds", integer(), schema.Example{Input: `{"at":1e+21,"key":"b","limit":3,"raw":"AGE="}`, Output: `-1`}, `a.b(key="b", limit=3, at=1e+21, raw=b"\x00a")  # -1`},
		{"whole floats", number(), schema.Example{Input: `{"at":100000000000000000000,"key":"","limit":20}`, Output: `2`}, `a.b(key="", at=100000000000000000000.0)  # 2`},
		{"object", object(required("z", array(str())), optional("a", &schema.Type{Kind: schema.Nullable, Items: str()}), optional("m", &schema.Type{Kind: schema.Opaque})),
			schema.Example{Input: `{"key":"c","limit":20}`, Output: `{"a":null,"m":{"x":[1.5,false]},"z":["p"]}`}, `a.b(key="c")  # {"z": ["p"], "a": None, "m": {"x": [1.5, False]}}`},
		{"wide", &schema.Type{Kind: schema.Int64, Minimum: -1 << 63, Maximum: 1<<63 - 1}, schema.Example{Input: `{"key":"c","limit":20}`, Output: `"9223372036854775807"`}, `a.b(key="c")  # 9223372036854775807`},
		{"error", boolean(), schema.Example{Input: `{"key":"d","limit":20}`, Error: "gone"}, `a.b(key="d")  # fails with gone`},
		{"long outcome", str(), schema.Example{Input: `{"key":"e","limit":20}`, Output: `"` + strings.Repeat("x", 160) + `"`}, `a.b(key="e")`},
		{"long call", str(), schema.Example{Input: `{"key":"` + strings.Repeat("x", 160) + `","limit":20}`, Output: `""`}, ``},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.e.Title = test.name
			c := capability("a.b", input, test.output, func(c *schema.Capability) {
				c.Errors = []schema.DeclaredError{{Code: "gone", Text: "It is."}}
				c.Examples = []*schema.Example{&test.e, {Title: "second", Input: `{"key":"never shown","limit":20}`, Error: "gone"}}
			})
			if got := shown(t, c); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestExamplesAreLockedAndDigested(t *testing.T) {
	with := func(examples ...*schema.Example) *schema.Capability {
		return capability("a.b", object(defaulted("limit", integer(), `20`)), str(), func(c *schema.Capability) {
			c.Errors = []schema.DeclaredError{{Code: "gone", Text: "It is."}}
			c.Examples = examples
		})
	}
	one := &schema.Example{Title: "One", Input: `{"limit":20}`, Output: "\"a\u202e\""}
	two := &schema.Example{Title: "Two\nx", Input: `{"limit":1}`, Error: "gone"}
	files := generate(t, manifest("example.com/g", nil, with(one, two)))
	var got []string
	for line := range strings.Lines(string(files["lock/a.lock"])) {
		if strings.Contains(line, " example ") {
			got = append(got, strings.TrimSuffix(line, "\n"))
		}
	}
	want := []string{
		`a.b example "One" call a.b()`,
		`a.b example "One" returns "a\u202e"`,
		`a.b example "Two\nx" call a.b(limit=1)`,
		`a.b example "Two\nx" fails gone`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	digests := map[string]bool{}
	for _, c := range []*schema.Capability{with(), with(one), with(two), with(one, two), with(two, one)} {
		digests[codegen.Digest(c)] = true
	}
	if len(digests) != 5 {
		t.Errorf("%d digests of 5 lists of examples", len(digests))
	}
}
