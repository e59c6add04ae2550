package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/canon"
)

// Decide goes the way of a call up to its handler, which never runs.
func TestDecide(t *testing.T) {
	var asked []string
	policy := authz.AuthorizerFunc(func(_ context.Context, r authz.Request) error {
		view, err := r.View()
		if err != nil {
			return err
		}
		asked = append(asked, fmt.Sprintf("%s %s %s %s %v", r.Subject, r.ID, r.Name, r.Arguments, view["limit"]))
		switch view["key"] {
		case "secret":
			return fmt.Errorf("no secrets: %w", authz.ErrDenied)
		case "broken":
			return errors.New("the policy is broken")
		case "panic":
			panic("the policy panics")
		}
		return nil
	})
	fixed := lookupInfo()
	fixed.ID, fixed.Name, fixed.Call.Fixed = "rec-2", "records.fixed", []string{"limit"}
	fixed.Binding = strings.NewReplacer("rec-1", "rec-2", "records.lookup", "records.fixed").Replace(fixed.Binding)
	handler := func(context.Context, lookupInput) (record, error) {
		t.Error("a handler runs")
		return record{}, nil
	}
	s := build(t, Options{Authorizer: policy}, NewCapability(lookupInfo(), handler), NewCapability(fixed, handler))
	ann := authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "ann", Scopes: authz.ScopesOf("records:read")}
	nobodys := ann
	nobodys.Scopes = authz.Scopes{}
	for _, tt := range []struct {
		name       string
		subject    authz.Subject
		capability string
		arguments  string
		want       string // outcome and error
		asked      string
	}{
		{"allowed", ann, "records.lookup", `{"key":"a"}`, "allowed <nil>", `oidc:https://issuer.example#ann rec-1 records.lookup {"key":"a","limit":20} 20`},
		{"by id", ann, "rec-1", ` { "limit" : 1e0 , "key" : "a" } `, "allowed <nil>", `oidc:https://issuer.example#ann rec-1 records.lookup {"key":"a","limit":1} 1`},
		{"all scopes", authz.Local(), "rec-1", `{"key":"a"}`, "allowed <nil>", `local rec-1 records.lookup {"key":"a","limit":20} 20`},
		{"denied", ann, "rec-1", `{"key":"secret"}`, "denied no secrets: authz: denied", `oidc:https://issuer.example#ann rec-1 records.lookup {"key":"secret","limit":20} 20`},
		{"a scope is missing", nobodys, "rec-1", `{"key":"a"}`, "denied runtime: the scope records:read is required: authz: denied", ""},
		{"failed", ann, "rec-1", `{"key":"broken"}`, "failed the policy is broken", `oidc:https://issuer.example#ann rec-1 records.lookup {"key":"broken","limit":20} 20`},
		{"a panic", ann, "rec-1", `{"key":"panic"}`, "failed panic: the policy panics", `oidc:https://issuer.example#ann rec-1 records.lookup {"key":"panic","limit":20} 20`},
		{"nobody", authz.Subject{}, "rec-1", `{"key":"a"}`, "error runtime: unauthenticated", ""},
		{"unknown", ann, "records.gone", `{"key":"a"}`, "error runtime: capability not found", ""},
		{"a value of another kind", ann, "rec-1", `{"key":1}`, "error runtime: invalid arguments: key: expected string, got integer", ""},
		{"beyond a bound", ann, "rec-1", `{"key":"a","limit":101}`, "error runtime: invalid arguments: limit", ""},
		{"missing", ann, "rec-1", `{}`, "error runtime: invalid arguments: ", ""},
		{"unknown member", ann, "rec-1", `{"key":"a","kez":1}`, "error runtime: invalid arguments: kez: unknown member", ""},
		{"a member twice", ann, "rec-1", `{"key":"a","key":"b"}`, "error runtime: invalid arguments: key", ""},
		{"something behind", ann, "rec-1", `{"key":"a"}{}`, "error runtime: invalid arguments: ", ""},
		{"no object", ann, "rec-1", `[]`, "error runtime: invalid arguments: expected object", ""},
		{"what the manifest sets", ann, "rec-2", `{"key":"a","limit":1}`, "error runtime: invalid arguments: limit: unknown member", ""},
	} {
		asked = nil
		d, err := s.Decide(t.Context(), tt.subject, tt.capability, []byte(tt.arguments))
		got := fmt.Sprintf("%s %v", d.Outcome, d.Err)
		if err != nil {
			got = "error " + err.Error()
		}
		if !strings.HasPrefix(got, tt.want) || strings.Join(asked, "|") != tt.asked {
			t.Errorf("%s: %s; asked %v", tt.name, got, asked)
		}
		var refused *canon.Error
		if strings.Contains(tt.want, "expected string") && (!errors.As(err, &refused) || refused.Offset != 7) {
			t.Errorf("%s: where: %+v", tt.name, refused)
		}
	}
}
