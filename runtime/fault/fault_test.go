package fault_test

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
)

func full() fault.Fault {
	return fault.Fault{
		Class: fault.InvalidArguments, Message: "expected string, got integer", Hint: "quote it",
		Line: 4, Column: 9, Path: "filter.owner", Capability: "files.list", Code: "not_found",
		Limit: "MaxSteps", Bound: math.MaxInt64, Trace: []string{"line 3, in main", "line 1, in <toplevel>"},
	}
}

func encode(t *testing.T, f fault.Fault) []byte {
	t.Helper()
	wire, err := canon.AppendWire(nil, &f)
	if err != nil {
		t.Fatal(err)
	}
	return wire
}

func decode(wire []byte) (fault.Fault, error) {
	var f fault.Fault
	r := canon.NewWireReader(wire, fault.Depth)
	if err := f.Decode(r); err != nil {
		return f, err
	}
	return f, r.End()
}

func TestError(t *testing.T) {
	for want, f := range map[string]fault.Fault{
		"line 4, column 9: oh": {Message: "oh", Line: 4, Column: 9},
		"line 4: oh":           {Message: "oh", Line: 4},
		"oh":                   {Message: "oh", Column: 9, Hint: "h"},
		"x[1]: oh":             {Message: "oh", Path: "x[1]"},
		"line 4: x: oh":        {Message: "oh", Line: 4, Path: "x"},
	} {
		if got := error(&f).Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	classes := []fault.Class{
		fault.InvalidProgram, fault.ProgramError, fault.InvalidArguments, fault.NotFound, fault.Denied, fault.PolicyFailure,
		fault.Limit, fault.CapabilityFailed, fault.Cancelled, fault.WorkerLost, fault.Internal, fault.Unauthenticated,
	}
	for _, class := range classes {
		for _, f := range []fault.Fault{full(), {}} {
			f.Class = class
			got, err := decode(encode(t, f))
			if diff := cmp.Diff(f, got); diff != "" || err != nil {
				t.Errorf("%s: %v\n%s", class, err, diff)
			}
		}
	}
	f := full()
	f.Class = "other"
	if _, err := canon.AppendWire(nil, &f); err == nil {
		t.Error("an unknown class was written")
	}
}

// Whatever a fault holds, its report must arrive.
func TestEncodeCuts(t *testing.T) {
	long := strings.Repeat("é\xff", 5000)
	f := fault.Fault{
		Class: fault.ProgramError, Message: long, Hint: long, Path: long, Capability: long, Code: long, Limit: long,
		Line: -1, Column: math.MaxInt, Bound: -5,
	}
	for range 1000 {
		f.Trace = append(f.Trace, long)
	}
	f.Trace[0], f.Trace[999] = "outermost", "innermost"
	got, err := decode(encode(t, f))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		text string
		most int
	}{
		"message": {got.Message, fault.MaxMessage}, "hint": {got.Hint, fault.MaxHint}, "path": {got.Path, fault.MaxPath},
		"capability": {got.Capability, fault.MaxCapability}, "code": {got.Code, fault.MaxCode}, "limit": {got.Limit, fault.MaxLimit},
	} {
		if len(tt.text) > tt.most || len(tt.text) < tt.most/2 || !utf8.ValidString(tt.text) || !strings.HasSuffix(tt.text, "…") {
			t.Errorf("%s: %d bytes of at most %d: …%q", name, len(tt.text), tt.most, tt.text[max(0, len(tt.text)-9):])
		}
	}
	if n := len(got.Trace); n != fault.MaxTrace || got.Trace[0] != "outermost" || got.Trace[n-1] != "innermost" || got.Trace[8] != "… 969 more" {
		t.Errorf("trace of %d: %q", n, got.Trace)
	}
	if got.Line != 0 || got.Column != 0 || got.Bound != 0 {
		t.Errorf("got %d, %d, %d", got.Line, got.Column, got.Bound)
	}
	if f.Trace[0] != "outermost" || f.Trace[1] != long {
		t.Error("Encode changed the fault")
	}
}

// A cut falls between two characters.
func TestEncodeCutsAtCharacters(t *testing.T) {
	for shift := range 4 {
		text := strings.Repeat("a", shift) + strings.Repeat("😀", 2000)
		got, err := decode(encode(t, fault.Fault{Class: fault.Cancelled, Message: text}))
		if kept, ok := strings.CutSuffix(got.Message, "…"); err != nil || !ok || !strings.HasPrefix(text, kept) {
			t.Errorf("shift %d: %v, …%q", shift, err, got.Message[max(0, len(got.Message)-9):])
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	long := func(n int) string { return `"` + strings.Repeat("é", n/2+1) + `"` } // within n code points, beyond n bytes
	const head = `{"class":"program_error","message":"m"`
	for text, want := range map[string]string{
		`{"class":"other","message":""}`:                         "class: expected one of",
		`{"class":"","message":""}`:                              "class: expected one of",
		`{"class":1,"message":""}`:                               "class: expected string, got integer",
		`{"message":""}`:                                         "class: required, but missing",
		`{"class":"cancelled"}`:                                  "message: required, but missing",
		head + `,"more":1}`:                                      "more: unknown member",
		head + `,"message":"again"}`:                             "message: given twice",
		head + `,"line":0}`:                                      "line: expected an integer from 1 to 2147483647, got 0",
		head + `,"line":2147483648}`:                             "line: expected an integer from 1",
		head + `,"column":-1}`:                                   "column: expected an integer from 1",
		head + `,"bound":0}`:                                     "bound: expected an integer from 1",
		head + `,"hint":""}`:                                     "hint: expected at least 1 character, got 0",
		head + `,"hint":null}`:                                   "hint: expected string, got null",
		head + `,"hint":` + long(1024) + `}`:                     "hint: expected at most 1024 bytes, got 1026",
		head + `,"path":` + long(1280) + `}`:                     "path: expected at most 1280 bytes, got 1282",
		head + `,"capability":` + long(256) + `}`:                "capability: expected at most 256 bytes, got 258",
		head + `,"code":` + long(64) + `}`:                       "code: expected at most 64 bytes, got 66",
		head + `,"limit":` + long(64) + `}`:                      "limit: expected at most 64 bytes, got 66",
		`{"class":"cancelled","message":` + long(4096) + `}`:     "message: expected at most 4096 bytes, got 4098",
		head + `,"trace":[]}`:                                    "trace: expected at least 1 item, got 0",
		head + `,"trace":["a",` + long(256) + `]}`:               "trace[1]: expected at most 256 bytes, got 258",
		head + `,"trace":[""` + strings.Repeat(`,""`, 32) + `]}`: "trace: expected at most 32 items, got more",
		head + `,"trace":[["x"]]}`:                               "trace[0]: expected string, got array",
		`[]`:                                                     "expected object, got array",
	} {
		var f fault.Fault
		err := f.Decode(canon.NewJSONReader([]byte(text), fault.Depth))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60s: got %v, want %s", text, err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	seed := full()
	wire, err := canon.AppendWire(nil, &seed)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(wire)
	f.Add([]byte("\x82\xa5class\xa9cancelled\xa7message\xa0"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		got, err := decode(wire)
		if err != nil {
			return
		}
		again, err := decode(encode(t, got))
		if diff := cmp.Diff(got, again); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}
