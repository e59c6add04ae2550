package govern

import (
	"context"
	"errors"
	"testing"

	"github.com/capgen/capgen/runtime"
)

// TestHandlersDecline: what a handler lets programs see of its refusal reaches
// them, and nothing else that it says does.
func TestHandlersDecline(t *testing.T) {
	s, _ := newRunScene(t, anywhere())
	const gone runtime.ErrorCode = "gone"
	secret := errors.New("secret: /srv/state")
	for name, prepare := range map[string]func(error) error{
		"change": func(err error) error {
			_, err = PrepareChange(as("alice"), s.Service, publish, []byte(`{}`), "k1", func(context.Context) (Change, error) { return Change{}, err })
			return err
		},
		"run": func(err error) error {
			_, err = PrepareRun(as("alice"), s.Service, evaluate, []byte(`{}`), "k1", func(context.Context) (Run, error) { return Run{}, err })
			return err
		},
		"call": func(err error) error {
			terms := publish
			terms.Effect = runtime.EffectWrite
			_, err = PrepareCall(as("alice"), s.Service, terms, []byte(`{}`), "k1", func(context.Context) (Preview, error) { return Preview{}, err })
			return err
		},
	} {
		var r *Refusal
		for _, said := range []error{gone, gone.Because("it went")} {
			if err := prepare(said); !errors.Is(err, gone) || errors.As(err, &r) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := prepare(secret); !errors.As(err, &r) || r.Code != Internal || r.Error() != "govern: [internal] it could not be done; try again with the same key, or ask an operator" {
			t.Errorf("%s: %v", name, err)
		}
		// Refusals of this package stay what they are.
		if err := prepare(refuse(StaleState, "old").because(gone)); code(err) != StaleState {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := s.events(t, "plan.prepare!"); len(got) == 0 || got[:len("plan.prepare!internal")] != "plan.prepare!internal" {
		t.Error(got)
	}
}
