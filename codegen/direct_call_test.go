package codegen_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/codegen/testdata/kinds/generated/fake"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/schema"
)

// bothWays is a server of all kinds that is asked the same by a program and
// without one.
type bothWays struct {
	server *runtime.Server
	deny   bool
	asked  []authz.Request
	events []audit.Event
}

func (b *bothWays) Authorize(_ context.Context, r authz.Request) error {
	r.View = nil
	r.Arguments = slices.Clone(r.Arguments)
	b.asked = append(b.asked, r)
	if b.deny {
		return authz.ErrDenied
	}
	return nil
}

func (b *bothWays) Record(_ context.Context, e audit.Event) error {
	e.Execution, e.Duration = "", 0
	b.events = append(b.events, e)
	return nil
}

func newBothWays(t *testing.T) *bothWays {
	t.Helper()
	both := &bothWays{}
	b := runtime.NewBuilder(runtime.Options{Authorizer: both, Audit: both})
	registerFake(b)
	var err error
	if both.server, err = b.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := both.server.Close(); err != nil {
			t.Error(err)
		}
	})
	return both
}

// seen is what became of one call, but for what differs from one execution to
// the next.
type seen struct {
	Asked  []authz.Request
	Events []audit.Event
	Calls  []runtime.CallRecord
	Fault  fault.Fault
}

func (b *bothWays) saw(x runtime.Execution, err error) seen {
	s := seen{Asked: b.asked, Events: b.events, Calls: x.Receipt.Calls}
	b.asked, b.events = nil, nil
	for i := range s.Calls {
		s.Calls[i].DurationMicros = 0
	}
	if err != nil {
		s.Fault = err.(*runtime.Error).Fault()
	}
	s.Fault.Line, s.Fault.Column, s.Fault.Trace = 0, 0, nil // of a program
	return s
}

// ask calls directly and by a program, and compares all but the result.
func (b *bothWays) ask(t *testing.T, c *schema.Capability, arguments, call string) (direct, program []byte, s seen) {
	t.Helper()
	x, err := b.server.Call(t.Context(), authz.Local(), c.ID, []byte(arguments))
	s, direct = b.saw(x, err), x.Result
	x, err = b.server.Execute(t.Context(), authz.Local(), "def main():\n    return "+call+"\n")
	other := b.saw(x, err)
	got := s
	if s.Fault.Class == fault.InvalidArguments && other.Fault.Class == fault.InvalidArguments {
		// The texts for people differ: a program has names, and JSON members.
		got.Fault, other.Fault = fault.Fault{}, fault.Fault{}
		// A worker does not say what did not bind.
		got.Calls, other.Calls = nil, nil
	}
	if diff := gocmp.Diff(other, got, gocmp.Comparer(func(a, b authz.Subject) bool { return reflect.DeepEqual(a, b) })); diff != "" {
		t.Fatalf("%s\n%s\n(-program +direct)\n%s", call, arguments, diff)
	}
	return direct, x.Result, s
}

// The calls of all examples, without a program: the same canonical arguments,
// the same question to the authorizer, the same records and the same outcome
// as by a program.
func TestDirectCallsOfExamples(t *testing.T) {
	both, capabilities := newBothWays(t), toolsOfKinds(t)
	calls := 0
	for _, of := range fake.Examples() {
		i := slices.IndexFunc(capabilities, func(c *schema.Capability) bool { return c.Name == of.Name })
		if i < 0 {
			continue
		}
		c := capabilities[i]
		for _, e := range of.Examples {
			calls++
			direct, program, s := both.ask(t, c, withoutFixed(t, c, e.Arguments), e.Call)
			if len(s.Asked) != 1 || string(s.Asked[0].Arguments) != e.Arguments {
				t.Errorf("%s: the authorizer saw %+v, want %s", e.Call, s.Asked, e.Arguments)
			}
			if string(e.Error) != s.Fault.Code {
				t.Errorf("%s: %+v, want %s", e.Call, s.Fault, e.Error)
			}
			if e.Error == "" && !alike(decoded(t, direct), decoded(t, program)) {
				t.Errorf("%s\nby itself  %s\nby program %s", e.Call, direct, program)
			}
		}
	}
	if calls < 15 {
		t.Errorf("only %d calls", calls)
	}
	both.deny = true
	_, _, s := both.ask(t, capabilities[0], `{}`, capabilities[0].Name+"()")
	if s.Fault.Class == "" {
		t.Errorf("%s: nothing is denied: %+v", capabilities[0].Name, s)
	}
}

// Generated arguments, good and bad: a direct call binds what a program's does,
// to the same canonical bytes, and is denied where that is.
func TestDirectCallsOfGeneratedArguments(t *testing.T) {
	n := 120
	if *soak {
		n = 20_000
	}
	both, capabilities := newBothWays(t), toolsOfKinds(t)
	both.deny = true
	m := &maker{Rand: rand.New(rand.NewPCG(8, 2)), patterns: map[string]*regexp.Regexp{}}
	counts := map[fault.Class]int{}
	for i := range n {
		c := capabilities[i%len(capabilities)]
		m.places = m.places[:0]
		v := m.valid(resolve(c.Parameters()), 1+m.IntN(3))
		for range m.IntN(3) {
			m.mutate()
		}
		_, _, s := both.ask(t, c, string(v.appendJSON(nil)), v.call(c.Name))
		counts[s.Fault.Class]++
	}
	if counts[fault.Denied] < n/4 || counts[fault.InvalidArguments] < n/20 || len(counts) != 2 {
		t.Errorf("%v of %d", counts, n)
	}
	t.Log(counts)
}

// toolsOfKinds are the capabilities of the kinds that are tools.
func toolsOfKinds(t *testing.T) []*schema.Capability {
	t.Helper()
	text, err := os.ReadFile("testdata/kinds/capabilities.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := load(t, "capabilities.yaml", text).Capabilities
	return slices.DeleteFunc(all, func(c *schema.Capability) bool { return !c.DirectTool })
}

// withoutFixed are canonical arguments as a caller gives them.
func withoutFixed(t *testing.T, c *schema.Capability, canonical string) string {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(canonical), &members); err != nil {
		t.Fatal(err)
	}
	for _, p := range c.Fixed() {
		delete(members, p.Name)
	}
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func decoded(t *testing.T, text []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(cmp.Or(string(text), "null")))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// alike tells whether a direct result is that of a program: an integer of 64
// bits is a string of digits in one and, within ±(2^53−1), a number in the other.
func alike(direct, program any) bool {
	switch d := direct.(type) {
	case []any:
		p, ok := program.([]any)
		return ok && slices.EqualFunc(d, p, alike)
	case map[string]any:
		p, ok := program.(map[string]any)
		if !ok || len(d) != len(p) {
			return false
		}
		for key := range d {
			if !alike(d[key], p[key]) {
				return false
			}
		}
		return true
	}
	return fmt.Sprint(direct) == fmt.Sprint(program)
}
