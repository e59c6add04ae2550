package cedar_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/authz/cedar"
	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/schema"
)

const manifest = `capgen: 1
go: {package: example.com/g}
server: {name: t, version: 1.0.0}
capabilities:
  - name: files.read
    summary: Read files.
    effect: read
    scopes: none
    tags: [bulk]
    input:
      type: object
      required: [paths]
      properties:
        paths: {type: array, items: {type: string}}
        limit: {type: integer, default: 10}
        big: {type: integer, format: int64}
        share: {type: number}
        note: {type: [string, "null"]}
        labels: {type: object, additionalProperties: {type: string}}
    output: {type: boolean}
  - {name: files.purge, id: purge-1, summary: Purge., effect: destroy, scopes: none, input: {type: object, properties: {}}, output: {type: boolean}}
  - {name: files.any, summary: Any., effect: read, scopes: none, input: {type: object, properties: {what: {x-opaque: true}}}, output: {type: boolean}}
`

func schemaText(t *testing.T) []byte {
	t.Helper()
	m, diags := schema.Load(map[string][]byte{"m.yaml": []byte(manifest)}, "m.yaml")
	if m == nil {
		t.Fatal(diags)
	}
	files, diags := codegen.Generate(m)
	if files == nil {
		t.Fatal(diags)
	}
	return files[codegen.CedarSchemaFile]
}

func request(id string, s authz.Subject, arguments map[string]any) authz.Request {
	r := authz.Request{Subject: s, ID: id, Name: "files.read", Effect: "read", Idempotency: "natural", World: "closed", Tags: []string{"bulk"},
		View: func() (map[string]any, error) { return arguments, nil }}
	if id == "purge-1" {
		r.Name, r.Effect, r.Tags = "files.purge", "destroy", nil
	}
	return r
}

func paths(list ...any) map[string]any { return map[string]any{"paths": list, "limit": int64(10)} }

func TestDecisions(t *testing.T) {
	ada := authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "ada", Scopes: authz.ScopesOf("files")}
	with := func(name string, v any) map[string]any {
		m := paths("a")
		m[name] = v
		return m
	}
	for _, c := range []struct {
		name, policies string
		r              authz.Request
		want           string
	}{
		{"permitted", `permit (principal == Subject::"local", action == Action::"files.read", resource);`, request("files.read", authz.Local(), paths("a")), "allowed"},
		{"of another subject", `permit (principal == Subject::"local", action, resource);`, request("files.read", ada, paths("a")), "denied: cedar: no policy permits it"},
		{"by its flat form", `permit (principal == Subject::"oidc:https://issuer.example#ada", action, resource);`, request("files.read", ada, paths("a")), "allowed"},
		{"by issuer", `permit (principal, action, resource) when { principal has issuer && principal has id && principal.issuer == "https://issuer.example" && principal.id == "ada" };`, request("files.read", ada, paths("a")), "allowed"},
		{"local has no issuer", `permit (principal, action, resource) when { principal has issuer };`, request("files.read", authz.Local(), paths("a")), "denied"},
		{"by scope", `permit (principal, action, resource) when { principal.all_scopes || principal.scopes.contains("files") };`, request("files.read", ada, paths("a")), "allowed"},
		{"by action of another id", `permit (principal, action == Action::"purge-1", resource);`, request("files.read", authz.Local(), paths("a")), "denied"},
		{"by effect", `permit (principal, action, resource); forbid (principal, action, resource) when { resource.effect == "destroy" };`, request("purge-1", authz.Local(), map[string]any{}), "denied: cedar: forbidden by a.cedar#policy1"},
		{"effect read", `permit (principal, action, resource); forbid (principal, action, resource) when { resource.effect == "destroy" };`, request("files.read", authz.Local(), paths()), "allowed"},
		{"by tag", `permit (principal, action, resource) when { resource.tags.contains("bulk") && resource.name == "files.read" };`, request("files.read", authz.Local(), paths()), "allowed"},
		{"paths within", `permit (principal, action == Action::"files.read", resource) when { ["a", "b"].containsAll(context.paths.items) };`, request("files.read", authz.Local(), paths("a", "b", "a")), "allowed"},
		{"paths beyond", `permit (principal, action == Action::"files.read", resource) when { ["a", "b"].containsAll(context.paths.items) };`, request("files.read", authz.Local(), paths("a", "c")), "denied"},
		{"first path", `permit (principal, action == Action::"files.read", resource) when { context.paths.length == 2 && context.paths.at.contains({index: 0, item: "a"}) };`, request("files.read", authz.Local(), paths("a", "b")), "allowed"},
		{"another first path", `permit (principal, action == Action::"files.read", resource) when { context.paths.at.contains({index: 0, item: "a"}) };`, request("files.read", authz.Local(), paths("b", "a")), "denied"},
		{"64 bits", `permit (principal, action == Action::"files.read", resource) when { context has big && context.big == 9007199254740993 };`, request("files.read", authz.Local(), with("big", "9007199254740993")), "allowed"},
		{"64 bits, one apart", `permit (principal, action == Action::"files.read", resource) when { context has big && context.big == 9007199254740993 };`, request("files.read", authz.Local(), with("big", "9007199254740992")), "denied"},
		{"a number", `permit (principal, action == Action::"files.read", resource) when { context has share && context.share == "0.000001" };`, request("files.read", authz.Local(), with("share", 1e-6)), "allowed"},
		{"null", `permit (principal, action == Action::"files.read", resource) when { context has note_isnull && context.note_isnull };`, request("files.read", authz.Local(), with("note", nil)), "allowed"},
		{"not null", `permit (principal, action == Action::"files.read", resource) when { context has note_isnull && !context.note_isnull && context has note && context.note == "n" };`, request("files.read", authz.Local(), with("note", "n")), "allowed"},
		{"left out is not null", `permit (principal, action == Action::"files.read", resource) when { context has note_isnull };`, request("files.read", authz.Local(), paths()), "denied"},
		{"a pair", `permit (principal, action == Action::"files.read", resource) when { context has labels && context.labels.contains({key: "env", value: "prod"}) };`, request("files.read", authz.Local(), with("labels", map[string]any{"env": "prod", "x": "y"})), "allowed"},
		// Cedar would pass over a forbid that fails.
		{"a forbid that fails", `permit (principal, action, resource); forbid (principal, action == Action::"files.read", resource) when { context.limit * 9223372036854775807 > 0 };`, request("files.read", authz.Local(), paths()), "failed: cedar: a.cedar#policy1"},
		{"no action", `permit (principal, action, resource);`, request("files.any", authz.Local(), map[string]any{"what": "x"}), `failed: cedar: the schema has no action "files.any"`},
		{"a member that is not declared", `permit (principal, action, resource);`, request("files.read", authz.Local(), with("other", "x")), `failed: cedar: files.read: the arguments are not what the schema declares: "other"`},
		{"a member of another kind", `permit (principal, action, resource);`, request("files.read", authz.Local(), with("limit", 1.5)), "failed"},
		{"a member that is missing", `permit (principal, action, resource);`, request("files.read", authz.Local(), map[string]any{"limit": int64(1)}), "failed"},
		{"null where none is", `permit (principal, action, resource);`, request("files.read", authz.Local(), with("limit", nil)), "failed"},
	} {
		a, err := cedar.New(cedar.Options{Schema: schemaText(t), Policies: map[string][]byte{"a.cedar": []byte(c.policies)}})
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
		if authz.AllowsEverything(a) {
			t.Error("a set of policies says that it allows everything")
		}
	}
}

func TestEndedContextAllowsNothing(t *testing.T) {
	a, err := cedar.New(cedar.Options{Schema: schemaText(t), Policies: map[string][]byte{"a.cedar": []byte("permit (principal, action, resource);")}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Authorize(ctx, request("files.read", authz.Local(), paths())); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for id, want := range map[string]authz.Verdict{"files.read": authz.Depends, "files.any": authz.Deny, "gone": authz.Deny} {
		if got := a.Preview(t.Context(), authz.Local(), id); got != want {
			t.Errorf("%s previews %s, want %s", id, got, want)
		}
	}
}

// What is wrong with policies is known before the first call, all of it, and
// where.
func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		name     string
		schema   []byte
		policies map[string]string
		want     []string
	}{
		{"no policy", schemaText(t), nil, []string{"cedar: no policy"}},
		{"no schema", nil, map[string]string{"a": "permit (principal, action, resource);"}, []string{"cedar: the schema has no action"}},
		{"a schema that is none", []byte("entity"), nil, []string{"cedar: schema: "}},
		{"another's schema", []byte("entity User; entity File; action read appliesTo {principal: [User], resource: [File]};"), nil, []string{"cedar: schema: ", "is no action that capgen generates"}},
		{"syntax", schemaText(t), map[string]string{"a": "permit (", "b": "permit (principal, action, resource);"}, []string{"cedar: a: "}},
		{"several", schemaText(t), map[string]string{
			"a": "\npermit (principal, action == Action::\"gone\", resource);",
			"b": "permit (principal, action == Action::\"files.read\", resource) when { context.limt > 3 };\n  permit (principal, action == Action::\"files.read\", resource) when { context.limit == \"3\" };",
			"c": "permit (principal, action == Action::\"files.read\", resource) when { context.note == \"x\" };",
		}, []string{"cedar: a:2:1: ", "cedar: b:1:1: ", "cedar: b:2:3: ", "cedar: c:1:1: "}},
	} {
		files := map[string][]byte{}
		for name, text := range c.policies {
			files[name] = []byte(text)
		}
		_, err := cedar.New(cedar.Options{Schema: c.schema, Policies: files})
		if err == nil {
			t.Errorf("%s is taken", c.name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", c.name, err, want)
			}
		}
	}
}
