package govern

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime"
)

func TestRehearse(t *testing.T) {
	asked := ""
	s := Rehearse(func(capability string, arguments []byte) ([]byte, error) {
		asked = capability + string(arguments)
		return []byte(`{"gone":1}`), nil
	})
	ctx := t.Context()
	change := Terms{ID: "site", Name: "site.publish", Effect: "change", Min: 2, TTL: time.Minute}
	call := Terms{ID: "site.remove", Name: "site.remove", Effect: runtime.EffectDestroy, Min: 1, TTL: time.Minute}
	never := func(context.Context) (Change, error) { t.Error("the handler is called"); return Change{}, nil }

	p, err := PrepareChange(ctx, s, change, []byte(`{"a":1}`), "k", never)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := PrepareChange(ctx, s, change, []byte(`{"a":1}`), "k", never); again.Plan != p.Plan || again.Token != p.Token {
		t.Errorf("the same again is another plan: %+v", again)
	}
	if other, _ := PrepareChange(ctx, s, change, []byte(`{"a":2}`), "k", never); other.Plan == p.Plan {
		t.Error("other arguments are the same plan")
	}
	l, err := ApplyChange(ctx, s, change, Claim{Plan: p.Plan, Token: p.Token, Key: "k"})
	if err != nil || l.State != "applied" || l.Tree == "" {
		t.Errorf("%+v, %v", l, err)
	}

	c, err := PrepareCall(ctx, s, call, []byte(`{"b":1}`), "k", func(context.Context) (Preview, error) { t.Error("the preview is called"); return Preview{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	apply := func(claim Claim) (Landed, error) {
		return ApplyCall(ctx, s, call, claim, func([]byte) (int, error) { return 0, nil }, nil, func(context.Context, Approved[int]) ([]byte, error) {
			t.Error("the handler is called")
			return nil, nil
		})
	}
	if l, err := apply(Claim{Plan: c.Plan, Token: c.Token, Key: "k"}); err != nil || string(l.Output) != `{"gone":1}` || asked != `site.remove{"b":1}` {
		t.Errorf("%+v, %v, asked %s", l, err, asked)
	}
	for name, claim := range map[string]Claim{
		"token_invalid": {Plan: c.Plan, Token: p.Token},
		"not_found":     {Plan: p.Plan, Token: p.Token}, // of another capability
	} {
		var r *Refusal
		if _, err := apply(claim); !errors.As(err, &r) || string(r.Code) != name {
			t.Errorf("%v, want %s", err, name)
		}
	}

	if v, err := s.Show(ctx, c.Plan); err != nil || v.Status != "consumed" || string(v.Arguments) != `{"b":1}` {
		t.Errorf("%+v, %v", v, err)
	}
	page, err := s.List(ctx, Filter{Limit: 2})
	if err != nil || len(page.Plans) != 2 || page.Plans[0].Plan != c.Plan || page.Next != page.Plans[1].Plan {
		t.Errorf("%+v, %v", page, err)
	}
	if rest, err := s.List(ctx, Filter{After: page.Next}); err != nil || len(rest.Plans) != 1 || rest.Plans[0].Plan != p.Plan || rest.Next != "" {
		t.Errorf("%+v, %v", rest, err)
	}
	second := page.Plans[1].Plan
	if g, err := s.Cancel(ctx, second, "no"); err != nil || g.Status != "cancelled" || g.Reason != "no" {
		t.Errorf("%+v, %v", g, err)
	}
	if g, err := s.Cancel(ctx, c.Plan, "late"); err != nil || g.Status != "consumed" {
		t.Errorf("%+v, %v", g, err)
	}
	if _, err := s.Status(ctx, "plan_x"); err == nil {
		t.Error("a plan that is not there has a status")
	}
}
