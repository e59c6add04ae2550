package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/worker"
)

// callingRunner makes native calls, as a program would, one after the other.
type callingRunner struct {
	calls   []worker.Call
	replies []worker.Reply
}

func (r *callingRunner) Run(ctx context.Context, job worker.Job) (worker.Result, error) {
	for i, c := range r.calls {
		c.Sequence = uint32(i + 1)
		job.Begin(c)
		r.replies = append(r.replies, job.Call(ctx, c))
	}
	null := canon.NewWireWriter(nil)
	null.Null()
	return worker.Result{Value: null.Bytes()}, nil
}

func (*callingRunner) Close() error { return nil }

// eventSink keeps events, and is told what to answer.
type eventSink struct {
	answer func(audit.Event) error
	mu     sync.Mutex
	lines  []string
	closed bool
}

func (s *eventSink) Record(_ context.Context, e audit.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf("%d %s %s %s %s %s %s", e.Call, e.Subject, e.Capability, e.Arguments, e.Decision, e.Outcome, e.Error))
	if (e.Outcome != "") != (e.Duration > 0) {
		s.lines = append(s.lines, fmt.Sprint("the duration is ", e.Duration))
	}
	if s.answer != nil {
		return s.answer(e)
	}
	return nil
}

func (s *eventSink) Close() error {
	s.closed = true
	return nil
}

func lookupCall(key string) worker.Call {
	return worker.Call{Capability: "rec-1", Arguments: arguments(func(w *canon.Writer) {
		w.BeginObject(1)
		w.Key("key")
		w.String(key, 0, 9)
		w.EndObject()
	})}
}

// audited is a server whose handler and authorizer do what a key says.
func audited(t *testing.T, sink audit.Sink, calls ...worker.Call) (*Server, *callingRunner, *[]string) {
	t.Helper()
	handled := new([]string)
	catalog, errs := newCatalog([]Capability{NewCapability(lookupInfo(), func(_ context.Context, in lookupInput) (record, error) {
		*handled = append(*handled, in.Key)
		if in.Key == "fails" {
			return record{}, errors.New("broken")
		}
		return record{Key: in.Key}, nil
	})}, nil)
	if errs != nil {
		t.Fatal(errs)
	}
	limits, err := Limits{MaxDenials: 1}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	policy := authz.AuthorizerFunc(func(_ context.Context, r authz.Request) error {
		said := string(r.Arguments)
		for i := range r.Arguments {
			r.Arguments[i] = 'x' // its copy is its own
		}
		switch {
		case strings.Contains(said, "denied"):
			return authz.ErrDenied
		case strings.Contains(said, "policy"):
			return errors.New("no answer")
		}
		return nil
	})
	runner := &callingRunner{calls: calls}
	return newServer(Options{Authorizer: policy, Audit: sink}, limits, catalog, runner), runner, handled
}

func TestEveryCallIsRecorded(t *testing.T) {
	sink := &eventSink{}
	unbound := lookupCall("x")
	unbound.BindFailure, unbound.Arguments = true, nil
	s, _, _ := audited(t, sink,
		lookupCall("good"),
		lookupCall("fails"),
		lookupCall("policy"),
		unbound,
		worker.Call{Capability: "rec-1", Arguments: []byte{0xc1}},
		worker.Call{Capability: "made-up"},
		lookupCall("denied"),
		lookupCall("denied"), // one too many
		lookupCall("late"),
	)
	x, err := s.Execute(t.Context(), authz.Local(), "")
	if err != nil || len(x.Receipt.Calls) != 9 {
		t.Fatalf("%+v, %v", x.Receipt, err)
	}
	if diff := cmp.Diff([]string{
		`1 local rec-1 {"key":"good","limit":20} allowed  `,
		`1 local rec-1 {"key":"good","limit":20} allowed done `,
		`2 local rec-1 {"key":"fails","limit":20} allowed  `,
		`2 local rec-1 {"key":"fails","limit":20} allowed failed capability_failed`,
		`3 local rec-1 {"key":"policy","limit":20} refused  policy_failure`,
		`4 local rec-1  unbound  invalid_arguments`,
		`5 local rec-1  unbound  internal_failure`,
		`6 local   unbound  internal_failure`,
		`7 local rec-1 {"key":"denied","limit":20} denied  permission_denied`,
		`8 local rec-1 {"key":"denied","limit":20} denied  resource_limit`,
		`9 local   refused  resource_limit`,
	}, sink.lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAMissingScopeIsRecorded(t *testing.T) {
	sink := &eventSink{}
	s, _, handled := audited(t, sink, lookupCall("good"))
	subject := authz.Subject{Kind: authz.KindOIDC, Issuer: "https://id.example", ID: "7"}
	if _, err := s.Execute(t.Context(), subject, ""); err != nil {
		t.Fatal(err)
	}
	if want := []string{`1 oidc:https://id.example#7 rec-1 {"key":"good","limit":20} denied  permission_denied`}; !slices.Equal(sink.lines, want) || len(*handled) != 0 {
		t.Errorf("%q, handled %q", sink.lines, *handled)
	}
}

// A call that cannot be recorded is not made; what cannot be recorded of one
// that was made is for the log only.
func TestACallThatCannotBeRecordedIsNotMade(t *testing.T) {
	for name, answer := range map[string]func(audit.Event) error{
		"an error": func(audit.Event) error { return errors.New("no space left on device") },
		"a panic":  func(audit.Event) error { panic("no space left on device") },
	} {
		sink := &eventSink{answer: answer}
		s, runner, handled := audited(t, sink, lookupCall("good"))
		x, err := s.Execute(t.Context(), authz.Local(), "")
		if err != nil || len(*handled) != 0 || x.Receipt.Calls[0].State != CallNotDispatched {
			t.Errorf("%s: %v, handled %q, %+v", name, err, *handled, x.Receipt.Calls)
		}
		if f := runner.replies[0].Fault; f == nil || f.Class != "policy_failure" || f.Message != "the call could not be recorded, and was not made" || f.Capability != "records.lookup" {
			t.Errorf("%s: %+v", name, f)
		}
		if want := []string{`1 local rec-1 {"key":"good","limit":20} allowed  `, `1 local rec-1 {"key":"good","limit":20} refused  policy_failure`}; !slices.Equal(sink.lines, want) {
			t.Errorf("%s: %q", name, sink.lines)
		}
		if err := s.Close(); err != nil || !sink.closed {
			t.Errorf("%s: Close: %v, closed the sink: %t", name, err, sink.closed)
		}
	}
	sink := &eventSink{answer: func(e audit.Event) error {
		if e.Outcome != "" {
			return errors.New("no space left on device")
		}
		return nil
	}}
	s, runner, handled := audited(t, sink, lookupCall("good"))
	if _, err := s.Execute(t.Context(), authz.Local(), ""); err != nil || len(*handled) != 1 || runner.replies[0].Fault != nil {
		t.Errorf("%v, handled %q, %+v", err, *handled, runner.replies)
	}
}

// An execution may end while the decision is recorded.
func TestADecisionMayComeTooLate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	sink := &eventSink{answer: func(audit.Event) error { cancel(); return nil }}
	s, _, handled := audited(t, sink, lookupCall("good"))
	s.Execute(ctx, authz.Local(), "")
	if want := []string{`1 local rec-1 {"key":"good","limit":20} allowed  `, `1 local rec-1 {"key":"good","limit":20} allowed not_called cancelled`}; !slices.Equal(sink.lines, want) || len(*handled) != 0 {
		t.Errorf("%q, handled %q", sink.lines, *handled)
	}
}

// What is recorded of a program in a worker, by the log itself.
func TestAuditOfAProgram(t *testing.T) {
	dir := t.TempDir()
	log, err := audit.Open(audit.Options{Dir: dir, Key: audit.Key{ID: "k", Secret: make([]byte, audit.MinSecretBytes)}})
	if err != nil {
		t.Fatal(err)
	}
	s := build(t, Options{Audit: log}, NewCapability(lookupInfo(), lookup))
	x, err := s.Execute(t.Context(), authz.Local(), "def main():\n  return records.lookup(key='a')['key']\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := audit.Files(dir)
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	if n := strings.Count(text, `"execution":"`+x.Receipt.Execution+`","call":1,"subject":"local","capability":"rec-1","decision":"allowed"`); n != 2 {
		t.Errorf("%d records of the call:\n%s", n, text)
	}
	if r, err := audit.Verify([]audit.Source{{Name: files[0], Reader: strings.NewReader(text)}}, audit.VerifyOptions{}); err != nil || r.Last != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}
