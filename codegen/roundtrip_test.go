package codegen_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/every"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/types"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/schema"
)

const depth = 32

// value is what every generated root type is.
type value[T any] interface {
	*T
	Decode(*canon.Reader) error
	Encode(*canon.Writer)
	AppendCanonical([]byte) []byte
}

func decode[T any, P value[T]](r *canon.Reader) (v T, err error) {
	if err = P(&v).Decode(r); err == nil {
		err = r.End()
	}
	return v, err
}

// roundTrip reads JSON text, writes and reads back the canonical and the wire
// form, and returns the canonical one.
func roundTrip[T any, P value[T]](t *testing.T, text string) string {
	t.Helper()
	v, err := decode[T, P](canon.NewJSONReader([]byte(text), depth))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	canonical := P(&v).AppendCanonical(nil)
	again, err := decode[T, P](canon.NewJSONReader(canonical, depth))
	if diff := cmp.Diff(v, again); err != nil || diff != "" {
		t.Errorf("canonical %s: %v\n%s", canonical, err, diff)
	}
	wire, err := canon.AppendWire(nil, P(&v))
	if err != nil {
		t.Fatal(err)
	}
	again, err = decode[T, P](canon.NewWireReader(wire, depth))
	if diff := cmp.Diff(v, again); err != nil || diff != "" {
		t.Errorf("wire %x: %v\n%s", wire, err, diff)
	}
	want, err := canon.CanonicalizeJSON(nil, canonical, depth)
	if err != nil || !bytes.Equal(want, canonical) {
		t.Errorf("%s is not canonical: %v, %s", canonical, err, want)
	}
	return string(canonical)
}

// full is an input with every member that has no default.
const full = `{"text":"abc","count":3,"half":2,"share":0.25,"active":true,"mode":"slow-ish","words":["x","xx"],
"nested":{"deep":{"leaf":false}},"entry":{"path":"/a","level":"high","tags":["a","b"],"owner":{"user_id":1,"kind":"person"}},
"opt_text":"","opt_share":-0.5,"opt_mode":"left","opt_rows":[[],[1,2.5]],"opt_nested":{},"opt_entry":{"path":"/"}}`

// least is an input with only the members that are required.
const least = `{"text":"abc","count":3,"half":2,"share":0.25,"active":true,"mode":"","words":["x"],"nested":{"deep":{"leaf":false}},"entry":{"path":"/a"}}`

func TestRoundTrip(t *testing.T) {
	const defaults = `"d_bool":true,"d_empty":[],"d_int":7,"d_list":[1,2],"d_mode":"q","d_num":1e+30,"d_object":{"id":4,"inner":true,"tag":"t"},"d_text":"a \"b\" ` + "`c`" + `",`
	for _, test := range []struct{ name, got, want string }{
		{"full", roundTrip[every.KindInput](t, full), `{"active":true,"count":3,` + defaults + `"entry":{"level":"high","owner":{"kind":"person","user_id":1},"path":"/a","tags":["a","b"]},"half":2,"mode":"slow-ish","nested":{"deep":{"leaf":false}},"opt_entry":{"path":"/"},"opt_mode":"left","opt_nested":{},"opt_rows":[[],[1,2.5]],"opt_share":-0.5,"opt_text":"","share":0.25,"text":"abc","words":["x","xx"]}`},
		{"least", roundTrip[every.KindInput](t, least), `{"active":true,"count":3,` + defaults + `"entry":{"path":"/a"},"half":2,"mode":"","nested":{"deep":{"leaf":false}},"share":0.25,"text":"abc","words":["x"]}`},
		{"array of objects", roundTrip[every.KindOutput](t, `[{"kinds":["d","f"],"file_name":"n"},{"file_name":"","kinds":[]}]`), `[{"file_name":"n","kinds":["d","f"]},{"file_name":"","kinds":[]}]`},
		{"empty object", roundTrip[every.NothingInput](t, ` { } `), `{}`},
		{"boolean", roundTrip[every.NothingOutput](t, `true`), `true`},
		{"number", roundTrip[every.ShareOutput](t, `1.50`), `1.5`},
		{"enum", roundTrip[every.ModeOutput](t, `"enabled"`), `"enabled"`},
		{"named path", roundTrip[types.Path](t, `"/x"`), `"/x"`},
		{"named array", roundTrip[types.TagSet](t, `["b"]`), `["b"]`},
		{"named integer", roundTrip[types.Limit](t, `1e1`), `10`},
		{"named number", roundTrip[types.Ratio](t, `-0.0`), `0`},
		{"named grid", roundTrip[types.Grid](t, `[[{"x":1}],[]]`), `[[{"x":1}],[]]`},
		{"named enum", roundTrip[types.Level](t, `"low"`), `"low"`},
		{"named boolean", roundTrip[types.Flag](t, `false`), `false`},
	} {
		if test.got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, test.got, test.want)
		}
	}
}

// The effective schema, judged by an independent validator, and the generated
// decoder accept the same inputs.
func TestDecodeAgreesWithSchema(t *testing.T) {
	accepted, refused := agrees[every.KindInput](t, "every.kind", full)
	if accepted < 20 || refused < 200 {
		t.Errorf("%d accepted, %d refused: too few to say anything", accepted, refused)
	}
}

// agrees compares the two on mutations of text, an input of the capability
// called name.
func agrees[T any, P value[T]](t *testing.T, name, text string, more ...any) (accepted, refused int) {
	t.Helper()
	judge := compileSchema(t, codegen.InlineSchema(declared(t, name).Input))
	for _, text := range mutations(t, text, more...) {
		instance, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		want := judge.Validate(instance)
		_, got := decode[T, P](canon.NewJSONReader([]byte(text), depth))
		if (want == nil) != (got == nil) {
			t.Errorf("%s\nschema: %v\ndecoder: %v", text, want, got)
		}
		if got == nil {
			accepted++
		} else {
			refused++
		}
	}
	return accepted, refused
}

// declared is a capability of testdata/kinds.
func declared(t testing.TB, name string) *schema.Capability {
	t.Helper()
	manifest, err := os.ReadFile("testdata/kinds/capabilities.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m := load(t, "capabilities.yaml", manifest)
	i := slices.IndexFunc(m.Capabilities, func(c *schema.Capability) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("%s is gone", name)
	}
	return m.Capabilities[i]
}

func compileSchema(t testing.TB, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("mem:x", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:x")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// mutations are text with each value replaced by others and each member
// removed or joined by an unknown one, one at a time; more are other values.
func mutations(t *testing.T, text string, more ...any) []string {
	t.Helper()
	var root any
	if err := json.Unmarshal([]byte(text), &root); err != nil {
		t.Fatal(err)
	}
	var out []string
	emit := func() {
		b, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	others := []any{nil, true, "", "x", "abcdefghijkl", "/x", 0.0, 1.0, -9.0, -10.0, 3.0, 4.0, 0.25, 0.3, 9.5, 2000.0, 1e16, []any{}, []any{"x", "x", "x", "x", "x"}, []any{1.0}, map[string]any{}}
	others = append(others, more...)
	var walk func(get any, set func(any))
	walk = func(v any, set func(any)) {
		for _, o := range others {
			set(o)
			emit()
		}
		set(v)
		switch v := v.(type) {
		case map[string]any:
			for k, member := range v {
				delete(v, k)
				emit()
				v[k] = member
				walk(member, func(o any) { v[k] = o })
			}
			v["unknown"] = true
			emit()
			delete(v, "unknown")
		case []any:
			for i, e := range v {
				walk(e, func(o any) { v[i] = o })
			}
		}
	}
	walk(root, func(o any) { root = o })
	return append(out, text)
}

// A decoder names the place of what it refuses, and the writer checks what a
// handler returns by the same rules.
func TestErrorsHavePaths(t *testing.T) {
	for text, want := range map[string]string{
		strings.Replace(full, `"path":"/a"`, `"path":"a"`, 1):                "entry.path",
		strings.Replace(full, `["x","xx"]`, `["x","y"]`, 1):                  "words[1]",
		strings.Replace(full, `{"user_id":1`, `{"user_id":"1"`, 1):           "entry.owner.user_id",
		strings.Replace(full, `[1,2.5]`, `[1,9.5]`, 1):                       "opt_rows[1][1]",
		strings.Replace(full, `"leaf":false`, `"leaf":false,"leaf":true`, 1): "nested.deep.leaf",
		strings.Replace(full, `"text":"abc",`, ``, 1):                        "text",
	} {
		_, err := decode[every.KindInput](canon.NewJSONReader([]byte(text), depth))
		e, ok := err.(*canon.Error)
		if !ok || e.Path != want {
			t.Errorf("%s: %v, want an error at %s", text, err, want)
		}
	}
	for name, test := range map[string]struct {
		v    canon.Encoder
		path string
	}{
		"bound":   {new(every.ShareOutput(11)), ""},
		"enum":    {&every.KindOutput{{Kinds: []every.KindOutputItemKindsItem{"f", "g"}}}, "[0].kinds[1]"},
		"pattern": {new(types.Path("x")), ""},
		"nested":  {&types.Entry{Path: "/", Tags: canon.Some(types.TagSet{"a", "a", "a", "a"})}, "tags"},
	} {
		_, err := canon.AppendWire(nil, test.v)
		e, ok := err.(*canon.Error)
		if !ok || e.Path != test.path {
			t.Errorf("%s: %v, want an error at %q", name, err, test.path)
		}
	}
	if _, err := canon.AppendWire(nil, &every.KindOutput{{FileName: "n"}}); err != nil {
		t.Errorf("a nil array is an empty one: %v", err)
	}
}

func ExampleInlineSchema() {
	m := kinds("example.com/kinds/generated")
	fmt.Println(string(codegen.InlineSchema(m.Capabilities[len(m.Capabilities)-1].Output)))
	// Output: {"type":"string","maxLength":1048576}
}
