package codegen_test

import (
	"strings"
	"testing"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/shapes"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/types"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
)

// allOf is one object with the properties of all: in Go, for programs, and in
// canonical bytes.
func TestRunMerged(t *testing.T) {
	runKinds(t, []kindRun{
		{
			name: "merged", program: `r = shapes.merged(name = "n", note2 = "2", age = 3); return [r.age, r]`,
			canonical: `{"age":3,"extra":{"name":"x","note":"none"},"name":"n","note":"none","note2":"2"}`,
			view: map[string]any{
				"age": int64(3), "extra": map[string]any{"name": "x", "note": "none"}, "name": "n", "note": "none", "note2": "2",
			},
			in:  shapes.MergedInput{Name: "n", Note: "none", Note2: "2", Age: 3, Extra: shapes.MergedInputExtra{Name: "x", Note: "none"}},
			out: types.Aged{Name: "a", Note: "b", Note2: "c", Age: 4}, result: `[4,{"name":"a","note":"b","note2":"c","age":4}]`,
		},
		{name: "required by a part", program: `return shapes.merged(note2 = "2", age = 3)`, err: runtime.ErrInvalidArguments, path: "name"},
		{name: "bound of a part", program: `return shapes.merged(name = "123456789", note2 = "2", age = 3)`, err: runtime.ErrInvalidArguments, path: "name"},
		{name: "unknown to all", program: `return shapes.merged(name = "n", note2 = "2", age = 3, extra = {"name": "x", "age": 1})`, err: runtime.ErrInvalidArguments, path: "extra.age"},
		{name: "output out of bounds", program: `return shapes.merged(name = "n", note2 = "2", age = 3)`, out: types.Aged{Age: -1}, err: runtime.ErrCapabilityFailed},
	})
}

func TestRunConst(t *testing.T) {
	runKinds(t, []kindRun{
		{
			name: "constants", program: `return shapes.const(version = 2, noes = [False])`,
			canonical: `{"half":0.5,"noes":[false],"sure":true,"version":2}`,
			view:      map[string]any{"half": 0.5, "noes": []any{false}, "version": int64(2), "sure": true},
			in:        shapes.ConstInput{Version: 2, Half: 0.5, Sure: true, Noes: canon.Some([]bool{false})}, out: shapes.ConstOutput(true), result: `true`,
		},
		{name: "another integer", program: `return shapes.const(version = 3)`, err: runtime.ErrInvalidArguments, path: "version"},
		{name: "another number", program: `return shapes.const(version = 2, half = 0.25)`, err: runtime.ErrInvalidArguments, path: "half"},
		{name: "another boolean", program: `return shapes.const(version = 2, sure = False)`, err: runtime.ErrInvalidArguments, path: "sure"},
		{name: "in a list", program: `return shapes.const(version = 2, noes = [False, True])`, err: runtime.ErrInvalidArguments, path: "noes[1]"},
		{name: "another output", program: `return shapes.const(version = 2)`, out: shapes.ConstOutput(false), err: runtime.ErrCapabilityFailed},
	})
}

// What is deprecated is said wherever a property is described.
func TestDeprecatedIsSaid(t *testing.T) {
	old := optional("old", str())
	old.Deprecated = true
	m := manifest("example.com/g", nil, capability("a.b", object(old), boolean()))
	files := generate(t, m)
	for name, want := range map[string]string{
		"a/b_gen.go":  "// Deprecated: the manifest marks it so.\n\tOld canon.Optional[string]",
		"lock/a.lock": "a.b input.old string deprecated maxLength",
	} {
		if !strings.Contains(string(files[name]), want) {
			t.Errorf("%s lacks %q:\n%s", name, want, files[name])
		}
	}
	if got := string(files["a/b_gen.go"]); !strings.Contains(got, `{"old":{"deprecated":true}}`) {
		t.Errorf("describe_api does not say it:\n%s", got)
	}
	if got := string(codegen.InlineSchema(m.Capabilities[0].Input)); !strings.Contains(got, `"old":{"type":"string","maxLength":1048576,"deprecated":true}`) {
		t.Error(got)
	}
}
