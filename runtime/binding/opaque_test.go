package binding_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/binding"
)

// Of an opaque value a table says its kind and nothing else.
func TestOpaqueShape(t *testing.T) {
	c := &binding.Capability{
		ID: "a.b", Name: "a.b", Output: binding.Shape{Kind: binding.Opaque},
		Input: []binding.Field{{Name: "x", Shape: binding.Shape{Kind: binding.Opaque}, Default: `{"a":null}`}},
	}
	text := string(c.AppendJSON(nil))
	got, err := binding.ParseCapability(text)
	if err != nil || !cmp.Equal(c, got) {
		t.Errorf("%s: %v, %v", text, got, err)
	}
	if got := c.Signature(); got != `a.b(*, x: any = {"a": None})` {
		t.Error(got)
	}
	bad := strings.Replace(text, `"kind":"opaque"}`, `"kind":"opaque","maxLength":3}`, 1)
	if _, err := binding.ParseCapability(bad); err == nil || !strings.Contains(err.Error(), "maxLength does not apply") {
		t.Errorf("%s: %v", bad, err)
	}
}
