package rego_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/authz/rego"
)

// schemaText is the schema of the reference server.
func schemaText(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("../../generated/policy/input.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func made(t *testing.T, policy string) (*rego.Authorizer, error) {
	t.Helper()
	return rego.New(t.Context(), rego.Options{Schema: schemaText(t), Policies: map[string]string{"a.rego": "package capgen\n\n" + policy + "\n"}})
}

func request(s authz.Subject, arguments map[string]any) authz.Request {
	return authz.Request{Subject: s, ID: "files.read", Name: "files.read", Effect: "read", Idempotency: "natural", World: "closed",
		View: func() (map[string]any, error) { return arguments, nil }}
}

func page(more ...any) map[string]any {
	m := map[string]any{"max_bytes": int64(524288), "cursor": ""}
	for i := 0; i < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	return m
}

func TestDecisions(t *testing.T) {
	ada := authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "ada", Scopes: authz.ScopesOf("files:read")}
	for _, c := range []struct {
		name, policy string
		r            authz.Request
		want         string
	}{
		{"allowed", `allow if input.capability.effect == "read"`, request(ada, page()), "allowed"},
		{"undefined", `allow if input.capability.effect == "write"`, request(ada, page()), "denied: rego: data.capgen.allow is undefined"},
		{"false", "default allow := false", request(ada, page()), "denied: rego: data.capgen.allow is false"},
		{"no boolean", `allow := "yes"`, request(ada, page()), "failed: rego: data.capgen.allow is neither"},
		{"conflict", "allow if input.subject.id == \"ada\"\nallow := false if input.subject.kind == \"oidc\"", request(ada, page()), "failed: rego: "},
		{"a builtin that fails", `allow if 1 / (input.arguments.max_bytes - 524288) == 1`, request(ada, page()), "failed: rego: "},
		{"by subject", `allow if input.subject.name == "oidc:https://issuer.example#ada"`, request(ada, page()), "allowed"},
		{"local has no issuer", `allow if input.subject.issuer`, request(authz.Local(), page()), "denied"},
		{"by scope", `allow if "files:read" in input.subject.scopes`, request(ada, page()), "allowed"},
		{"by arguments", `allow if every p in input.arguments.paths { p in {"LICENSE", "README.md"} }`, request(ada, page("paths", []any{"LICENSE"})), "allowed"},
		{"beyond them", `allow if every p in input.arguments.paths { p in {"LICENSE", "README.md"} }`, request(ada, page("paths", []any{"LICENSE", "go.mod"})), "denied"},
		{"integers are exact", `allow if input.arguments.max_bytes == 9007199254740991`, request(ada, page("max_bytes", int64(9007199254740991))), "allowed"},
		{"one apart", `allow if input.arguments.max_bytes == 9007199254740991`, request(ada, page("max_bytes", int64(9007199254740990))), "denied"},
	} {
		a, err := made(t, c.policy)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := "allowed"
		if err := a.Authorize(t.Context(), c.r); errors.Is(err, authz.ErrDenied) {
			got = "denied: " + err.Error()
		} else if err != nil {
			got = "failed: " + err.Error()
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for name, c := range map[string]struct{ policy, want string }{
		"nothing to allow":         {`deny if input.subject.kind == "demo"`, "no policy declares allow"},
		"syntax":                   {"allow if {", "a.rego:"},
		"a member that is not":     {`allow if input.subjct.kind == "local"`, "a.rego:3:"},
		"a member of a capability": {`allow if input.capability.efect == "read"`, "a.rego:3:"},
		"the network":              {`allow if http.send({"method": "GET", "url": "http://127.0.0.1/"}).status_code == 200`, "http.send"},
		"a clock":                  {`allow if time.now_ns() > 0`, "time.now_ns"},
		"chance":                   {`allow if rand.intn("x", 2) == 1`, "rand.intn"},
		"the environment":          {`allow if opa.runtime().env.HOME`, "opa.runtime"},
	} {
		if _, err := made(t, c.policy); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	for name, schema := range map[string]string{"no JSON": "x", "another schema": "{}"} {
		if _, err := rego.New(t.Context(), rego.Options{Schema: []byte(schema), Policies: map[string]string{"a.rego": "package capgen\n\nallow if true\n"}}); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestEndedContextAllowsNothing(t *testing.T) {
	a, err := made(t, `allow if true`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Authorize(ctx, request(authz.Local(), page())); err == nil || errors.Is(err, authz.ErrDenied) {
		t.Errorf("%v", err)
	}
}

// What policies see is what the generated schema declares.
func TestInputSatisfiesTheSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaText(t)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("mem:///input.json", doc); err != nil {
		t.Fatal(err)
	}
	judge, err := compiler.Compile("mem:///input.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		r    authz.Request
		good bool
	}{
		"local":             {request(authz.Local(), page("paths", []any{"a"})), true},
		"a token's subject": {request(authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "a", Scopes: authz.ScopesOf("x")}, page()), true},
		"an undeclared one": {request(authz.Local(), page("pathz", []any{"a"})), false},
	} {
		input, err := rego.Input(c.r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := judge.Validate(v); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}
