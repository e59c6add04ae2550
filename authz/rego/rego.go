package rego

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/capgen/capgen/authz"
)

// Options are what policies are made of.
type Options struct {
	// Schema is the generated policy/input.schema.json, which policies are
	// checked against: a reference to what input cannot have is an error of
	// New. Required.
	Schema []byte
	// Policies are modules in Rego 1, by the name of their file. One of them
	// has to declare allow in package capgen.
	Policies map[string]string
}

// query is what a call needs to be true.
const query = "data.capgen.allow"

// Authorizer decides by policies that do not change. It allows a call for which
// data.capgen.allow is true, and denies one for which it is false or undefined.
// Any other value, two values that conflict, and an error of a builtin are a
// policy failure, which refuses the call too. It is safe for concurrent use.
type Authorizer struct{ query rego.PreparedEvalQuery }

// New compiles the policies. Its error names every one that is wrong, with file
// and line. Policies decide by input alone: there are no builtins that reach
// the network, the environment, a clock or chance.
func New(ctx context.Context, o Options) (*Authorizer, error) {
	schemas, err := inputSchema(o.Schema)
	if err != nil {
		return nil, err
	}
	options := []func(*rego.Rego){
		rego.Query(query), rego.Strict(true), rego.StrictBuiltinErrors(true),
		rego.Capabilities(pure()), rego.Schemas(schemas),
	}
	declared := false
	for name, text := range o.Policies {
		module, err := ast.ParseModuleWithOpts(name, text, ast.ParserOptions{RegoVersion: ast.RegoV1, Capabilities: pure()})
		if err != nil {
			return nil, fmt.Errorf("rego: %w", err)
		}
		options = append(options, rego.ParsedModule(module))
		for _, rule := range module.Rules {
			declared = declared || module.Package.Path.String() == "data.capgen" && rule.Head.Ref().String() == "allow"
		}
	}
	if !declared {
		return nil, errors.New("rego: no policy declares allow in package capgen: nothing would be allowed")
	}
	prepared, err := rego.New(options...).PrepareForEval(ctx)
	if err != nil {
		return nil, fmt.Errorf("rego: %w", err)
	}
	return &Authorizer{prepared}, nil
}

// inputSchema is what the compiler takes as the type of input. OPA reads draft
// 7; none of what the generated schema has beyond that says anything of types.
func inputSchema(text []byte) (*ast.SchemaSet, error) {
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, fmt.Errorf("rego: schema: %w", err)
	}
	if schema["properties"] == nil {
		return nil, errors.New("rego: schema: it is not the generated input.schema.json")
	}
	delete(schema, "$schema")
	set := ast.NewSchemaSet()
	set.Put(ast.SchemaRootRef, schema)
	return set, nil
}

// pure are the builtins whose result their arguments decide.
func pure() *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion()
	c.Builtins = slices.DeleteFunc(c.Builtins, func(b *ast.Builtin) bool {
		return b.IsNondeterministic() || slices.Contains([]string{"opa.runtime", "http.send", "net.lookup_ip_addr", "trace", "print", "internal.print"}, b.Name)
	})
	c.AllowNet = []string{}
	return c
}

// Authorize decides one call.
func (a *Authorizer) Authorize(ctx context.Context, r authz.Request) error {
	input, err := Input(r)
	if err != nil {
		return err
	}
	results, err := a.query.Eval(ctx, rego.EvalInput(input))
	if err != nil {
		return fmt.Errorf("rego: %w", err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(results) == 0 {
		return fmt.Errorf("rego: %s is undefined: %w", query, authz.ErrDenied)
	}
	allowed, ok := results[0].Expressions[0].Value.(bool)
	switch {
	case len(results) > 1 || len(results[0].Expressions) > 1 || !ok:
		return fmt.Errorf("rego: %s is neither true nor false", query)
	case !allowed:
		return fmt.Errorf("rego: %s is false: %w", query, authz.ErrDenied)
	}
	return nil
}

// Input is the document that policies see of a call.
func Input(r authz.Request) (map[string]any, error) {
	arguments, err := r.View()
	if err != nil {
		return nil, fmt.Errorf("rego: %w", err)
	}
	subject := map[string]any{
		"name": r.Subject.String(), "kind": string(r.Subject.Kind),
		"all_scopes": r.Subject.Scopes.All(), "scopes": append([]string{}, r.Subject.Scopes.Names()...),
	}
	if r.Subject.Kind == authz.KindOIDC {
		subject["issuer"], subject["id"] = r.Subject.Issuer, r.Subject.ID
	}
	return map[string]any{
		"subject": subject,
		"capability": map[string]any{
			"id": r.ID, "name": r.Name, "effect": r.Effect, "idempotency": r.Idempotency, "world": r.World, "tags": append([]string{}, r.Tags...),
		},
		"arguments": arguments,
	}, nil
}
