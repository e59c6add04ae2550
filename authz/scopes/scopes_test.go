package scopes_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/authz/scopes"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]string{"": "", "a": "a", "b a b": "a b", "records:read https://x.example/y": "https://x.example/y records:read"} {
		s, err := scopes.Parse(in)
		if err != nil || strings.Join(s.Names(), " ") != want || s.All() {
			t.Errorf("%q is %v, %v", in, s.Names(), err)
		}
	}
	for _, in := range []string{" ", "a ", " a", "a  b", "a\tb", "a\nb", `a"b`, `a\b`, "é", "a\x00", strings.Repeat("a", 129), strings.Repeat("a ", 1000) + "a"} {
		if s, err := scopes.Parse(in); err == nil || len(s.Names()) > 0 {
			t.Errorf("%q is taken: %v", in, s.Names())
		}
	}
}

func TestRequirements(t *testing.T) {
	has := func(names ...string) authz.Subject {
		return authz.Subject{Kind: authz.KindLocal, Scopes: authz.ScopesOf(names...)}
	}
	for _, c := range []struct {
		name    string
		a       authz.Authorizer
		s       authz.Subject
		effect  string
		outcome string
	}{
		{"all there", scopes.Require("a", "b"), has("a", "b", "c"), "read", "allowed"},
		{"one missing", scopes.Require("a", "b"), has("a"), "read", "denied"},
		{"every scope", scopes.Require("a"), authz.Local(), "read", "allowed"},
		{"nobody", scopes.Require("a"), authz.Subject{}, "read", "denied"},
		{"nothing required", scopes.Require(), authz.Local(), "read", "failed"},
		{"another effect", scopes.ForEffect("destroy", "a"), has(), "write", "allowed"},
		{"the effect", scopes.ForEffect("destroy", "a"), has(), "destroy", "denied"},
		{"the effect and the scope", scopes.ForEffect("destroy", "a"), has("a"), "destroy", "allowed"},
	} {
		got := "allowed"
		if err := c.a.Authorize(t.Context(), authz.Request{Subject: c.s, Effect: c.effect}); errors.Is(err, authz.ErrDenied) {
			got = "denied"
		} else if err != nil {
			got = "failed"
		}
		if got != c.outcome {
			t.Errorf("%s: %s, want %s", c.name, got, c.outcome)
		}
		if authz.AllowsEverything(c.a) {
			t.Errorf("%s allows everything", c.name)
		}
	}
	if m := scopes.Missing(has("b"), "a", "b", "c"); strings.Join(m, " ") != "a c" {
		t.Error(m)
	}
}
