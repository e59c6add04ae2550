package wire

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/job/runner"
)

func TestStarted(t *testing.T) {
	s, err := Started(govern.Started{Job: "job_1", Plan: "plan_1", State: "QUEUED"}, nil)
	if err != nil || string(s.AppendCanonical(nil)) != `{"job":"job_1","plan":"plan_1","state":"QUEUED"}` {
		t.Errorf("%+v, %v", s, err)
	}
	broken := errors.New("broken")
	if s, err := Started(govern.Started{Job: "job_1"}, broken); err != broken || s != (StartOutput{}) {
		t.Errorf("%+v, %v", s, err)
	}
	in := StartInput{Plan: "p", Token: "t", Key: "k"}
	in.Approval.Value, in.Approval.Present = "a", true
	if c := in.Claim(); c != (govern.Claim{Plan: "p", Token: "t", Key: "k", Approval: "a"}) {
		t.Errorf("%+v", c)
	}
}

// A job has run for as long as anybody has seen it.
func TestElapsed(t *testing.T) {
	at := func(seconds float64) time.Time {
		return time.Unix(1_780_000_000, 0).Add(time.Duration(seconds * float64(time.Second)))
	}
	for name, test := range map[string]struct {
		job  govern.Job
		want int64
	}{
		"queued":                     {govern.Job{Created: at(0)}, 0},
		"begun, and not seen since":  {govern.Job{Created: at(0), Started: at(5)}, 0},
		"seen":                       {govern.Job{Created: at(0), Started: at(5), Heartbeat: at(7.9)}, 2},
		"ended":                      {govern.Job{Created: at(0), Started: at(5), Heartbeat: at(7), Ended: at(65)}, 60},
		"ended before it began":      {govern.Job{Created: at(0), Ended: at(9)}, 0},
		"the clock was set back":     {govern.Job{Created: at(0), Started: at(5), Ended: at(1)}, 0},
		"seen before it began, once": {govern.Job{Created: at(0), Started: at(5), Heartbeat: at(4)}, 0},
	} {
		if got := elapsed(test.job); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

func TestMoment(t *testing.T) {
	if m := moment(time.Time{}); m.Present {
		t.Errorf("%+v", m)
	}
	if m := moment(time.Date(2026, 11, 30, 1, 2, 3, 4000, time.FixedZone("", 3600))); !m.Present || m.Value != "2026-11-30T00:02:03.000004Z" {
		t.Errorf("%+v", m)
	}
}

func TestResults(t *testing.T) {
	one := map[string]func([]byte) ([]byte, error){"a": Result[ShowInput]}
	all := Results(one, map[string]func([]byte) ([]byte, error){"b": Result[StatusInput]})
	if len(all) != 2 || len(one) != 1 {
		t.Fatalf("%d and %d", len(all), len(one))
	}
	if got, err := all["a"]([]byte(` {"plan":"x"}`)); err != nil || string(got) != `{"plan":"x"}` {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := all["b"]([]byte(`{"plan":"x","more":1}`)); err == nil || got != nil {
		t.Errorf("%s, %v", got, err)
	}
}

// What holds as a result is what run.result answers with, by the limits that a
// server with runs has at least: one that has more holds the others back.
func TestResultsAreAnswerable(t *testing.T) {
	nested := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	// In JSON an item takes 4 bytes, between programs and host 9.
	floats := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("0.5,", n), ",") + "]" }
	text := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	const room = 1<<20 - runner.MaxReport
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"small":          {`[1]`, true},
		"null":           {`null`, true},
		"deep":           {nested(31), true},
		"too deep":       {nested(32), false},
		"large":          {text(room - 300), true},
		"too large":      {text(room), false},
		"as JSON":        {`"` + strings.Repeat(`\u0001`, 200_000) + `"`, false},
		"floats":         {floats(100_000), true},
		"too many":       {floats(120_000), false},
		"a large number": {`[100000000000000000000,18446744073709551616,1e300]`, true},
	} {
		canonical, err := Result[anything]([]byte(c.text))
		if (err == nil) != c.want || err != nil && canonical != nil {
			t.Errorf("%s: %.100s, %v", name, canonical, err)
		}
		if err != nil && !strings.Contains(err.Error(), "run.result") {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		result, err := canon.CanonicalOpaque(canonical)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		w := canon.NewWireWriter(nil)
		w.Limit(runtime.DefaultMaxValueDepth, runtime.DefaultMaxValueBytes)
		out := RunResultOutput{Job: "job_0123456789abcdef0123456789abcdef", State: "SUCCEEDED", Sha256: strings.Repeat("a", 64), Result: result, Report: strings.Repeat("x", runner.MaxReport)}
		if out.Encode(w); w.End() != nil {
			t.Errorf("%s: %v", name, w.End())
		}
	}
}

// anything is a result of any form, as a type that may hold itself is: null, a
// text, a number or a list.
type anything struct {
	kind   canon.Kind
	text   string
	number float64
	items  []anything
}

func (v *anything) Decode(r *canon.Reader) error {
	*v = anything{kind: r.Peek()}
	switch v.kind {
	case canon.KindArray:
		r.BeginArray(0, math.MaxInt)
		for r.NextElement() {
			var item anything
			item.Decode(r)
			v.items = append(v.items, item)
		}
	case canon.KindString:
		v.text = r.String(0, math.MaxInt)
	case canon.KindNull:
		r.Null()
	default:
		v.number = r.Float()
	}
	return r.Err()
}

func (v *anything) Encode(w *canon.Writer) {
	switch v.kind {
	case canon.KindArray:
		w.BeginArray(len(v.items), 0, math.MaxInt)
		for i := range v.items {
			w.Element(i)
			v.items[i].Encode(w)
		}
		w.EndArray()
	case canon.KindString:
		w.String(v.text, 0, math.MaxInt)
	case canon.KindNull:
		w.Null()
	default:
		w.Float(v.number)
	}
}
