package codegen_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/codegen/testdata/kinds/generated/blobs"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/types"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
)

type blobsHandler struct{ got *blobs.SwapInput }

func (h blobsHandler) Swap(_ context.Context, in blobs.SwapInput) (blobs.SwapOutput, error) {
	*h.got = in
	out := blobs.SwapOutput{Data: slices.Clone(in.Data)}
	slices.Reverse(out.Data)
	if blob, ok := in.Blob.Get(); ok {
		out.Data = blob
		out.Parts = canon.Some(map[string]types.Blob{"a": blob, "b": nil})
	}
	return out, nil
}

func TestBytes(t *testing.T) {
	var got blobs.SwapInput
	exchanges(t, func(b *runtime.Builder) { blobs.Register(b, blobsHandler{&got}) }, []exchange{
		{
			name:      "data",
			source:    `r = blobs.swap(data=b"\x00\xffa")` + "\n" + `[r.data == b"a\xff\x00", type(r.data).__name__, len(r.data), r]`,
			arguments: `{"d_data":"AP8i","d_none":"","data":"AP9h"}`,
			view:      map[string]any{"d_data": "AP8i", "d_none": "", "data": "AP9h"},
			result:    `[true,"bytes",3,{"data":"Yf8A"}]`,
		},
		{
			name:      "everywhere",
			source:    `r = blobs.swap(data=b"", blob="é".encode(), maybe=None, parts=[b"", b"\xff"], d_data=b"", d_none=b"x")` + "\n" + `[r.data, r.parts["b"] == b"", r.parts]`,
			arguments: `{"blob":"w6k=","d_data":"","d_none":"eA==","data":"","maybe":null,"parts":["","/w=="]}`,
			result:    `["w6k=",true,{"a":"w6k=","b":""}]`,
		},
		{name: "str", source: `blobs.swap(data="AP9h")`, failure: "data: expected bytes, got str: convert it with text.encode()"},
		{name: "list", source: `blobs.swap(data=b"", parts=[b"", 1])`, failure: "parts[1]: expected bytes, got int"},
		{name: "too long", source: `blobs.swap(data=b"1234567")`, failure: "data: expected at most 8 base64 characters, got 12"},
		{name: "too short", source: `blobs.swap(data=b"", maybe=b"")`, failure: "maybe: expected at least 4 base64 characters, got 0"},
		{name: "cap", source: `blobs.swap(data=b"", parts=[b"a" * 49153])`, failure: "parts[0]: expected at most 65536 base64 characters, got 65540"},
		{
			name: "output", source: `blobs.swap(data=b"", blob=b"1234567")`,
			arguments: `{"blob":"MTIzNDU2Nw==","d_data":"AP8i","d_none":"","data":""}`, failure: ": the capability failed",
		},
	})
	want := blobs.SwapInput{Blob: canon.Some(types.Blob("1234567")), DData: []byte("\x00\xff\"")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the handler's last input: %s", diff)
	}
}

func TestBytesRoundTrip(t *testing.T) {
	if got, want := roundTrip[types.Blob](t, `"\u0041A=="`), `"AA=="`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	agrees[blobs.SwapInput](t, "blobs.swap", `{"data":"AA==","blob":"AAAA","maybe":"AAAA","parts":["","AAA="],"d_data":"AAAA","d_none":"AAAA"}`,
		"AA", "AA=", "AB==", "AAB=", "AAE=", "A", "====", "AA==AA==", "_-8=", "AA\n==", "AAAAAAAAAAAA", "AAAA\n")
}
