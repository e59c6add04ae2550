package wire

import (
	"errors"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern"
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
