package codegen_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/codegen/testdata/kinds/generated/nulls"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/types"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
)

type nullsHandler struct{ got *nulls.KeepInput }

func (h nullsHandler) Keep(_ context.Context, in nulls.KeepInput) (nulls.KeepOutput, error) {
	*h.got = in
	out := nulls.KeepOutput{Rows: canon.Some([]canon.Nullable[nulls.KeepOutputRowsItemValue]{canon.Null[nulls.KeepOutputRowsItemValue](), canon.NotNull(nulls.KeepOutputRowsItemValue{ID: 4})})}
	if may, ok := in.May.Get(); ok {
		// Absent, null and a value come back as what they are.
		out.May = canon.Some(canon.Nullable[int64]{Value: int64(len(may.Value)), Valid: may.Valid})
		out.Must = may
	}
	if in.Plain.Or("") == "bad" {
		out.Rows.Value[1].Value.ID = 1 << 60
	}
	return out, nil
}

const nullDefaults = `"d_list":[null,1],"d_null":null,"d_text":"x",`

func TestNullable(t *testing.T) {
	var got nulls.KeepInput
	exchanges(t, func(b *runtime.Builder) { nulls.Register(b, nullsHandler{&got}) }, []exchange{
		{
			name:      "absent",
			source:    `r = nulls.keep(must=None, note=None, plain=None)` + "\n" + `[r.may, "may" in r, r.must, "must" in r, r.rows[0], r.rows[1].id, r]`,
			arguments: `{` + nullDefaults + `"must":null,"note":null}`,
			view:      map[string]any{"d_list": []any{nil, 1.0}, "d_null": nil, "d_text": "x", "must": nil, "note": nil},
			result:    `[null,false,null,true,null,4,{"must":null,"rows":[null,{"id":4}]}]`,
		},
		{
			name:      "null",
			source:    `r = nulls.keep(must=3, note="n", may=None, d_text=None, d_list=None, mode=None, switch=None, entry=None, inner=None)` + "\n" + `[r.may, "may" in r, r.must, r]`,
			arguments: `{"d_list":null,"d_null":null,"d_text":null,"entry":null,"inner":null,"may":null,"mode":null,"must":3,"note":"n","switch":null}`,
			result:    `[null,true,null,{"must":null,"may":null,"rows":[null,{"id":4}]}]`,
		},
		{
			name:      "value",
			source:    `r = nulls.keep(must=9, note="", may="abc", d_null=True, d_list=(None, 0.5), mode="left", switch="on", entry={"path": "/", "level": None}, inner={"x": None, "z": None})` + "\n" + `[r.may, "may" in r, r.must]`,
			arguments: `{"d_list":[null,0.5],"d_null":true,"d_text":"x","entry":{"path":"/"},"inner":{"x":null},"may":"abc","mode":"left","must":9,"note":"","switch":"on"}`,
			result:    `[3,true,"abc"]`,
		},
		{name: "missing", source: `nulls.keep(note=None)`, failure: "must: required parameter is missing"},
		{name: "kind", source: `nulls.keep(must="3", note=None)`, failure: "must: expected int | None, got str"},
		{name: "bound", source: `nulls.keep(must=4, note=None)`, failure: "must: expected a multiple of 3, got 4"},
		{name: "pattern", source: `nulls.keep(must=None, note=None, may="b")`, failure: "may: expected a match of the pattern ^a"},
		{name: "enum", source: `nulls.keep(must=None, note=None, mode="up")`, failure: `mode: expected one of "left", "right", got "up"`},
		{name: "inside", source: `nulls.keep(must=None, note=None, d_list=[None, 2])`, failure: "d_list[1]: expected at most 1.5, got 2"},
		{
			name: "output", source: `nulls.keep(must=None, note=None, plain="bad")`,
			arguments: `{` + nullDefaults + `"must":null,"note":null,"plain":"bad"}`,
			failure:   ": the capability failed",
		},
	})
	want := nulls.KeepInput{
		Plain:  canon.Some("bad"),
		DText:  canon.NotNull("x"),
		DList:  canon.NotNull([]canon.Nullable[float64]{{}, {Value: 1, Valid: true}}),
		Switch: canon.Optional[types.Switch]{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the handler's last input: %s", diff)
	}
}

func TestNullableRoundTrip(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{roundTrip[types.Note](t, `null`), `null`},
		{roundTrip[types.Note](t, `"n"`), `"n"`},
		{roundTrip[types.Switch](t, `null`), `null`},
		{roundTrip[nulls.KeepInput](t, `{"must":3.0,"note":"n","may":null,"inner":{}}`), `{` + nullDefaults + `"inner":{},"may":null,"must":3,"note":"n"}`},
	} {
		if test.got != test.want {
			t.Errorf(" got %s\nwant %s", test.got, test.want)
		}
	}
}

// null stays refused where the schema does not take it, and the validator
// agrees with the decoder on every mutation.
func TestNullableAgreesWithSchema(t *testing.T) {
	agrees[nulls.KeepInput](t, "nulls.keep", `{"must":3,"note":"n","may":"a","plain":"p","d_null":true,"d_text":"t","d_list":[null,1],"mode":"left","switch":"on","entry":{"path":"/"},"inner":{"x":null,"z":1}}`)
	agrees[nulls.KeepInput](t, "nulls.keep", `{"must":null,"note":null,"may":null,"mode":null,"switch":null,"entry":null,"inner":null,"d_list":null}`)
}
