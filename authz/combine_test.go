package authz_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/capgen/capgen/authz"
)

var errBroken = errors.New("broken")

// says is an authorizer that always decides the same, and previews it.
func says(err error, v authz.Verdict) authz.Authorizer {
	return previewing{authz.AuthorizerFunc(func(context.Context, authz.Request) error { return err }), v}
}

type previewing struct {
	authz.Authorizer
	verdict authz.Verdict
}

func (p previewing) Preview(context.Context, authz.Subject, string) authz.Verdict { return p.verdict }

func outcome(err error) string {
	switch {
	case err == nil:
		return "allowed"
	case errors.Is(err, authz.ErrDenied):
		return "denied"
	}
	return "failed"
}

func TestCombinators(t *testing.T) {
	members := map[string]authz.Authorizer{
		"allow":   says(nil, authz.Allow),
		"deny":    says(fmt.Errorf("no: %w", authz.ErrDenied), authz.Deny),
		"fail":    says(errBroken, authz.Depends),
		"silent":  authz.AuthorizerFunc(func(context.Context, authz.Request) error { return nil }),
		"all":     authz.AllowAll(),
		"nothing": authz.Any(says(authz.ErrDenied, authz.Deny)),
	}
	for _, test := range []struct {
		names                   string
		all, any                string
		allPreview, anyPreview  authz.Verdict
		allEverything, anyEvery bool
	}{
		{"allow", "allowed", "allowed", authz.Allow, authz.Allow, false, false},
		{"deny", "denied", "denied", authz.Deny, authz.Deny, false, false},
		{"fail", "failed", "failed", authz.Depends, authz.Depends, false, false},
		{"allow deny", "denied", "allowed", authz.Deny, authz.Allow, false, false},
		{"deny fail", "denied", "failed", authz.Deny, authz.Depends, false, false},
		{"fail deny", "failed", "failed", authz.Deny, authz.Depends, false, false},
		{"fail allow", "failed", "allowed", authz.Depends, authz.Allow, false, false},
		{"silent allow", "allowed", "allowed", authz.Depends, authz.Allow, false, false},
		{"silent deny", "denied", "allowed", authz.Deny, authz.Depends, false, false},
		{"all", "allowed", "allowed", authz.Allow, authz.Allow, true, true},
		{"all all", "allowed", "allowed", authz.Allow, authz.Allow, true, true},
		{"all deny", "denied", "allowed", authz.Deny, authz.Allow, false, true},
		{"nothing all", "denied", "allowed", authz.Deny, authz.Allow, false, true},
		{"nothing nothing", "denied", "denied", authz.Deny, authz.Deny, false, false},
	} {
		var list []authz.Authorizer
		for _, name := range strings.Fields(test.names) {
			list = append(list, members[name])
		}
		for _, c := range []struct {
			what    string
			a       authz.Authorizer
			want    string
			preview authz.Verdict
			every   bool
		}{
			{"All", authz.All(list...), test.all, test.allPreview, test.allEverything},
			{"Any", authz.Any(list...), test.any, test.anyPreview, test.anyEvery},
			{"observed All", authz.Observed(authz.All(list...), func(context.Context, authz.Decision) {}), test.all, test.allPreview, test.allEverything},
		} {
			if got := outcome(c.a.Authorize(t.Context(), authz.Request{})); got != c.want {
				t.Errorf("%s(%s) is %s, want %s", c.what, test.names, got, c.want)
			}
			if got := c.a.(authz.Previewer).Preview(t.Context(), authz.Local(), "a.b"); got != c.preview {
				t.Errorf("%s(%s) previews %s, want %s", c.what, test.names, got, c.preview)
			}
			if got := authz.AllowsEverything(c.a); got != c.every {
				t.Errorf("%s(%s) allows everything: %t", c.what, test.names, got)
			}
		}
	}
}

// A member that writes on its request changes nothing for the next one.
func TestMembersHaveRequestsOfTheirOwn(t *testing.T) {
	vandal := authz.AuthorizerFunc(func(_ context.Context, r authz.Request) error {
		r.Arguments[0], r.Tags[0] = 'x', "x"
		return authz.ErrDenied
	})
	witness := func(_ context.Context, r authz.Request) error {
		if string(r.Arguments) != "{}" || r.Tags[0] != "tag" {
			t.Errorf("the second member sees %s %v", r.Arguments, r.Tags)
		}
		return nil
	}
	request := authz.Request{Arguments: []byte("{}"), Tags: []string{"tag"}}
	if err := authz.Any(vandal, authz.AuthorizerFunc(witness)).Authorize(t.Context(), request); err != nil {
		t.Error(err)
	}
}

func TestCombinatorsNeedMembers(t *testing.T) {
	for name, f := range map[string]func(){
		"All of none":        func() { authz.All() },
		"Any of none":        func() { authz.Any() },
		"All of nil":         func() { authz.All(authz.AllowAll(), nil) },
		"Observed nil":       func() { authz.Observed(nil, func(context.Context, authz.Decision) {}) },
		"Observed by nobody": func() { authz.Observed(authz.AllowAll(), nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", name)
				}
			}()
			f()
		}()
	}
}

// Each decision is told once, without arguments; a panic is one that failed.
func TestObserved(t *testing.T) {
	var log strings.Builder
	logged := authz.LogDecisions(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == "time" || a.Key == "duration" {
			return slog.Attr{}
		}
		return a
	}})))
	request := authz.Request{Subject: authz.Local(), ID: "a.b", Name: "a.b", Effect: "write", Arguments: []byte(`{"secret":"hunter2"}`)}
	for _, a := range []authz.Authorizer{
		authz.AllowAll(), says(authz.ErrDenied, authz.Deny), says(errBroken, authz.Deny),
		authz.AuthorizerFunc(func(context.Context, authz.Request) error { panic("no") }),
	} {
		func() {
			defer func() { _ = recover() }()
			_ = authz.Observed(a, logged).Authorize(t.Context(), request)
		}()
	}
	want := `level=INFO msg="policy decision" capability=a.b effect=write subject=local outcome=allowed error=<nil>
level=INFO msg="policy decision" capability=a.b effect=write subject=local outcome=denied error="authz: denied"
level=ERROR msg="policy decision" capability=a.b effect=write subject=local outcome=failed error=broken
level=ERROR msg="policy decision" capability=a.b effect=write subject=local outcome=failed error="authz: the authorizer panicked"
`
	if log.String() != want {
		t.Error(log.String())
	}
}

func TestScopesTellWhatTheyHold(t *testing.T) {
	s := authz.ScopesOf("b", "a")
	names := s.Names()
	if s.All() || strings.Join(names, " ") != "a b" || !authz.AllScopes().All() || authz.AllScopes().Names() != nil {
		t.Errorf("%v", names)
	}
	names[0] = "c"
	if !s.Has("a") || s.Has("c") {
		t.Error("a set can be changed from outside")
	}
}
