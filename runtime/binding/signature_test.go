package binding_test

import (
	"testing"

	"github.com/capgen/capgen/runtime/binding"
)

func TestSignature(t *testing.T) {
	c := binding.Capability{Name: "a.b", Input: []binding.Field{
		{Name: "key", Shape: binding.Shape{Kind: binding.String}, Required: true},
		{Name: "rows", Shape: binding.Shape{Kind: binding.Array, Items: &binding.Shape{Kind: binding.Array, Items: &binding.Shape{Kind: binding.Object}}}},
		{Name: "share", Shape: binding.Shape{Kind: binding.Number}, Default: "0.5"},
		{Name: "deep", Shape: binding.Shape{Kind: binding.Boolean}, Default: "true"},
		{Name: "any", Shape: binding.Shape{Kind: binding.Integer}},
		{Name: "labels", Shape: binding.Shape{Kind: binding.Map, Items: &binding.Shape{Kind: binding.Integer}}},
		{Name: "id", Shape: binding.Shape{Kind: binding.Int64}, Default: `"9007199254740993"`},
		{Name: "inside", Shape: binding.Shape{Kind: binding.Object, Fields: []binding.Field{
			{Name: "ids", Shape: binding.Shape{Kind: binding.Array, Items: &binding.Shape{Kind: binding.Int64}}},
			{Name: "text", Shape: binding.Shape{Kind: binding.String}},
		}}, Default: `{"ids":["1","-2"],"text":"3"}`},
		{Name: "data", Shape: binding.Shape{Kind: binding.Bytes}, Default: `"AGFcIn//"`},
		{Name: "none", Shape: binding.Shape{Kind: binding.Integer, Nullable: true}},
		{Name: "nulls", Shape: binding.Shape{Kind: binding.Array, Nullable: true, Items: &binding.Shape{Kind: binding.String, Nullable: true}}, Default: "null"},
	}}
	if got, want := c.Signature(), "a.b(*, key: str, rows: list[list[dict]] = None, share: float = 0.5, deep: bool = True, any: int = None, labels: dict[str, int] = None, id: int = 9007199254740993, inside: dict = {\"ids\": [1, -2], \"text\": \"3\"}, data: bytes = b\"\\x00a\\\\\\\"\\x7f\\xff\", none: int | None = ..., nulls: list[str | None] | None = None)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := (&binding.Capability{Name: "a.b"}).Signature(); got != "a.b()" {
		t.Error(got)
	}
}

func TestLiteral(t *testing.T) {
	for text, want := range map[string]string{
		`true`: "True", `false`: "False", `null`: "None", `1.5`: "1.5", `1e2`: "1e2", "\"a\\\"\u202e\"": `"a\"\u202e"`,
		`{"b":[true,null],"a":{}}`: `{"b": [True, None], "a": {}}`, `[]`: "[]",
		// Not JSON: as it is.
		``: ``, `nul`: `nul`, `[1,]`: `[1,]`, `1 2`: `1 2`,
	} {
		if got := binding.Literal(text); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
