package policies_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/capgen/capgen/examples/policies"
	"github.com/capgen/capgen/generated/catalog"
	"github.com/capgen/capgen/generated/fake"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

// asServer makes the test binary a server with the Cedar policies of this
// folder.
const asServer = "POLICIES_TEST_AS_SERVER"

func TestMain(m *testing.M) {
	runtime.ServeWorkerAndExit()
	if os.Getenv(asServer) != "" {
		os.Exit(host.Main(host.Options{Name: "desk", Build: func(ctx context.Context, env host.Env) (*runtime.Server, error) {
			policy, err := policies.FromFolder(os.DirFS("../.."), "generated", "examples/policies")
			if err != nil {
				return nil, err
			}
			b := runtime.NewBuilder(runtime.Options{
				Server: catalog.Server(), Authorizer: policy, Deployment: env.Deployment, Logger: env.Logger, IdleWorkers: env.IdleWorkers, Sandbox: env.Sandbox,
			})
			catalog.Register(b, fake.Handlers())
			return b.Build(ctx)
		}}))
	}
	os.Exit(m.Run())
}

// The cases beside the policies are decided as they expect, from canonical
// arguments, and one that is not is told.
func TestCases(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile("reading.cases.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		code int
		says string
	}{
		"as they are": {string(good), host.ExitOK, "5 cases: all are decided as expected\n"},
		"a denial that was expected for another reason": {strings.Replace(string(good), "forbidden by", "no policy", 1), host.ExitFailed, "deny: cedar: forbidden by"},
		"a denial where leave was expected":             {strings.Replace(string(good), `["LICENSE"]}, "expect": "allow"`, `["LICENSE2"]}, "expect": "allow"`, 1), host.ExitFailed, "deny: cedar: no policy permits it: authz: denied"},
	} {
		command := exec.Command(self, "policy", "test", "-")
		command.Env = append(os.Environ(), asServer+"=1")
		command.Stdin = strings.NewReader(c.text)
		var out bytes.Buffer
		command.Stdout = &out
		if err := command.Run(); err != nil && command.ProcessState == nil {
			t.Fatal(err)
		}
		if got := command.ProcessState.ExitCode(); got != c.code || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: exit code %d\n%s", name, got, &out)
		}
	}
}
