package codegen_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/shaped"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/types"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
)

// shapedHandler answers as the test says.
type shapedHandler struct {
	shaped.Handlers
	fixed  shaped.FixedInput
	report shaped.ReportOutput
	keep   shaped.KeepOutput
	cut    shaped.CutOutput
}

func (h *shapedHandler) Keep(context.Context, shaped.KeepInput) (shaped.KeepOutput, error) {
	return h.keep, nil
}

func (h *shapedHandler) Cut(context.Context, shaped.CutInput) (shaped.CutOutput, error) {
	return h.cut, nil
}

func (h *shapedHandler) Fixed(_ context.Context, in shaped.FixedInput) (shaped.FixedOutput, error) {
	h.fixed = in
	return "done", nil
}

func (h *shapedHandler) FixedType(_ context.Context, in shaped.FixedTypeInput) (shaped.FixedTypeOutput, error) {
	return shaped.FixedTypeOutput(in.Name + " " + in.Note), nil
}

func (h *shapedHandler) Report(context.Context, shaped.ReportInput) (shaped.ReportOutput, error) {
	return h.report, nil
}

// What a manifest fixes is in the arguments that policy, canonical bytes and
// handler see, and is no parameter of a program.
func TestFixed(t *testing.T) {
	h := &shapedHandler{}
	const filled = `{"id":"9007199254740993","key":"a","level":"high","region":{"name":"eu","spare":false,"zones":[1]}}`
	exchanges(t, func(b *runtime.Builder) { shaped.Register(b, h) }, []exchange{
		{
			name: "set", source: "shaped.fixed(key = 'a')", result: `"done"`, arguments: filled,
			view: map[string]any{"id": "9007199254740993", "key": "a", "level": "high", "region": map[string]any{"name": "eu", "spare": false, "zones": []any{int64(1)}}},
		},
		{name: "given", source: "shaped.fixed(key = 'a', level = 'high')", failure: "level: unknown parameter"},
		{name: "given, another", source: "shaped.fixed(key = 'a', id = 1)", failure: "id: unknown parameter"},
		{name: "of a type", source: "shaped.fixed_type(name = 'n')", result: `"n set"`, arguments: `{"name":"n","note":"set"}`},
	})
	want := shaped.FixedInput{Key: "a", ID: 9007199254740993, Level: "high", Region: shaped.FixedInputRegion{Name: "eu", Zones: canon.Some([]int64{1})}}
	if diff := cmp.Diff(want, h.fixed); diff != "" {
		t.Errorf("the handler's input (-want +got):\n%s", diff)
	}
	text, err := os.ReadFile("testdata/kinds/capabilities.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range load(t, "capabilities.yaml", text).Capabilities {
		if c.Name == "shaped.fixed" {
			if got := codegen.Signature(c); got != "shaped.fixed(*, key: str)" {
				t.Errorf("signature %s", got)
			}
		}
	}
	// Neither does the answer of describe_api speak of it.
	s := shapedServer(t, h)
	d, err := s.Describe(t.Context(), authz.Local(), []string{"shaped.fixed"})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{d.Capabilities[0].Signature, string(d.Capabilities[0].Input)} {
		if strings.Contains(text, "region") || strings.Contains(text, "level") {
			t.Errorf("it tells of what is fixed: %s", text)
		}
	}
}

func shapedServer(t *testing.T, h shaped.Handlers, log ...*slog.Logger) *runtime.Server {
	t.Helper()
	o := runtime.Options{Authorizer: authz.AllowAll()}
	if len(log) > 0 {
		o.Logger = log[0]
	}
	b := runtime.NewBuilder(o)
	shaped.Register(b, h)
	s, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func goodReport() shaped.ReportOutput {
	return shaped.ReportOutput{
		Level: "low", Count: 3, Wide: 5, Text: "ab", At: "2026-11-29", Data: []byte("abc"), List: []string{"x"},
		Map: map[string]int64{"a": 1}, Flag: true, Ratio: 1, Half: 1.5,
	}
}

// A result outside of its bounds reaches the program as it is, and is counted;
// one that has no form does not.
func TestOutputCheckReport(t *testing.T) {
	h := &shapedHandler{}
	var log bytes.Buffer
	s := shapedServer(t, h, slog.New(slog.NewTextHandler(&log, nil)))
	for _, test := range []struct {
		name     string
		change   func(*shaped.ReportOutput)
		member   string
		want     string // what the program sees of it; empty for a failure
		breaches int
	}{
		{"as it should be", func(*shaped.ReportOutput) {}, "count", "3", 0},
		{"an enum", func(v *shaped.ReportOutput) { v.Level = "middle" }, "level", `"middle"`, 1},
		{"an integer", func(v *shaped.ReportOutput) { v.Count = 10 }, "count", "10", 2},
		{"an integer that rounds", func(v *shaped.ReportOutput) { v.Count = math.MaxInt64 }, "count", `"9223372036854775807"`, 2},
		{"64 bits", func(v *shaped.ReportOutput) { v.Wide = math.MaxInt64 }, "wide", `"9223372036854775807"`, 1},
		{"a text", func(v *shaped.ReportOutput) { v.Text = "long" }, "text", `"long"`, 2},
		{"a format", func(v *shaped.ReportOutput) { v.At = "today" }, "at", `"today"`, 1},
		{"bytes", func(v *shaped.ReportOutput) { v.Data = []byte("abcd") }, "data", `"YWJjZA=="`, 1},
		{"a list", func(v *shaped.ReportOutput) { v.List = []string{"x", "yy"} }, "list", `["x","yy"]`, 2},
		{"a map", func(v *shaped.ReportOutput) { v.Map = map[string]int64{"A": 2, "bb": 1} }, "map", `{"A":2,"bb":1}`, 5},
		{"a constant", func(v *shaped.ReportOutput) { v.Flag = false }, "flag", "false", 1},
		{"a number", func(v *shaped.ReportOutput) { v.Ratio = 1.5 }, "ratio", "1.5", 1},
		{"a multiple", func(v *shaped.ReportOutput) { v.Half = 0.3 }, "half", "0.3", 1},
		{"not UTF-8", func(v *shaped.ReportOutput) { v.Text = "a\xff" }, "text", "", 0},
		{"not UTF-8 in an enum", func(v *shaped.ReportOutput) { v.Level = "\xff" }, "level", "", 0},
		{"not finite", func(v *shaped.ReportOutput) { v.Ratio = math.Inf(1) }, "ratio", "", 0},
		{"too large", func(v *shaped.ReportOutput) { v.Text = strings.Repeat("a", 1<<20) }, "text", "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			h.report = goodReport()
			log.Reset()
			test.change(&h.report)
			x, err := s.Execute(t.Context(), authz.Local(), "shaped.report()[\""+test.member+"\"]")
			if (err != nil) != (test.want == "") || string(x.Result) != test.want {
				t.Errorf("result %s, error %v; want %q", x.Result, err, test.want)
			}
			if calls := x.Receipt.Calls; len(calls) != 1 || calls[0].Breaches != test.breaches {
				receipt, _ := json.Marshal(calls)
				t.Errorf("receipt %s, want %d breaches", receipt, test.breaches)
			}
			if logged := strings.Contains(log.String(), "output breaks the manifest and is delivered"); logged != (test.breaches > 0) {
				t.Errorf("log %s", log.String())
			}
		})
	}
}

// Of a result a program sees what is kept, and is told of nothing else; the
// whole is checked first.
func TestKeep(t *testing.T) {
	h := &shapedHandler{keep: shaped.KeepOutput{
		Gone:  "secret",
		Chain: &types.Chain{Head: 1, Next: canon.Some(&types.Chain{Head: 2, Next: canon.Some(&types.Chain{Head: 3})})},
		Grid:  types.Grid{{{X: 1}, {X: 2}}, {}},
		Maybe: canon.NotNull(shaped.KeepOutputMaybeValue{A: 1, B: 2}),
		Tree:  canon.Some(types.Tree{Name: "root", Children: canon.Some([]types.Tree{{Name: "leaf"}})}),
		Folders: canon.Some(map[string]shaped.KeepOutputFoldersValue{
			"a": {X: canon.Some[int64](1), Z: canon.Some[int64](2)}, "b": {X: canon.Some[int64](1)},
		}),
	}}
	exchanges(t, func(b *runtime.Builder) { shaped.Register(b, h) }, []exchange{
		{
			name: "kept", source: "shaped.keep()", arguments: "{}",
			result: `{"chain":{"head":1,"next":{"head":2}},"grid":[[{"x":1},{"x":2}],[]],"maybe":{"b":2},` +
				`"folders":{"a":{"z":2},"b":{}},"tree":{"children":[{"name":"leaf"}]}}`,
		},
		{name: "the rest", source: "shaped.keep().gone", arguments: "{}", failure: ": AttributeError: the record has no field gone; its fields are chain, grid, maybe, folders, whole, tree"},
	})
	s := shapedServer(t, h)
	d, err := s.Describe(t.Context(), authz.Local(), []string{"shaped.keep"})
	if err != nil {
		t.Fatal(err)
	}
	if text := string(d.Capabilities[0].Output); strings.Contains(text, "gone") || !strings.Contains(text, "maybe") {
		t.Errorf("described as %s", text)
	}
	h.keep.Gone = "\xff"
	if _, err := s.Execute(t.Context(), authz.Local(), "shaped.keep()"); !errors.Is(err, runtime.ErrCapabilityFailed) {
		t.Errorf("what is not kept was not checked: %v", err)
	}
	h.keep.Gone, h.keep.Maybe = "", canon.Nullable[shaped.KeepOutputMaybeValue]{}
	if x, err := s.Execute(t.Context(), authz.Local(), "shaped.keep().maybe"); err != nil || string(x.Result) != "null" {
		t.Errorf("null: %s, %v", x.Result, err)
	}
}

// A list that is too long is cut between two items, and says so.
func TestCut(t *testing.T) {
	h := &shapedHandler{}
	s := shapedServer(t, h)
	item := func(name string) shaped.CutOutputItem {
		return shaped.CutOutputItem{Name: name, Size: canon.Some[int64](7)}
	}
	many := make(shaped.CutOutput, 2000)
	for i := range many {
		many[i] = item(strings.Repeat("x", 1000))
	}
	for _, test := range []struct {
		name string
		cut  shaped.CutOutput
		want string
	}{
		{"whole", shaped.CutOutput{item("a"), item("b"), item("c")}, `{"items":[{"name":"a"},{"name":"b"},{"name":"c"}],"truncated":false}`},
		{"items", shaped.CutOutput{item("a"), item("b"), item("c"), item("d")}, `{"items":[{"name":"a"},{"name":"b"},{"name":"c"}],"truncated":true}`},
		{"bytes", shaped.CutOutput{item("a"), item(strings.Repeat("b", 60))}, `{"items":[{"name":"a"}],"truncated":true}`},
		{"beyond MaxValueBytes", many, `{"items":[],"truncated":true}`},
		{"beyond eight times that", slices.Repeat(many, 5), ""},
		{"against its schema", shaped.CutOutput{}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			h.cut = test.cut
			x, err := s.Execute(t.Context(), authz.Local(), "shaped.cut()")
			if string(x.Result) != test.want || (err != nil) != (test.want == "") {
				t.Errorf("result %.200s, error %v; want %s", x.Result, err, test.want)
			}
		})
	}
}
