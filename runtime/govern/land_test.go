package govern

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestChangeLands: what was planned lands, once, whatever is asked again.
func TestChangeLands(t *testing.T) {
	for _, there := range []map[string]string{before, nil} {
		s := newScene(t, anywhere())
		if there != nil {
			s.place(t, there)
		}
		p := s.prepareChange(t)
		if p.Separation != "full" || p.Approval != "workspace approve "+p.Plan || !strings.HasPrefix(p.Token, "gv1.") {
			t.Errorf("%+v", p)
		}
		again, err := PrepareChange(as("alice"), s.Service, publish, []byte(`{"name":"momentum"}`), "k1", func(context.Context) (Change, error) {
			return Change{}, errors.New("planned twice")
		})
		if err != nil || again.Plan != p.Plan || again.Hash != p.Hash || len(again.Actions) != len(p.Actions) {
			t.Errorf("the same key: %+v, %v", again, err)
		}
		if _, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p)); code(err) != ApprovalRequired || !strings.Contains(err.Error(), p.Approval) {
			t.Fatalf("without an approval: %v", err)
		}
		s.approve(t, ada, p.Plan)
		for range 2 {
			landed, err := ApplyChange(as("alice"), s.Service, publish, claimOf(p))
			if err != nil || landed.State != "applied" || landed.Tree != treeHash(t, after).String() || s.there(t) != treeHash(t, after) || s.names(t) != "momentum" {
				t.Fatalf("%+v, %v, left %s", landed, err, s.names(t))
			}
		}
		other := claimOf(p)
		other.Key = "a2"
		if _, err := ApplyChange(as("alice"), s.Service, publish, other); code(err) != TokenReplayed {
			t.Errorf("another key: %v", err)
		}
		if got := s.last(t, 6); got != "plan.prepare plan.land!approval_required plan.approve plan.land change.applied plan.land!token_replayed" {
			t.Error(got)
		}
		v, err := s.Show(as("alice"), p.Plan)
		if err != nil || v.Status != "consumed" || v.State != "applied" || v.Path != "momentum" || len(v.Actions) != len(p.Actions) || string(v.Arguments) != `{"name":"momentum"}` {
			t.Errorf("%+v, %v", v, err)
		}
	}
}

func TestActionsOfAPlan(t *testing.T) {
	s := newScene(t, scenery{})
	s.place(t, before)
	p := s.prepareChange(t)
	var got []string
	for _, a := range p.Actions {
		got = append(got, a.Action+" "+a.Path)
	}
	if text := strings.Join(got, ", "); text != "replace a, delete b, replace lib/c, create lib/d" {
		t.Error(text)
	}
}

// calls counts the calls of a handler.
type calls struct{ preview, made int }

func (c *calls) show(context.Context, string) (Preview, error) {
	c.preview++
	return Preview{"removes 3 orders"}, nil
}

func decodeText(b []byte) (string, error) { return string(b), nil }

func (s *scene) prepareCall(t testing.TB, c *calls) Prepared {
	t.Helper()
	p, err := PrepareCall(as("alice"), s.Service, remove, []byte(`{"older_than":30}`), "k1", func(ctx context.Context) (Preview, error) { return c.show(ctx, "") })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (s *scene) applyCall(c *calls, p Prepared, result func() error) (Landed, error) {
	return ApplyCall(as("alice"), s.Service, remove, claimOf(p), decodeText, c.show, func(_ context.Context, a Approved[string]) ([]byte, error) {
		c.made++
		if a.Input() != `{"older_than":30}` || a.Plan() != p.Plan || a.Key() != p.Plan || strings.Join(a.Approvers(), " ") != "user2001" {
			return nil, errors.New("not what was approved: " + strings.Join(a.Approvers(), " "))
		}
		return []byte(`{"removed":3}`), result()
	})
}

func nothing() error { return nil }

func TestCallIsMadeOnce(t *testing.T) {
	s := newScene(t, anywhere())
	c := &calls{}
	p := s.prepareCall(t, c)
	if _, err := s.applyCall(c, p, nothing); code(err) != ApprovalRequired || c.made != 0 {
		t.Fatalf("without an approval: %v, %d calls", err, c.made)
	}
	s.approve(t, ada, p.Plan)
	for range 2 {
		landed, err := s.applyCall(c, p, nothing)
		if err != nil || landed.State != "done" || string(landed.Output) != `{"removed":3}` || c.made != 1 {
			t.Fatalf("%+v, %v, %d calls", landed, err, c.made)
		}
	}
	if got := s.last(t, 3); got != "plan.approve plan.land call.done" {
		t.Error(got)
	}
	if left, _ := s.running.Entries(10); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

// TestCallEnds: whatever the handler does, it is called once.
func TestCallEnds(t *testing.T) {
	failure := errors.New("no")
	for name, c := range map[string]struct {
		result func() error
		state  string
	}{
		"fails":  {func() error { return failure }, "failed"},
		"panics": {func() error { panic("no") }, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, scenery{})
			made := &calls{}
			p := s.prepareCall(t, made)
			s.approve(t, ada, p.Plan)
			func() {
				defer func() { recover() }()
				if _, err := s.applyCall(made, p, c.result); !errors.Is(err, failure) {
					t.Errorf("%v", err)
				}
			}()
			if _, err := s.applyCall(made, p, nothing); code(err) != ConflictCode || made.made != 1 {
				t.Errorf("again: %v, %d calls", err, made.made)
			}
			if got, err := s.Status(as("alice"), p.Plan); err != nil || got.State != c.state || got.Output != nil {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// TestPreviewIsWhatWasSeen: a call whose preview is another one than approvers saw
// is not made, and nothing is spent on it.
func TestPreviewIsWhatWasSeen(t *testing.T) {
	s := newScene(t, scenery{})
	c := &calls{}
	p := s.prepareCall(t, c)
	s.approve(t, ada, p.Plan)
	apply := func(preview func(context.Context, string) (Preview, error)) error {
		_, err := ApplyCall(as("alice"), s.Service, remove, claimOf(p), decodeText, preview, func(context.Context, Approved[string]) ([]byte, error) {
			c.made++
			return []byte(`{}`), nil
		})
		return err
	}
	for name, preview := range map[string]func(context.Context, string) (Preview, error){
		"another": func(context.Context, string) (Preview, error) { return Preview{"removes 4 orders"}, nil },
		"none":    nil,
	} {
		if err := apply(preview); code(err) != StaleState || c.made != 0 {
			t.Errorf("%s: %v, %d calls", name, err, c.made)
		}
	}
	if err := apply(c.show); err != nil || c.made != 1 {
		t.Errorf("%v, %d calls", err, c.made)
	}
}

// TestBefore: who says what they have seen is told when it is something else by
// now.
func TestBefore(t *testing.T) {
	s := newScene(t, scenery{})
	s.place(t, before)
	prepare := func(key string, seen map[string]string) error {
		_, err := PrepareChange(as("alice"), s.Service, publish, []byte(`{"name":"momentum"}`), key, func(context.Context) (Change, error) {
			c := files(after)
			c.Before = treeHash(t, seen).String()
			return c, nil
		})
		return err
	}
	if err := prepare("k1", before); err != nil {
		t.Error(err)
	}
	for key, seen := range map[string]map[string]string{"k2": after, "k3": nil} {
		if err := prepare(key, seen); code(err) != StaleState {
			t.Errorf("%v: %v", seen, err)
		}
	}
}
