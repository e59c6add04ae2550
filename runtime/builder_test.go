package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
)

func TestBuildReportsEveryProblemAtOnce(t *testing.T) {
	b := NewBuilder(Options{Limits: Limits{MaxSteps: -1, MaxValueDepth: -2}, DisabledCapabilities: []string{"nowhere.to_be_found"}})
	b.Fail("files", "no handlers given")
	b.Register(Capability{})
	b.Register(named("Records.lookup", lookup))
	b.Register(named("lookup", lookup))
	b.Register(named("json.lookup", lookup))
	b.Register(named("a.b", lookup))
	b.Register(named("a.b.c", lookup))
	b.Register(named("d.e.f", lookup))
	b.Register(named("d.e", lookup))
	b.Register(named("twice.same", lookup))
	b.Register(named("twice.same", lookup))
	info := lookupInfo()
	info.Summary, info.Effect = " ", "change"
	info.Idempotency, info.World = "often", ""
	b.Register(NewCapability(info, lookup))
	_, err := b.Build(t.Context())
	if err == nil {
		t.Fatal("built")
	}
	for _, want := range []string{
		"MaxSteps is negative", "MaxValueDepth is negative", "no authorizer", "files: no handlers given", "zero Capability",
		`"Records.lookup": a name is two or more`, `"lookup": a name is two or more`, `namespace json is reserved`,
		`"a.b.c": its namespace "a.b" is a capability`, `"d.e": is the namespace of "d.e.f"`,
		`the name is taken`, `the id "twice.same" is taken`, `no summary`, `effect "change" cannot`, `idempotency "often" is none`, `world "" is neither`,
		`"nowhere.to_be_found": no capability has that id`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("lacks %q in:\n%v", want, err)
		}
	}
}

func TestBuildRefusesNilAuthorizers(t *testing.T) {
	var typedNil *struct{ authz.Authorizer }
	for name, a := range map[string]authz.Authorizer{"nil": nil, "typed nil": typedNil, "nil func": authz.AuthorizerFunc(nil)} {
		if _, err := NewBuilder(Options{Authorizer: a}).Build(t.Context()); err == nil || !strings.Contains(err.Error(), "no authorizer") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBuilderIsUsedOnce(t *testing.T) {
	b := NewBuilder(Options{Authorizer: authz.AllowAll()})
	b.Register(NewCapability(lookupInfo(), lookup))
	s, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := b.Build(t.Context()); err == nil || !strings.Contains(err.Error(), "called before") {
		t.Errorf("second Build: %v", err)
	}
	mustPanic(t, "Register after Build", func() { b.Register(named("x.y", lookup)) })
	mustPanic(t, "Fail after Build", func() { b.Fail("x", "y") })
	mustPanic(t, "Register on nil", func() { (*Builder)(nil).Register(named("x.y", lookup)) })
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s does not panic", what)
		}
	}()
	f()
}

func TestDisabledCapabilitiesDoNotExist(t *testing.T) {
	s := build(t, Options{DisabledCapabilities: []string{"secrets.reveal"}}, NewCapability(lookupInfo(), lookup), named("secrets.reveal", lookup))
	if n := s.Capabilities(); n != 1 {
		t.Errorf("%d capabilities", n)
	}
	for _, query := range []string{"secrets.reveal", "reveal", "secrets", ""} {
		r, err := s.Search(t.Context(), authz.Local(), SearchRequest{Query: query})
		if err != nil {
			t.Fatal(err)
		}
		for _, hit := range r.Results {
			if strings.Contains(hit.Name, "secrets") {
				t.Errorf("query %q finds %v", query, hit)
			}
		}
		for _, n := range r.Namespaces {
			if n.Name == "secrets" {
				t.Errorf("query %q lists the namespace", query)
			}
		}
	}
	d, err := s.Describe(t.Context(), authz.Local(), []string{"secrets.reveal", "no.such", "records.lookup"})
	if err != nil || len(d.Capabilities) != 1 || len(d.NotFound) != 2 {
		t.Errorf("describe %+v %v", d, err)
	}
	_, disabled := s.Execute(t.Context(), authz.Local(), "def main():\n    return secrets.reveal(key = 'a')\n")
	_, unknown := build(t, Options{}, NewCapability(lookupInfo(), lookup)).Execute(t.Context(), authz.Local(), "def main():\n    return secrets.reveal(key = 'a')\n")
	if disabled == nil || unknown == nil || disabled.Error() != unknown.Error() {
		t.Errorf("disabled %v, unknown %v", disabled, unknown)
	}
	b := NewBuilder(Options{Authorizer: authz.AllowAll(), DisabledCapabilities: []string{"rec-1", "rec-1"}})
	b.Register(NewCapability(lookupInfo(), lookup))
	if _, err := b.Build(t.Context()); err == nil || !strings.Contains(err.Error(), "named twice") {
		t.Errorf("duplicate: %v", err)
	}
}

func TestHintsAreTheJoin(t *testing.T) {
	write := lookupInfo()
	write.Effect, write.Idempotency, write.World = EffectDestroy, IdempotencyNone, WorldOpen
	for _, test := range []struct {
		capabilities []Capability
		want         Hints
	}{
		{[]Capability{named("a.read", lookup)}, Hints{ReadOnly: true, Idempotent: true}},
		{[]Capability{named("a.read", lookup), NewCapability(write, lookup)}, Hints{Destructive: true, OpenWorld: true}},
	} {
		if got := build(t, Options{}, test.capabilities...).Hints(); got != test.want {
			t.Errorf("hints %+v, want %+v", got, test.want)
		}
	}
}

func TestBuildRefusesAnotherDeployment(t *testing.T) {
	for _, tt := range []struct {
		asked    string
		compiled []string
		want     string // of the server, or of the error
	}{
		{"", nil, "default"},
		{"", []string{"prod"}, "prod"},
		{"prod", []string{"prod", "prod"}, "prod"},
		{"prod", nil, "prod"},
		{"prod", []string{"default"}, `Options.Deployment is "prod", but the capabilities were compiled for "default"`},
		{"", []string{"prod", "default"}, `capabilities of "prod" and of "default" in one server`},
	} {
		b := NewBuilder(Options{Authorizer: authz.AllowAll(), Deployment: tt.asked})
		b.Register(named("a.b", lookup))
		for _, name := range tt.compiled {
			b.Deployment(name)
		}
		s, err := b.Build(t.Context())
		switch {
		case err != nil:
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%+v: %v", tt, err)
			}
			continue
		case s.Deployment() != tt.want:
			t.Errorf("%+v: %s", tt, s.Deployment())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestSearchAndDescribeAreBounded(t *testing.T) {
	var capabilities []Capability
	for _, name := range []string{"a.one", "a.two", "a.three", "b.four"} {
		capabilities = append(capabilities, named(name, lookup))
	}
	s := build(t, Options{Limits: Limits{MaxSearchResults: 2, MaxSearchQueryBytes: 20}}, capabilities...)
	r, err := s.Search(t.Context(), authz.Local(), SearchRequest{Query: "record"})
	if err != nil || len(r.Results) != 2 || !r.Truncated {
		t.Errorf("search %+v %v", r, err)
	}
	if r, err := s.Search(t.Context(), authz.Local(), SearchRequest{Query: " \t"}); err != nil || len(r.Results) != 0 || len(r.Namespaces) != 2 || r.Namespaces[0] != (NamespaceCount{"a", 3}) {
		t.Errorf("blank search %+v %v", r, err)
	}
	if _, err := s.Search(t.Context(), authz.Local(), SearchRequest{Query: strings.Repeat("x", 21)}); err == nil || !strings.Contains(err.Error(), "MaxSearchQueryBytes is 20") {
		t.Errorf("long query: %v", err)
	}
	small := build(t, Options{Limits: Limits{MaxSearchResponseBytes: 500}}, capabilities...)
	r, err = build(t, Options{Limits: Limits{MaxSearchResponseBytes: 400}}, capabilities...).Search(t.Context(), authz.Local(), SearchRequest{Query: "record"})
	if text, _ := json.Marshal(r); err != nil || !r.Truncated || len(r.Results) == 0 || len(r.Results) == len(capabilities) || len(text) > 400 {
		t.Errorf("search by bytes: %d results, %d bytes, %v", len(r.Results), len(text), err)
	}
	d, err := small.Describe(t.Context(), authz.Local(), []string{"a.one", "a.two", "nope.nope"})
	if err != nil || len(d.Capabilities) != 1 || len(d.Truncated) != 1 || len(d.NotFound) != 1 {
		t.Errorf("describe %+v %v", d, err)
	}
	if _, err := small.Describe(t.Context(), authz.Local(), nil); err == nil {
		t.Error("describing nothing is no error")
	}
}

func TestDisclosedTextIsCutBetweenRunes(t *testing.T) {
	err := Disclose("too_long", strings.Repeat("ä", 200))
	told := err.(*disclosed)
	if len(told.message) != MaxDisclosedBytes || strings.Trim(told.message, "ä") != "" {
		t.Errorf("%d bytes: %q", len(told.message), told.message)
	}
}

func TestCloseEndsWhatRuns(t *testing.T) {
	entered := make(chan struct{})
	s := build(t, Options{Limits: Limits{MaxExecutionTime: time.Minute}}, NewCapability(lookupInfo(), func(ctx context.Context, _ lookupInput) (record, error) {
		close(entered)
		<-ctx.Done()
		return record{}, ctx.Err()
	}))
	done := make(chan error, 1)
	go func() {
		_, err := s.Execute(t.Context(), authz.Local(), lookupProgram)
		done <- err
	}()
	<-entered
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	select {
	case err := <-done:
		if !errors.Is(err, ErrCancelled) || !strings.Contains(err.Error(), "shutting down") {
			t.Errorf("ended by Close: %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the execution goes on")
	}
	// A free slot or the closed server: whichever is seen first.
	for range 20 {
		if _, err := s.Execute(t.Context(), authz.Local(), lookupProgram); !errors.Is(err, ErrCancelled) {
			t.Fatalf("after Close: %v", err)
		}
	}
}

func TestBuildBoundsTheCatalog(t *testing.T) {
	build := func(n, textBytes int) error {
		var capabilities []Capability
		for i := range n {
			c := named(fmt.Sprintf("n%d.c%d", i%97, i), lookup)
			c.info.Description = strings.Repeat("x", textBytes)
			capabilities = append(capabilities, c)
		}
		_, problems := newCatalog(capabilities, nil)
		return errors.Join(problems...)
	}
	if err := build(MaxCapabilities, 0); err != nil {
		t.Errorf("%d capabilities: %v", MaxCapabilities, err)
	}
	if err := build(MaxCapabilities+1, 0); err == nil || err.Error() != "more than 10000 capabilities" {
		t.Errorf("one more: %v", err)
	}
	if err := build(31, 1<<20); err != nil {
		t.Errorf("31 MiB of text: %v", err)
	}
	if err := build(33, 1<<20); err == nil || !strings.Contains(err.Error(), "pass 33554432 bytes") {
		t.Errorf("33 MiB of text: %v", err)
	}
}

// The members of a description stand in one order, and those that say nothing
// are not there.
func TestDescribeLeavesOutWhatSaysNothing(t *testing.T) {
	info := lookupInfo()
	const fields = `"input":{"limit":{"minimum":1,"maximum":100}},"output":"dict",`
	for _, test := range []struct {
		name        string
		description string
		errors      []DeclaredError
		example     string
		wants       string
	}{
		{"nothing more", info.Summary, nil, "", fields + `"effect":"read"`},
		{"no description", "", nil, "", fields + `"effect":"read"`},
		{"all", "More.", []DeclaredError{{"gone", `It is "not" there.`}, {"shut", "<&>"}}, `records.lookup(key = 1)`,
			`"description":"More.",` + fields + `"errors":{"gone":"It is \"not\" there.","shut":"<&>"},"effect":"read","example":"records.lookup(key = 1)"`},
	} {
		info.Description, info.Errors, info.Example = test.description, test.errors, test.example
		d, err := build(t, Options{}, NewCapability(info, lookup)).Describe(t.Context(), authz.Local(), []string{info.Name})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(d); err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSuffix(b.String(), "\n")
		// Signature and summary hold no quotes.
		want := `{"capabilities":[{"name":"records.lookup","signature":"` + info.Signature + `","summary":"` + info.Summary + `",` + test.wants + `}],"not_found":[],"truncated":[]}`
		if text != want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, text, want)
		}
	}
}

func TestSearchPhrasesAreNeverReturned(t *testing.T) {
	info := lookupInfo()
	info.Search.Phrases = "zanzibar"
	s := build(t, Options{}, NewCapability(info, lookup))
	found, err := s.Search(t.Context(), authz.Local(), SearchRequest{Query: "zanzibar"})
	if err != nil || len(found.Results) != 1 {
		t.Fatalf("%+v %v", found, err)
	}
	described, err := s.Describe(t.Context(), authz.Local(), []string{"records.lookup"})
	if err != nil || len(described.Capabilities) != 1 {
		t.Fatalf("%+v %v", described, err)
	}
	if answers := fmt.Sprintf("%+v %+v", found, described); strings.Contains(answers, "zanzibar") {
		t.Errorf("a search phrase is returned: %s", answers)
	}
	info.Search.Phrases = strings.Repeat("z", MaxCatalogBytes)
	if _, problems := newCatalog([]Capability{NewCapability(info, lookup)}, nil); len(problems) != 1 || !strings.Contains(problems[0].Error(), "the texts of the catalog pass") {
		t.Errorf("an endless search entry: %v", problems)
	}
}
