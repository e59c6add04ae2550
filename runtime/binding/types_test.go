package binding_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/binding"
)

// Shapes that hold themselves stand under a name, and every reference has its
// shape.
func TestTypes(t *testing.T) {
	ref := binding.Shape{Kind: binding.Ref, Ref: "Tree"}
	c := &binding.Capability{
		ID: "a.b", Name: "a.b", Output: ref,
		Input: []binding.Field{{Name: "x", Shape: binding.Shape{Kind: binding.Array, MaxLength: 3, Items: &ref}}},
		Types: []binding.NamedShape{
			{Name: "Leaf", Shape: binding.Shape{Kind: binding.Boolean}},
			{Name: "Tree", Shape: binding.Shape{Kind: binding.Object, Fields: []binding.Field{{Name: "next", Shape: ref}}}},
		},
	}
	text := string(c.AppendJSON(nil))
	got, err := binding.ParseCapability(text)
	if err != nil || !cmp.Equal(c, got) {
		t.Errorf("%s: %v, %v", text, got, err)
	}
	if got := c.Signature(); got != `a.b(*, x: list[Tree] = None)` {
		t.Error(got)
	}
	for _, bad := range []struct{ old, new, want string }{
		{`"output":{"kind":"ref","ref":"Tree"}`, `"output":{"kind":"ref","ref":"Treee"}`, "not there"},
		{`"name":"next","ref":"Tree"`, `"name":"next","ref":"Treee"`, "not there"},
		{`"output":{"kind":"ref","ref":"Tree"}`, `"output":{"kind":"ref"}`, "output.ref"},
		{`"output":{"kind":"ref"`, `"output":{"kind":"object"`, "ref does not apply"},
		{`{"kind":"boolean"}`, `{"kind":"ref","ref":"Tree"}`, "refers to another"},
		{`"name":"Leaf"`, `"name":"Tree"`, "not in order"},
		{`"name":"Leaf"`, `"name":"a b"`, "identifier"},
		{`,"shape":{"kind":"boolean"}`, ``, "types[0].shape"},
		{`"shape":{"kind":"boolean"}`, `"shape":{"kind":"boolean"},"x":1`, "unknown member"},
	} {
		changed := strings.Replace(text, bad.old, bad.new, 1)
		if _, err := binding.ParseCapability(changed); changed == text || err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: %v, want %s", changed, err, bad.want)
		}
	}
}
