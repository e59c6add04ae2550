package rego_test

import (
	"context"
	"fmt"
	"os"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/authz/rego"
)

func Example() {
	ctx := context.Background()
	schema, err := os.ReadFile("../../generated/policy/input.schema.json")
	if err != nil {
		panic(err)
	}
	policies, err := rego.New(ctx, rego.Options{Schema: schema, Policies: map[string]string{"calls.rego": `
package capgen

allow if input.subject.kind == "local"

allow if {
	input.capability.id == "files.read"
	every p in input.arguments.paths { p in {"README.md", "LICENSE"} }
}
`}})
	if err != nil {
		panic(err)
	}
	r := authz.Request{
		Subject: authz.Subject{Kind: authz.KindDevelopment}, ID: "files.read", Name: "files.read", Effect: "read",
		View: func() (map[string]any, error) { return map[string]any{"paths": []any{"README.md"}}, nil },
	}
	fmt.Println(policies.Authorize(ctx, r))
	r.ID = "files.list"
	fmt.Println(policies.Authorize(ctx, r))
	// Output:
	// <nil>
	// rego: data.capgen.allow is undefined: authz: denied
}
