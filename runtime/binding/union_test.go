package binding_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/binding"
)

func TestUnionShape(t *testing.T) {
	object := func(tag string) binding.Shape {
		return binding.Shape{Kind: binding.Object, Fields: []binding.Field{{Name: "kind", Shape: binding.Shape{Kind: binding.String, MaxLength: 9, Enum: []string{tag}}, Required: true}}}
	}
	c := &binding.Capability{
		ID: "a.b", Name: "a.b",
		Input: []binding.Field{
			{Name: "x", Shape: binding.Shape{Kind: binding.Union, Tag: "kind", Tags: []string{"a", "b"}, Variants: []binding.Shape{object("a"), object("b")}}, Required: true},
			{Name: "y", Shape: binding.Shape{Kind: binding.Union, Nullable: true, Variants: []binding.Shape{{Kind: binding.Boolean}, {Kind: binding.String, MaxLength: 3}}}},
		},
		Output: binding.Shape{Kind: binding.Boolean},
	}
	text := string(c.AppendJSON(nil))
	got, err := binding.ParseCapability(text)
	if err != nil || !cmp.Equal(c, got) {
		t.Errorf("%s: %v, %v", text, got, err)
	}
	if got := c.Signature(); got != `a.b(*, x: dict, y: bool | str | None = ...)` {
		t.Error(got)
	}
	for _, bad := range []struct{ old, new, want string }{
		{`"tags":["a","b"]`, `"tags":["a","b","c"]`, "tags that do not fit"},
		{`"tag":"kind",`, ``, "tags that do not fit"},
		{`,"tags":["a","b"]`, ``, "tags that do not fit"},
		{`"variants":[{"kind":"boolean"},{"kind":"string","maxLength":3}]`, `"variants":[{"kind":"boolean"}]`, "at least 2 items"},
		{`,"variants":[{"kind":"boolean"},{"kind":"string","maxLength":3}]`, ``, "variants"},
		{`"output":{"kind":"boolean"}`, `"output":{"kind":"boolean","tag":"x"}`, "tag does not apply"},
	} {
		changed := strings.Replace(text, bad.old, bad.new, 1)
		if _, err := binding.ParseCapability(changed); changed == text || err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: %v, want %s", changed, err, bad.want)
		}
	}
}
