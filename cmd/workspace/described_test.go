package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/codegen"
	generated "github.com/capgen/capgen/generated/files"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/schema"
)

// TestDescriptionIsWhatIsServed: what a review counts as read by a model is
// what a server answers.
func TestDescriptionIsWhatIsServed(t *testing.T) {
	const name = "capabilities.yaml"
	text, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	m, diags := schema.Load(map[string][]byte{name: text}, name)
	if m == nil || len(m.Capabilities) == 0 {
		t.Fatal(diags)
	}
	b := runtime.NewBuilder(runtime.Options{Authorizer: authz.AllowAll()})
	generated.Register(b, serve(t, nil))
	server, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, c := range m.Capabilities {
		served, err := server.Describe(t.Context(), authz.Local(), []string{c.Name})
		if err != nil || len(served.Capabilities) != 1 {
			t.Fatalf("%s: %+v, %v", c.Name, served, err)
		}
		want, err := json.Marshal(served.Capabilities[0])
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), string(codegen.Description(c))); d != "" {
			t.Errorf("%s: %s", c.Name, d)
		}
	}
}
