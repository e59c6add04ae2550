package codegen_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/codegen/testdata/kinds/generated/forms"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/types"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
)

type formsHandler struct{ got *forms.MoveInput }

func (h formsHandler) Move(_ context.Context, in forms.MoveInput) (forms.MoveOutput, error) {
	*h.got = in
	at, err := in.At.Time()
	if err != nil {
		return forms.MoveOutput{}, err
	}
	wait, err := in.Wait.Exact()
	if err != nil {
		return forms.MoveOutput{}, err
	}
	out := forms.MoveOutput{At: canon.NewDateTime(at.Add(wait)), Wait: in.Wait, ID: in.ID}
	if wait > time.Hour {
		out.Wait = "an hour"
	}
	return out, nil
}

func TestFormats(t *testing.T) {
	var got forms.MoveInput
	exchanges(t, func(b *runtime.Builder) { forms.Register(b, formsHandler{&got}) }, []exchange{
		{
			// The form is kept: small t, an offset, a zero at the end.
			name:      "moment",
			source:    `r = forms.move(at="2026-11-29t18:00:00.50+01:00")` + "\n" + `[r.at, type(r.at).__name__, r.wait]`,
			arguments: `{"at":"2026-11-29t18:00:00.50+01:00","wait":"PT5M"}`,
			view:      map[string]any{"at": "2026-11-29t18:00:00.50+01:00", "wait": "PT5M"},
			result:    `["2026-11-29T18:05:00.5+01:00","str","PT5M"]`,
		},
		{
			name:      "everywhere",
			source:    `forms.move(at="2026-11-29T18:00:00Z", day="2026-11-29", clock=None, wait="PT0S", id="2EB8AA08-AA98-11EA-B4AA-73B441D16380", ids=["2eb8aa08-aa98-11ea-b4aa-73b441d16380"], days={"a": "2024-02-29"}, v4="127.0.0.1", v6="::1", home="https://example.com/", mail="a@example.com")`,
			arguments: `{"at":"2026-11-29T18:00:00Z","clock":null,"day":"2026-11-29","days":{"a":"2024-02-29"},"home":"https://example.com/","id":"2EB8AA08-AA98-11EA-B4AA-73B441D16380","ids":["2eb8aa08-aa98-11ea-b4aa-73b441d16380"],"mail":"a@example.com","v4":"127.0.0.1","v6":"::1","wait":"PT0S"}`,
			result:    `{"at":"2026-11-29T18:00:00Z","wait":"PT0S","id":"2EB8AA08-AA98-11EA-B4AA-73B441D16380"}`,
		},
		{name: "date-time", source: `forms.move(at="2026-11-29")`, failure: `at: expected the format date-time, got "2026-11-29"`},
		{name: "date", source: `forms.move(at="2026-11-29T18:00:00Z", day="2026-02-30")`, failure: `day: expected the format date, got "2026-02-30"`},
		{name: "pattern", source: `forms.move(at="2026-11-29T18:00:00Z", day="1926-02-20")`, failure: `day: expected a match of the pattern ^20`},
		{name: "time", source: `forms.move(at="2026-11-29T18:00:00Z", clock="18:00")`, failure: `clock: expected the format time, got "18:00"`},
		{name: "duration", source: `forms.move(at="2026-11-29T18:00:00Z", wait="5m")`, failure: `wait: expected the format duration, got "5m"`},
		{name: "uuid", source: `forms.move(at="2026-11-29T18:00:00Z", ids=["x"])`, failure: `ids[0]: expected the format uuid, got "x"`},
		{name: "inside", source: `forms.move(at="2026-11-29T18:00:00Z", days={"a b": ""})`, failure: `days['a b']: expected the format date, got ""`},
		{name: "length", source: `forms.move(at="2026-11-29T18:00:00." + "0" * 50 + "Z")`, failure: `at: expected at most 64 characters, got 71`},
		{
			name: "output", source: `forms.move(at="2026-11-29T18:00:00Z", wait="P1D")`,
			arguments: `{"at":"2026-11-29T18:00:00Z","wait":"P1D"}`, failure: ": the capability failed",
		},
	})
	if diff := cmp.Diff(forms.MoveInput{At: "2026-11-29T18:00:00Z", Wait: "P1D"}, got); diff != "" {
		t.Errorf("the handler's last input: %s", diff)
	}
}

func TestFormatRoundTrip(t *testing.T) {
	const id = `"2eb8aa08-AA98-11ea-b4aa-73b441d16380"`
	if got := roundTrip[types.Key](t, id); got != id {
		t.Errorf("got %s, want %s", got, id)
	}
	agrees[forms.MoveInput](t, "forms.move", `{"at":"2026-11-29T18:00:00Z","day":"2026-11-29","clock":"18:00:00Z","wait":"P1D","id":`+id+`,"ids":[`+id+`],"days":{"a":"2024-02-29"},"v4":"1.2.3.4","v6":"::","home":"a:b","mail":"a@b"}`,
		"2026-11-29T18:00:00Z", "2026-11-29", "2026-02-30", "1926-02-20", "18:00:00Z", "18:00:00", "P1D", "P1W", "P", "1.2.3.4", "::", "a:b", "a@b", "2eb8aa08-aa98-11ea-b4aa-73b441d16380")
}
