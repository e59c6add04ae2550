package policies_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/examples/policies"
)

func decided(a authz.Authorizer, r authz.Request) string {
	err := a.Authorize(context.Background(), r)
	switch {
	case err == nil:
		return "allowed"
	case errors.Is(err, authz.ErrDenied):
		return "denied"
	}
	return err.Error()
}

func TestRules(t *testing.T) {
	var log strings.Builder
	rules := policies.Rules(slog.New(slog.NewTextHandler(&log, nil)))
	admin := authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "ada", Scopes: authz.ScopesOf("admin")}
	ben := authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "ben"}
	for _, c := range []struct {
		s             authz.Subject
		effect, world string
		want          string
	}{
		{ben, "read", "open", "allowed"},
		{ben, "write", "closed", "allowed"},
		{ben, "write", "open", "denied"},
		{ben, "destroy", "closed", "denied"},
		{admin, "destroy", "closed", "allowed"},
		{admin, "destroy", "open", "denied"},
	} {
		if got := decided(rules, authz.Request{Subject: c.s, ID: "a.b", Effect: c.effect, World: c.world}); got != c.want {
			t.Errorf("%s: %s in a world that is %s: %s, want %s", c.s, c.effect, c.world, got, c.want)
		}
	}
	if n := strings.Count(log.String(), "policy decision"); n != 6 || authz.AllowsEverything(rules) {
		t.Errorf("%d decisions are logged:\n%s", n, &log)
	}
}

func TestCedar(t *testing.T) {
	policy, err := policies.FromFolder(os.DirFS("../.."), "generated", "examples/policies")
	if err != nil {
		t.Fatal(err)
	}
	ben := authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "ben"}
	page := map[string]any{"max_bytes": int64(1000), "cursor": ""}
	with := func(name string, v any) map[string]any {
		return map[string]any{"max_bytes": page["max_bytes"], "cursor": page["cursor"], name: v}
	}
	for _, c := range []struct {
		s         authz.Subject
		arguments map[string]any
		want      string
	}{
		{authz.Local(), with("paths", []any{"go.mod"}), "allowed"},
		{ben, with("paths", []any{"LICENSE", "README.md"}), "allowed"},
		{ben, with("paths", []any{"LICENSE", "go.mod"}), "denied"},
		{ben, with("ranges", []any{map[string]any{"path": "go.mod"}}), "denied"},
		{ben, page, "denied"},
		{authz.Local(), with("ranges", []any{map[string]any{"path": "go.mod"}}), "allowed"},
	} {
		got := decided(policy, authz.Request{Subject: c.s, ID: "files.read", Name: "files.read", Effect: "read", Idempotency: "natural", World: "closed",
			View: func() (map[string]any, error) { return c.arguments, nil }})
		if got != c.want {
			t.Errorf("%s with %v: %s, want %s", c.s, c.arguments, got, c.want)
		}
	}
}
