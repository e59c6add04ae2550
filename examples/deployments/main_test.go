package main

import (
	"errors"
	"os"
	"testing"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/examples/deployments/generated/catalog"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

// A test that builds a server starts workers, and a worker is this binary.
func TestMain(m *testing.M) {
	runtime.ServeWorkerAndExit()
	os.Exit(m.Run())
}

// go test -tags capgen_NAME runs this for the deployment NAME.
func TestPrograms(t *testing.T) {
	server, err := build(t.Context(), host.Env{Deployment: catalog.Deployment})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if got := server.Deployment(); got != catalog.Deployment {
		t.Errorf("the server is of %s, the catalog of %s", got, catalog.Deployment)
	}
	destroys := catalog.Deployment == "default"
	for _, c := range []struct{ program, want string }{
		{`letters.render(title = "welcome", name = "Ada")`, `"Welcome, Ada!"`},
		{`letters.shred(title = "welcome").strips`, `32`},
		{`letters.list()`, map[bool]string{true: `["reminder"]`, false: `["reminder","welcome"]`}[destroys]},
		{`furnace.incinerate().grams`, `5`},
	} {
		got, err := server.Execute(t.Context(), authz.Local(), "def main():\n    return "+c.program+"\n")
		if !destroys && (c.want == "32" || c.want == "5") {
			if !errors.Is(err, runtime.ErrCapabilityNotFound) && !errors.Is(err, runtime.ErrInvalidProgram) {
				t.Errorf("%s: %v", c.program, err)
			}
			continue
		}
		if err != nil || string(got.Result) != c.want {
			t.Errorf("%s: got %s, %v; want %s", c.program, got.Result, err, c.want)
		}
	}
}

// A server that means to be another deployment is not built.
func TestDeploymentMustMatch(t *testing.T) {
	if _, err := build(t.Context(), host.Env{Deployment: "staging"}); err == nil {
		t.Error("built")
	}
}
