package binding_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/capgen/capgen/runtime/binding"
)

func everything() *binding.Capability {
	text := binding.Shape{Kind: binding.String, MinLength: 1, MaxLength: 128, Pattern: "^[a-z]+$"}
	return &binding.Capability{
		ID: "records.lookup/1", Name: "records.lookup",
		Input: []binding.Field{
			{Name: "key", Shape: text, Required: true},
			{Name: "limit", Shape: binding.Shape{Kind: binding.Integer, Minimum: -1, Maximum: 100, MultipleOf: "0.5"}, Default: "20"},
			{Name: "ratio", Shape: binding.Shape{Kind: binding.Number, MultipleOf: "0.1",
				Range: &binding.Range{Min: "-1.5", Max: "1e+21", ExclusiveMin: true, ExclusiveMax: true}}},
			{Name: "deep", Shape: binding.Shape{Kind: binding.Boolean, Nullable: true}, Default: "null"},
			{Name: "order", Shape: binding.Shape{Kind: binding.String, MaxLength: 4, Enum: []string{"name", "size", "", "é😀\""}}},
			{Name: "wide", Shape: binding.Shape{Kind: binding.Int64, MultipleOf: "2", Range: &binding.Range{Min: "-9223372036854775808", Max: "9223372036854775807"}}},
			{Name: "data", Shape: binding.Shape{Kind: binding.Bytes, MaxLength: 8}},
			{Name: "at", Shape: binding.Shape{Kind: binding.String, MaxLength: 64, Format: "date-time"}},
			{Name: "labels", Shape: binding.Shape{Kind: binding.Map, MaxLength: 9, Keys: &text, Items: &binding.Shape{Kind: binding.Boolean}}},
			{Name: "filter", Shape: binding.Shape{Kind: binding.Object, Fields: []binding.Field{{Name: "owner", Shape: text}}}},
			{Name: "tags", Shape: binding.Shape{Kind: binding.Array, MaxLength: 3, Items: &text}, Default: `["a"]`},
		},
		Output: binding.Shape{Kind: binding.Object, Fields: []binding.Field{
			{Name: "list", Shape: binding.Shape{Kind: binding.Array, MaxLength: 10, Items: &binding.Shape{Kind: binding.Object}}},
			{Name: "more", Shape: text}, {Name: "cut", Shape: binding.Shape{Kind: binding.Boolean}},
		}},
		Pages: &binding.Pages{In: "key", Out: "more", Items: "list", Truncated: "cut"},
	}
}

func TestJSONRoundTrip(t *testing.T) {
	c := everything()
	text := string(c.AppendJSON([]byte("x")))[1:]
	got, err := binding.ParseCapability(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, got); diff != "" {
		t.Error(diff)
	}
	// The struct tags are the other description of the form.
	var oracle binding.Capability
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&oracle); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, &oracle); diff != "" {
		t.Errorf("struct tags: %s", diff)
	}
	marshalled, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := binding.ParseCapability(string(marshalled)); err != nil {
		t.Error(err)
	} else if diff := cmp.Diff(c, got); diff != "" {
		t.Errorf("struct tags: %s", diff)
	}
}

func TestAppendJSONIsCanonical(t *testing.T) {
	c := &binding.Capability{ID: "a.b", Name: "a.b", Output: binding.Shape{Kind: binding.Integer, Minimum: 1, Maximum: 9},
		Input: []binding.Field{{Name: "x", Shape: binding.Shape{Kind: binding.String, MaxLength: 5}, Required: true}}}
	want := `{"id":"a.b","input":[{"kind":"string","maxLength":5,"name":"x","required":true}],"name":"a.b","output":{"kind":"integer","maximum":9,"minimum":1}}`
	if got := string(c.AppendJSON(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c.Input = nil
	if got := string(c.AppendJSON(nil)); !strings.Contains(got, `"input":[]`) {
		t.Errorf("got %s", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a capability without a name was written")
		}
	}()
	(&binding.Capability{ID: "a.b"}).AppendJSON(nil)
}

func TestParseCapabilityRefuses(t *testing.T) {
	output := func(shape string) string { return `{"id":"a.b","name":"a.b","input":[],"output":` + shape + `}` }
	input := func(fields string) string {
		return `{"id":"a.b","name":"a.b","output":{"kind":"boolean"},"input":[` + fields + `]}`
	}
	pages := func(text string) string {
		return `{"id":"a.b","name":"a.b","input":[{"name":"a","kind":"string","maxLength":9}],"output":{"kind":"object","fields":[` +
			`{"name":"l","kind":"array","items":{"kind":"boolean"},"maxLength":9},{"name":"n","kind":"string","maxLength":9}]},"pages":` + text + `}`
	}
	nested := func(levels int) string {
		return output(strings.Repeat(`{"kind":"array","items":`, levels) + `{"kind":"boolean"}` + strings.Repeat(`}`, levels))
	}
	objects := func(levels int) string {
		return input(strings.Repeat(`{"name":"x","kind":"object","fields":[`, levels) + `{"name":"x","kind":"boolean"}` + strings.Repeat(`]}`, levels))
	}
	for _, text := range []string{nested(63), objects(63), output(`{"kind":"object"}`)} {
		if _, err := binding.ParseCapability(text); err != nil {
			t.Errorf("%.60s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		nested(64):  "nested deeper than 64 levels",
		objects(64): "nested deeper than 64 levels",
		output(strings.Repeat(`{"items":`, 100_000)): "nested deeper than",
		``:                              "unexpected end of input",
		`{}`:                            "id: required, but missing",
		output(`{}`):                    "output.kind: required, but missing",
		output(`1`):                     "output: expected object, got integer",
		pages(`{"in":"a","items":"l"}`): "pages.out: required, but missing",
		pages(`{"in":"a","items":"l","out":"n","by":"a"}`):        "pages.by: unknown member",
		pages(`{"in":"b","items":"l","out":"n"}`):                 "pages of fields that are not there",
		pages(`{"in":"a","items":"n","out":"n"}`):                 "pages of fields that are not there",
		pages(`{"in":"a","items":"l","out":"l"}`):                 "pages of fields that are not there",
		pages(`{"in":"a","items":"l","out":"n","truncated":"n"}`): "pages of fields that are not there",
		output(`{}`) + `1`:                                                                          "output.kind: required",
		output(`{"kind":"boolean"}`) + `1`:                                                          "unexpected data after the value",
		output(`{"kind":"null"}`):                                                                   "output.kind: expected one of",
		output(`{"kind":"boolean","nope":1}`):                                                       "output.nope: unknown member",
		output(`{"kind":"boolean","kind":"boolean"}`):                                               "output.kind: given twice",
		output(`{"kind":"boolean","name":"x"}`):                                                     "output.name: unknown member",
		output(`{"kind":"array"}`):                                                                  "output.items: required, but missing",
		output(`{"kind":"string","minLength":2}`):                                                   "output: minLength is above maxLength",
		output(`{"kind":"string","maxLength":-1}`):                                                  "output.maxLength: expected an integer from 0",
		output(`{"kind":"integer","minimum":1}`):                                                    "output: minimum is above maximum",
		output(`{"kind":"integer","minimum":-9007199254740992}`):                                    "output.minimum: expected an integer from -9007199254740991",
		output(`{"kind":"integer","minimum":1.5}`):                                                  "output.minimum: expected integer, got number",
		output(`{"kind":"int64"}`):                                                                  "output: expected a range of 64-bit integers",
		output(`{"kind":"int64","range":{"max":"9223372036854775808","min":"0"}}`):                  "output: expected a range of 64-bit integers",
		output(`{"kind":"int64","range":{"max":"1","min":"2"}}`):                                    "output: expected a range of 64-bit integers",
		output(`{"kind":"int64","range":{"exclusiveMax":true,"max":"1","min":"0"}}`):                "output: expected a range of 64-bit integers",
		output(`{"kind":"map","items":{"kind":"boolean"},"maxLength":1}`):                           "output.keys: required",
		output(`{"kind":"map","items":{"kind":"boolean"},"keys":{"kind":"boolean"},"maxLength":1}`): "output.keys: expected the shape of a string",
		output(`{"kind":"boolean","minimum":0}`):                                                    "output: member minimum does not apply to kind boolean",
		output(`{"kind":"string","maximum":0}`):                                                     "output: member maximum does not apply to kind string",
		output(`{"maxLength":1,"kind":"number"}`):                                                   "output: member maxLength does not apply to kind number",
		output(`{"kind":"number","enum":["a"]}`):                                                    "output: member enum does not apply to kind number",
		output(`{"kind":"array","pattern":"a","items":{"kind":"boolean"}}`):                         "output: member pattern does not apply to kind array",
		output(`{"kind":"object","items":{"kind":"boolean"}}`):                                      "output: member items does not apply to kind object",
		output(`{"kind":"string","fields":[]}`):                                                     "output: member fields does not apply to kind string",
		output(`{"kind":"integer","range":{}}`):                                                     "output: member range does not apply to kind integer",
		output(`{"kind":"boolean","multipleOf":"1"}`):                                               "output: member multipleOf does not apply to kind boolean",
		output(`{"kind":"string","enum":[]}`):                                                       "output.enum: expected at least 1 item, got 0",
		output(`{"kind":"number","multipleOf":"x"}`):                                                "output.multipleOf: expected the text of a number",
		output(`{"kind":"number","multipleOf":"1e999"}`):                                            "output.multipleOf: expected the text of a number",
		output(`{"kind":"number","multipleOf":"1 1"}`):                                              "output.multipleOf: expected the text of a number",
		output(`{"kind":"number","range":{"min":""}}`):                                              "output.range.min: expected at least 1 character",
		output(`{"kind":"number","range":{"low":"1"}}`):                                             "output.range.low: unknown member",
		output(`{"kind":"number","range":{"max":"01"}}`):                                            "output.range.max: expected the text of a number",
		input(`{"kind":"boolean"}`):                                                                 "input[0].name: required, but missing",
		input(`{"name":"a b","kind":"boolean"}`):                                                    "input[0].name: expected an identifier",
		input(`{"name":"1a","kind":"boolean"}`):                                                     "input[0].name: expected an identifier",
		input(`{"name":"x","kind":"boolean"},{"name":"x","kind":"string"}`):                         "input[1]: a field of this name was there before",
		input(`{"name":"x","kind":"boolean","default":"tru"}`):                                      "input[0].default: expected the text of a JSON value",
		input(`{"name":"x","kind":"boolean","default":true}`):                                       "input[0].default: expected string, got boolean",
		input(`{"name":"x","kind":"boolean","default":"true","required":true}`):                     "input[0]: a required field has no default",
		`{"id":"","name":"a.b"}`:                                                                    "id: expected at least 1 character",
		`{"name":"a.` + strings.Repeat("b", 63) + `"}`:                                              "name: expected at most 64 characters, got 65",
		`{"name":"ab"}`:          "name: expected a capability name",
		`{"name":"a..b"}`:        "name: expected a capability name",
		`{"name":"a.b."}`:        "name: expected a capability name",
		`{"name":"A.b"}`:         "name: expected a capability name",
		`{"name":"a._b"}`:        "name: expected a capability name",
		`{"input":null}`:         "input: expected array, got null",
		`{"output":{},"more":1}`: "output.kind: required",
		`{"more":1}`:             "more: unknown member",
	} {
		c, err := binding.ParseCapability(text)
		if err == nil || c != nil || !strings.HasPrefix(err.Error(), "binding: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.90s\ngot  %v\nwant %s", text, err, want)
		}
	}
	if _, err := binding.ParseCapability(strings.Repeat(" ", 9<<20)); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("got %v for 9 MiB", err)
	}
	many := make([]string, binding.MaxFields+1)
	for i := range many {
		many[i] = fmt.Sprintf(`{"name":"x%d","kind":"boolean"}`, i)
	}
	if _, err := binding.ParseCapability(input(strings.Join(many[1:], ","))); err != nil {
		t.Error(err)
	}
	if _, err := binding.ParseCapability(input(strings.Join(many, ","))); err == nil || !strings.Contains(err.Error(), "at most 256 items") {
		t.Errorf("got %v for %d fields", err, len(many))
	}
}

func FuzzParseCapability(f *testing.F) {
	f.Add(string(everything().AppendJSON(nil)))
	f.Add(`{"id":"a.b","name":"a.b","input":[],"output":{"kind":"integer","minimum":-9007199254740991,"maximum":0}}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := binding.ParseCapability(text)
		if err != nil {
			return
		}
		again, err := binding.ParseCapability(string(c.AppendJSON(nil)))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(c, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s: %s", text, diff)
		}
	})
}
