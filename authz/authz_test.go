package authz_test

import (
	"context"
	"errors"
	"testing"

	"github.com/capgen/capgen/authz"
)

func TestSubjectsHaveFlatForms(t *testing.T) {
	for want, s := range map[string]authz.Subject{
		"":                                  {},
		"local":                             authz.Local(),
		"development":                       {Kind: authz.KindDevelopment},
		"shared-token":                      {Kind: authz.KindDemo},
		"oidc:https://issuer.example#local": {Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "local"},
	} {
		if got := s.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Whom no flat form tells apart from others is nobody, and so refused.
func TestSubjectsThatAreNobody(t *testing.T) {
	for name, s := range map[string]authz.Subject{
		"zero":                     {},
		"unknown kind":             {Kind: "robot", Issuer: "https://issuer.example", ID: "u1"},
		"no issuer":                {Kind: authz.KindOIDC, ID: "u1"},
		"no id":                    {Kind: authz.KindOIDC, Issuer: "https://issuer.example"},
		"fragment of another's id": {Kind: authz.KindOIDC, Issuer: "https://issuer.example#a", ID: "b"},
	} {
		if !s.IsZero() || s.String() != "" {
			t.Errorf("%s is %q", name, s)
		}
	}
	if s := (authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "a#b"}); s.IsZero() {
		t.Errorf("%q is nobody", s)
	}
}

func TestScopes(t *testing.T) {
	granted := authz.ScopesOf("b", "a", "b")
	for name, want := range map[string]bool{"a": true, "b": true, "c": false, "": false} {
		if granted.Has(name) != want {
			t.Errorf("Has(%q) is %v", name, !want)
		}
		if !authz.AllScopes().Has(name) || (authz.Scopes{}).Has(name) {
			t.Errorf("all or none disagree on %q", name)
		}
	}
}

func TestResolvers(t *testing.T) {
	ctx := t.Context()
	if s, err := authz.StaticSubject(authz.Local()).Subject(ctx); err != nil || s.String() != "local" {
		t.Errorf("static: %v %v", s, err)
	}
	for name, r := range map[string]authz.SubjectResolver{
		"static nobody": authz.StaticSubject(authz.Subject{}),
		"empty context": authz.ContextSubject(),
		"nobody in it":  resolverIn{authz.WithSubject(ctx, authz.Subject{})},
	} {
		if _, err := r.Subject(ctx); !errors.Is(err, authz.ErrUnauthenticated) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s, err := authz.ContextSubject().Subject(authz.WithSubject(ctx, authz.Local())); err != nil || s.String() != "local" {
		t.Errorf("context: %v %v", s, err)
	}
}

type resolverIn struct{ ctx context.Context }

func (r resolverIn) Subject(context.Context) (authz.Subject, error) {
	return authz.ContextSubject().Subject(r.ctx)
}

func TestAllowAll(t *testing.T) {
	if err := authz.AllowAll().Authorize(t.Context(), authz.Request{}); err != nil {
		t.Error(err)
	}
}

// Each subject is read from its flat form, and nothing else is one.
func TestParseSubject(t *testing.T) {
	for _, s := range []authz.Subject{
		{Kind: authz.KindLocal}, {Kind: authz.KindDevelopment}, {Kind: authz.KindDemo},
		{Kind: authz.KindOIDC, Issuer: "https://login.example/a", ID: "ann"}, {Kind: authz.KindOIDC, Issuer: "https://login.example", ID: "a#b:c"},
		{Kind: authz.KindOIDC, Issuer: "https://login.example", ID: "local"},
	} {
		got, err := authz.ParseSubject(s.String())
		if err != nil || got.Kind != s.Kind || got.Issuer != s.Issuer || got.ID != s.ID || got.Scopes.All() || got.Scopes.Names() != nil {
			t.Errorf("%s: %+v %v", s, got, err)
		}
	}
	for _, text := range []string{"", "demo", "root", "Local", "local ", "oidc:", "oidc:#", "oidc:https://login.example", "oidc:https://login.example#", "oidc:#ann", "https://login.example#ann"} {
		if got, err := authz.ParseSubject(text); err == nil || !got.IsZero() {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
