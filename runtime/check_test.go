package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/worker"
)

// previewing fails the test if it is asked to decide a call.
type previewing struct {
	t       *testing.T
	verdict authz.Verdict
}

func (p previewing) Authorize(context.Context, authz.Request) error {
	p.t.Error("a check asks for a decision")
	return nil
}

func (p previewing) Preview(_ context.Context, s authz.Subject, id string) authz.Verdict {
	if p.verdict == "panic" {
		panic(p.verdict)
	}
	if id != "rec-1" || s.IsZero() {
		p.t.Errorf("preview of %q for %v", id, s)
	}
	return p.verdict
}

// silent decides calls and says nothing before.
type silent struct{ t *testing.T }

func (s silent) Authorize(context.Context, authz.Request) error {
	s.t.Error("a check asks for a decision")
	return nil
}

func TestCheckTellsVerdicts(t *testing.T) {
	reader := authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "u", Scopes: authz.ScopesOf("records:read")}
	nobody := authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "u"}
	for name, c := range map[string]struct {
		authorizer authz.Authorizer
		subject    authz.Subject
		verdict    authz.Verdict
		missing    string
	}{
		"allowed":         {previewing{t, authz.Allow}, reader, authz.Allow, ""},
		"denied":          {previewing{t, authz.Deny}, reader, authz.Deny, ""},
		"depends":         {previewing{t, authz.Depends}, reader, authz.Depends, ""},
		"no verdict":      {previewing{t, "perhaps"}, reader, "", ""},
		"a panic":         {previewing{t, "panic"}, reader, "", ""},
		"without preview": {silent{t}, reader, "", ""},
		"scope":           {previewing{t, authz.Allow}, nobody, authz.Deny, "records:read"},
	} {
		t.Run(name, func(t *testing.T) {
			s := build(t, Options{Authorizer: c.authorizer}, NewCapability(lookupInfo(), func(context.Context, lookupInput) (record, error) {
				t.Error("a check calls a handler")
				return record{}, nil
			}))
			got, err := s.Check(t.Context(), c.subject, "x = records.lookup(key='a')\nrecords.lookup(key=x)\nrecords.lookup(1)")
			if err != nil {
				t.Fatal(err)
			}
			want := []CheckedCapability{{Name: "records.lookup", ID: "rec-1", Effect: EffectRead, Line: 1, Column: 5, Verdict: c.verdict, MissingScope: c.missing}}
			if diff := cmp.Diff(want, got.Capabilities); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(got.Problems) != 1 || got.Problems[0].Class != fault.InvalidArguments || got.Problems[0].Line != 3 {
				t.Errorf("problems: %+v", got.Problems)
			}
			if !got.Receipt.Checked || len(got.Receipt.Calls) != 0 || got.Receipt.Execution == "" {
				t.Errorf("receipt: %+v", got.Receipt)
			}
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	s := build(t, Options{Limits: Limits{MaxSourceBytes: 100, MaxValueBytes: 50, MaxValueDepth: 3}}, NewCapability(lookupInfo(), lookup))
	for name, c := range map[string]struct {
		subject authz.Subject
		source  string
		option  ExecuteOption
		want    error
	}{
		"nobody":     {authz.Subject{}, "1", nil, ErrUnauthenticated},
		"long":       {authz.Local(), strings.Repeat("1", 101), nil, ErrResourceLimit},
		"data":       {authz.Local(), "1", WithData([]byte(`[1]`)), ErrInvalidArguments},
		"long data":  {authz.Local(), "1", WithData(fmt.Appendf(nil, `{"a":%q}`, strings.Repeat("x", 50))), ErrResourceLimit},
		"deep data":  {authz.Local(), "1", WithData([]byte(`{"a":[[[1]]]}`)), ErrResourceLimit},
		"twice":      {authz.Local(), "1", WithData([]byte(`{"a":{"b":1,"b":2}}`)), ErrInvalidArguments},
		"no number":  {authz.Local(), "1", WithData([]byte(`{"a":NaN}`)), ErrInvalidArguments},
		"empty data": {authz.Local(), "1", WithData(nil), ErrInvalidArguments},
	} {
		options := []ExecuteOption{}
		if c.option != nil {
			options = append(options, c.option)
		}
		if _, err := s.Check(t.Context(), c.subject, c.source, options...); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if _, err := s.Execute(t.Context(), c.subject, c.source, options...); !errors.Is(err, c.want) {
			t.Errorf("%s: executed: %v, want %v", name, err, c.want)
		}
	}
	// A report is bounded by itself, not by limits for values.
	c, err := s.Check(t.Context(), authz.Local(), "one_name_that_is_unknown\nanother_name_that_is_unknown")
	if err != nil || len(c.Problems) != 2 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestExecuteGivesData(t *testing.T) {
	s := build(t, Options{}, NewCapability(lookupInfo(), lookup))
	got, err := s.Execute(t.Context(), authz.Local(), `[data["n"], data["big"] + 1, f"{data['f']}"]`, WithData([]byte(" {\"n\": 1, \"big\": 9007199254740993, \"f\": 2.0}\n")))
	if want := `[1,"9007199254740994","2.0"]`; err != nil || string(got.Result) != want {
		t.Errorf("got %s, %v, want %s", got.Result, err, want)
	}
}

func TestRequireMain(t *testing.T) {
	const prepared = "x = records.lookup(key='a')\ndef main():\n    return x['key']"
	for _, strict := range []bool{false, true} {
		s := build(t, Options{RequireMain: strict}, NewCapability(lookupInfo(), lookup))
		got, err := s.Execute(t.Context(), authz.Local(), prepared)
		if strict != errors.Is(err, ErrInvalidProgram) || !strict && string(got.Result) != `"a"` {
			t.Errorf("strict is %v: a call at the top level: %s, %v", strict, got.Result, err)
		}
		got, err = s.Execute(t.Context(), authz.Local(), "1 + 1")
		if strict != errors.Is(err, ErrInvalidProgram) || !strict && string(got.Result) != "2" {
			t.Errorf("strict is %v: a script: %s, %v", strict, got.Result, err)
		}
		got, err = s.Execute(t.Context(), authz.Local(), "def main():\n    return records.lookup(key='a')['key']")
		if err != nil || string(got.Result) != `"a"` {
			t.Errorf("strict is %v: main: %s, %v", strict, got.Result, err)
		}
	}
}

func TestScriptsWithoutValueSaySo(t *testing.T) {
	s := build(t, Options{}, NewCapability(lookupInfo(), lookup))
	for source, want := range map[string]bool{"x = 1": true, "x = 1\nx": false, "result = 1": false, "def main():\n    return None": false} {
		got, err := s.Execute(t.Context(), authz.Local(), source)
		if err != nil || got.NoValue != want {
			t.Errorf("%q: %+v, %v", source, got, err)
		}
	}
}

// A worker that was taken over cannot make a check say what only the host may,
// or call.
func TestALyingReportIsInternal(t *testing.T) {
	for name, runner := range map[string]*lyingRunner{
		"no report":          {},
		"unknown capability": {report: &worker.Report{Reached: []worker.Reached{{ID: "rec-2"}}}},
		"the host's class":   {report: &worker.Report{Problems: []*fault.Fault{{Class: fault.Denied, Message: "no"}}}},
		"a call":             {calls: []worker.Call{{Capability: "rec-1", Arguments: []byte{0x80}}}},
	} {
		catalog, errs := newCatalog([]Capability{NewCapability(lookupInfo(), lookup)}, nil)
		if errs != nil {
			t.Fatal(errs)
		}
		limits, _ := Limits{}.withDefaults()
		s := newServer(Options{Authorizer: authz.AllowAll()}, limits, catalog, runner)
		_, err := s.Check(t.Context(), authz.Local(), "1")
		if !errors.Is(err, ErrInternal) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "a call" && (len(runner.got) != 1 || runner.got[0].Broken == "") {
			t.Errorf("a call during a check was answered with %+v", runner.got)
		}
	}
}
