package codegen_test

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/codegen/testdata/kinds/generated/types"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/wide"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
)

type wideHandler struct{ got *wide.KeepInput }

func (h wideHandler) Keep(_ context.Context, in wide.KeepInput) (wide.KeepOutput, error) {
	*h.got = in
	out := wide.KeepOutput{Next: int64(in.ID) + 1} // wraps, and fails the check, for the last one
	for _, id := range in.Ids.Value {
		out.Ids.Present = true
		out.Ids.Value = append(out.Ids.Value, canon.NotNull(id), canon.Null[int64]())
	}
	return out, nil
}

const wideDefaults = `"d_id":"9007199254740993","d_rows":[{"id":"9223372036854775807"},{"id":"7"}],"d_small":"-5",`

func TestInt64(t *testing.T) {
	var got wide.KeepInput
	exchanges(t, func(b *runtime.Builder) { wide.Register(b, wideHandler{&got}) }, []exchange{
		{
			name:      "above 2^53",
			source:    `r = wide.keep(id=9007199254740992)` + "\n" + `[r.next == 9007199254740993, r.next - 9007199254740992, type(r.next).__name__, r]`,
			arguments: `{` + wideDefaults + `"id":"9007199254740992","none":null}`,
			view: map[string]any{
				"d_id": "9007199254740993", "d_rows": []any{map[string]any{"id": "9223372036854775807"}, map[string]any{"id": "7"}},
				"d_small": "-5", "id": "9007199254740992", "none": nil,
			},
			result: `[true,1,"int",{"next":"9007199254740993"}]`,
		},
		{
			name:      "one apart",
			source:    `wide.keep(id=9007199254740993).next`,
			arguments: `{` + wideDefaults + `"id":"9007199254740993","none":null}`,
			view: map[string]any{
				"d_id": "9007199254740993", "d_rows": []any{map[string]any{"id": "9223372036854775807"}, map[string]any{"id": "7"}},
				"d_small": "-5", "id": "9007199254740993", "none": nil,
			},
			result: `"9007199254740994"`,
		},
		{
			name:      "everywhere",
			source:    `r = wide.keep(id=0, even=-4611686018427387904, none=-1, ids=[-1 << 63, (1 << 63) - 1], by_name={"a": 5}, d_id=1, d_rows=[], d_small=0)` + "\n" + `[r.next, r.ids[0] == -1 << 63, r.ids[1], r.ids[2] == (1 << 63) - 1]`,
			arguments: `{"by_name":{"a":"5"},"d_id":"1","d_rows":[],"d_small":"0","even":"-4611686018427387904","id":"0","ids":["-9223372036854775808","9223372036854775807"],"none":"-1"}`,
			result:    `[1,true,null,true]`,
		},
		{name: "text", source: `wide.keep(id="5")`, failure: "id: expected int, got str"},
		{name: "float", source: `wide.keep(id=5.0)`, failure: "id: expected int, got float"},
		{name: "bool", source: `wide.keep(id=True)`, failure: "id: expected int, got bool"},
		{name: "beyond", source: `wide.keep(id=1 << 63)`, failure: "id: expected an integer from -9223372036854775808 to 9223372036854775807, got one beyond 64 bits"},
		{name: "bound", source: `wide.keep(id=1, even=100)`, failure: "even: expected an integer from -4611686018427387904 to 99, got 100"},
		{name: "multiple", source: `wide.keep(id=1, even=99)`, failure: "even: expected a multiple of 2, got 99"},
		{name: "inside", source: `wide.keep(id=1, by_name={"a b": None})`, failure: "by_name['a b']: expected int, got None: it is required"},
		{
			name: "output", source: `wide.keep(id=(1 << 63) - 1)`,
			arguments: `{` + wideDefaults + `"id":"9223372036854775807","none":null}`, failure: ": the capability failed",
		},
	})
	want := wide.KeepInput{ID: math.MaxInt64, DID: 1<<53 + 1, DSmall: -5, DRows: []wide.KeepInputDRowsItem{{ID: math.MaxInt64}, {ID: 7}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the handler's last input: %s", diff)
	}
}

func TestInt64RoundTrip(t *testing.T) {
	if got, want := roundTrip[types.WideID](t, `"-9223372036854775808"`), `"-9223372036854775808"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	const in = `{"by_name":{"a":"-9223372036854775808"},"d_id":"9223372036854775807","d_rows":[{"id":"-9223372036854775807"}],"d_small":"9223372036854775806","id":"-9223372036854775808","ids":["9223372036854775807","9007199254740993"],"none":"-9007199254740993"}`
	const out = `{"ids":["-9223372036854775808",null,"9223372036854775807"],"next":"9223372036854775807"}`
	if got := roundTrip[wide.KeepInput](t, in); got != in {
		t.Errorf("got %s, want %s", got, in)
	}
	if got := roundTrip[wide.KeepOutput](t, out); got != out {
		t.Errorf("got %s, want %s", got, out)
	}
	if _, err := decode[types.WideID](canon.NewJSONReader([]byte(`9007199254740993`), depth)); err == nil {
		t.Error("a JSON number is taken: another reader would have rounded it")
	}
	agrees[wide.KeepInput](t, "wide.keep", `{"id":"1","none":"5","ids":["7"],"by_name":{"a":"8"},"d_id":"9","d_small":"0","d_rows":[{"id":"3"}]}`,
		"0", "-0", "01", "-12", "9007199254740993", "1e2", "1.0", "12345678901234567890")
}
