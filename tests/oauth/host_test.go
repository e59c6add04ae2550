package oauth

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/authz/bearer"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/host"
	"github.com/capgen/capgen/runtime/search"
)

// hostVariable makes the test binary the program that is tried.
const hostVariable = "OAUTH_TEST_HOST"

func TestMain(m *testing.M) {
	runtime.ServeWorkerAndExit()
	if os.Getenv(hostVariable) != "" {
		endWithTest()
		os.Exit(host.Main(options()))
	}
	os.Exit(m.Run())
}

// endWithTest ends this process when that of the test has ended, killed or not:
// the other end of the pipe is open there alone.
func endWithTest() {
	test := os.NewFile(3, "test")
	go func() {
		_, _ = io.Copy(io.Discard, test) // until its end
		os.Exit(1)
	}()
}

// options are of a server whose capabilities tell who calls.
func options() host.Options {
	return host.Options{
		Name: "who", Version: "1.0.0", Tokens: bearer.Configured,
		Build: func(ctx context.Context, env host.Env) (*runtime.Server, error) {
			b := runtime.NewBuilder(runtime.Options{
				Server: runtime.ServerInfo{Name: "who", Version: "1.0.0"}, Authorizer: authz.AllowAll(),
				Deployment: env.Deployment, Logger: env.Logger, IdleWorkers: env.IdleWorkers, Sandbox: env.Sandbox,
			})
			b.Register(capability("who.reads", "records:read"))
			b.Register(capability("who.writes", "records:write"))
			b.Require(runtime.RequireVerifier)
			return b.Build(ctx)
		},
	}
}

// nothing and text are what the generator would emit.
type nothing struct{}

func (*nothing) Decode(r *canon.Reader) error {
	r.BeginObject()
	for r.NextMember() {
		r.UnknownMember()
	}
	return r.Err()
}

func (*nothing) Encode(w *canon.Writer) {
	w.BeginObject(0)
	w.EndObject()
}

type text struct{ string }

func (v *text) Encode(w *canon.Writer) { w.String(v.string, 0, 1000) }

func capability(name, scope string) runtime.Capability {
	const summary = "Tell who calls."
	return runtime.NewCapability(runtime.Info{
		ID: name, Name: name, Summary: summary, Effect: runtime.EffectRead, Scopes: []string{scope},
		Idempotency: runtime.IdempotencyNatural, World: runtime.WorldClosed, Signature: name + "()",
		Search:  search.Analyze(search.Texts{Name: name, Summary: summary}),
		Binding: `{"id":"` + name + `","name":"` + name + `","input":[],"output":{"kind":"string","maxLength":1000}}`,
		Input:   `{}`, Output: `"str"`,
	}, func(ctx context.Context, _ nothing) (text, error) {
		subject, ok := authz.SubjectFromContext(ctx)
		if !ok {
			return text{}, errors.New("nobody calls")
		}
		return text{subject.String()}, nil
	})
}

// serve starts the program on a port of its own, which is in its public URL,
// and ends it by a signal.
func serve(t *testing.T, args ...string) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	url = fmt.Sprintf("http://%s/mcp", address)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(self, append([]string{"http", "--listen", address, "--public-url", url}, args...)...)
	command.Env = []string{hostVariable + "=1"}
	log, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command.ExtraFiles = []*os.File{theirs}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	lines, ready := bufio.NewScanner(log), false
	for !ready && lines.Scan() {
		if ready = regexp.MustCompile(`msg="serving MCP"`).MatchString(lines.Text()); !ready {
			t.Log(lines.Text())
		}
	}
	if !ready {
		t.Fatalf("the server does not start: %v", command.Wait())
	}
	rest := make(chan struct{})
	go func() {
		defer close(rest)
		for lines.Scan() {
		}
	}()
	t.Cleanup(func() {
		if err := command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		<-rest
		if err := command.Wait(); err != nil {
			t.Error(err)
		}
		ours.Close()
	})
	return url
}
