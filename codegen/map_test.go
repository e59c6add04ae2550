package codegen_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/codegen/testdata/kinds/generated/tables"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/types"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
)

type tablesHandler struct{ got *tables.TakeInput }

func (h tablesHandler) Take(_ context.Context, in tables.TakeInput) (tables.TakeOutput, error) {
	*h.got = in
	out := tables.TakeOutput{}
	for k, v := range in.Env {
		out[k] = int64(len(v))
	}
	return out, nil
}

const mapDefaults = `"d_map":{"a":{"set":false},"b c":{"set":true}},"d_none":{},`

func TestMaps(t *testing.T) {
	var got tables.TakeInput
	exchanges(t, func(b *runtime.Builder) { tables.Register(b, tablesHandler{&got}) }, []exchange{
		{
			// UTF-16 order: the character above U+FFFF is before U+FF5E.
			name:      "order",
			source:    "r = tables.take(env={\"b\": \"xx\", \"\uff5e\": \"\", \"\U0001F600\": \"four\"})\n[r, [k for k in r], r[\"b\"], type(r).__name__]",
			arguments: `{` + mapDefaults + "\"env\":{\"b\":\"xx\",\"\U0001F600\":\"four\",\"\uff5e\":\"\"}}",
			view:      map[string]any{"d_map": map[string]any{"a": map[string]any{"set": false}, "b c": map[string]any{"set": true}}, "d_none": map[string]any{}, "env": map[string]any{"b": "xx", "\uff5e": "", "\U0001F600": "four"}},
			result:    "[{\"b\":2,\"\U0001F600\":4,\"\uff5e\":0},[\"b\",\"\U0001F600\",\"\uff5e\"],2,\"dict\"]",
		},
		{
			name:      "inside",
			source:    `tables.take(env={"a": ""}, counts={"z": 1, "a": 0}, deep={"x": None, "y": {"k": [1, 2.5]}, "": {}}, entries={"e e": {"path": "/"}}, folders={"a": {"b": {}}}, modes={"m": "up"}, d_map={}, d_none=None)`,
			arguments: `{"counts":{"a":0,"z":1},"d_map":{},"d_none":{},"deep":{"":{},"x":null,"y":{"k":[1,2.5]}},"entries":{"e e":{"path":"/"}},"env":{"a":""},"folders":{"a":{"b":{}}},"modes":{"m":"up"}}`,
			result:    `{"a":0}`,
		},
		{name: "value", source: `tables.take(env={"env": 3})`, failure: "env['env']: expected str, got int"},
		{name: "length", source: `tables.take(env={"a": "0123456789"})`, failure: "env['a']: expected at most 9 characters, got 10"},
		{name: "key length", source: `tables.take(env={"": "x"})`, failure: "env['']: the key: expected at least 1 character, got 0"},
		{name: "key pattern", source: `tables.take(env={"a b": "x"})`, failure: "env['a b']: the key: expected a match of the pattern ^[^ ]*$"},
		{name: "key kind", source: `tables.take(env={1: "x"})`, failure: "env: expected string keys, got a key of type int"},
		{name: "too few", source: `tables.take(env={})`, failure: "env: expected at least 1 member, got 0"},
		{name: "too many", source: `tables.take(env={"a": "", "b": "", "c": "", "d": ""})`, failure: "env: expected at most 3 members, got 4"},
		{name: "list", source: `tables.take(env=["a"])`, failure: "env: expected dict[str, str], got list"},
		{name: "deep", source: `tables.take(env={"a": ""}, deep={"x": {"y.z": [1, 10]}})`, failure: "deep['x']['y.z'][1]: expected at most 9, got 10"},
		{name: "named", source: `tables.take(env={"a": ""}, counts={"a": -1})`, failure: "counts['a']: expected an integer from 0 to 9007199254740991, got -1"},
		{name: "recursive", source: `tables.take(env={"a": ""}, folders={"a": {"b": {"c": 1}}})`, failure: "folders['a']['b']['c']: expected Folder, got int"},
		{name: "record", source: `tables.take(env={"a": ""}, entries={"a": {"path": "x"}})`, failure: "entries['a'].path: expected a match of the pattern ^/"},
		{
			name: "output", source: `tables.take(env={"a": "x"})`,
			arguments: `{` + mapDefaults + `"env":{"a":"x"}}`, failure: ": the capability failed",
		},
	})
	want := tables.TakeInput{Env: map[string]string{"a": "x"}, DMap: map[string]tables.TakeInputDMapValue{"a": {}, "b c": {Set: true}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the handler's last input: %s", diff)
	}
}

func TestMapRoundTrip(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{roundTrip[types.Counts](t, `{}`), `{}`},
		{roundTrip[types.Counts](t, `{"b":1e2,"a":0}`), `{"a":0,"b":100}`},
		{roundTrip[tables.TakeOutput](t, `{"x y":2}`), `{"x y":2}`},
	} {
		if test.got != test.want {
			t.Errorf(" got %s\nwant %s", test.got, test.want)
		}
	}
	for text, want := range map[string]string{
		`{"a":1,"a":2}`:      "['a']: given twice",
		`{"a":1,"\u0061":2}`: "['a']: given twice",
		`{"a":-1}`:           "['a']: expected an integer from 0 to 9007199254740991, got -1",
		`{"A":1}`:            "['A']: the key: expected a match of the pattern ^[a-z]",
	} {
		_, err := decode[types.Counts](canon.NewJSONReader([]byte(text), depth))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestMapsAgreeWithSchema(t *testing.T) {
	agrees[tables.TakeInput](t, "tables.take", `{"env":{"a":"x","b":""},"counts":{"z":1},"deep":{"x":null,"y":{"k":[1]}},"entries":{"e e":{"path":"/"}},"modes":{"m":"up"},"d_map":{"a":{"set":true}},"d_none":{"n":1}}`,
		map[string]any{" ": "x"}, map[string]any{"": "x"}, map[string]any{"123456789": "x"}, map[string]any{"a": "x", "b": "x", "c": "x"}, map[string]any{"a": "x", "b": "x", "c": "x", "d": "x"})
}
