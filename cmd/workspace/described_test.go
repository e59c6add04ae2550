package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/generated/catalog"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/schema"
)

// TestDescriptionIsWhatIsServed: what a review counts as read by a model is
// what a server answers.
func TestDescriptionIsWhatIsServed(t *testing.T) {
	const name = "capabilities.yaml"
	sources := map[string][]byte{}
	for _, name := range []string{name, "capabilities/drafts.yaml"} {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		sources[name] = text
	}
	m, diags := schema.Load(sources, name)
	if m == nil || len(m.Capabilities) == 0 {
		t.Fatal(diags)
	}
	b := runtime.NewBuilder(runtime.Options{Authorizer: authz.AllowAll()})
	catalog.Register(b, catalog.Handlers{Files: serve(t, nil), Drafts: &drafts{}, Govern: new(govern.Service)})
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
