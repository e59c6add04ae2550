package host

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/authz/bearer"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/search"
)

// childVariable makes the test binary a server: a real one, with real workers.
const childVariable = "HOST_TEST_CHILD"

// quickExit spares each process of a race-enabled test its second of waiting
// at exit.
const quickExit = "GORACE=atexit_sleep_ms=0"

// A package that prints while it is initialized must not reach the client.
var _ = func() bool {
	if os.Getenv(childVariable) != "" { //capgenvet:allow quietinit a careless package is what the test is about
		fmt.Println("noise of a package") //capgenvet:allow quietinit the same
	}
	return true
}()

func TestMain(m *testing.M) {
	runtime.ServeWorkerAndExit()
	if os.Getenv(childVariable) != "" {
		endWithTest()
		os.Exit(Main(childOptions()))
	}
	testscript.Main(m, map[string]func(){
		"child": func() { os.Exit(Main(childOptions())) },
	})
}

// lifeVariable tells a child that its descriptor 3 is a pipe whose other end is
// open in the process of the test alone.
const lifeVariable = "HOST_TEST_LIFE"

// endWithTest ends a child when the process of the test has ended, killed or
// not: over HTTP nothing else would.
func endWithTest() {
	if os.Getenv(lifeVariable) == "" {
		return
	}
	test := os.NewFile(3, "test")
	go func() {
		_, _ = io.Copy(io.Discard, test) // until its end
		os.Exit(3)
	}()
}

// The scripts are the command line as its users see it.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			sample, err := filepath.Abs(filepath.Join("..", "audit", "testdata", "sample"))
			e.Vars = append(e.Vars, quickExit, "SAMPLE="+sample)
			return err
		},
	})
}

var update = flag.Bool("update", false, "write what commands print into the scripts")

func childOptions() Options {
	greeting := ""
	return Options{
		Verifier: func(_ context.Context, env Env) (authz.Verifier, error) {
			switch os.Getenv(verifierVariable) {
			case "":
				return nil, nil
			case "1":
				return onlyAnn{}, nil
			}
			return nil, errors.New("no keys")
		},
		Tokens: bearer.Configured,
		Scopes: []string{"tools:use"}, ReturnPrints: os.Getenv(printsVariable) != "",
		Telemetry: func(_ context.Context, env Env) (Telemetry, error) {
			switch os.Getenv(telemetryVariable) {
			case "":
				return nil, nil
			case "1":
				return tells{}, nil
			}
			return nil, errors.New("no exporter")
		},
		Name: "child", Version: "0.0.1", Summary: "serves tests", Deployment: "prod",
		Extension: extension(),
		Flags:     func(f *flag.FlagSet) { f.StringVar(&greeting, "greeting", "hello", "`text` to answer with") },
		Build: func(ctx context.Context, env Env) (*runtime.Server, error) {
			if os.Stdout != os.Stderr {
				return nil, errors.New("os.Stdout is not standard error before the first code of the host")
			}
			if once := env.IdleWorkers == runtime.NoIdleWorkers; once == (env.Command == "stdio" || env.Command == "http") {
				return nil, fmt.Errorf("%d idle workers for %s", env.IdleWorkers, env.Command)
			}
			if os.Getenv(sandboxVariable) != "" {
				env.Sandbox = runtime.SandboxAuto
			}
			b := runtime.NewBuilder(runtime.Options{
				Server:      runtime.ServerInfo{Name: "child", Version: "0.0.1"},
				Authorizer:  authz.AuthorizerFunc(childPolicy),
				Deployment:  env.Deployment,
				Logger:      env.Logger,
				IdleWorkers: env.IdleWorkers,
				Sandbox:     env.Sandbox,
			})
			if word := os.Getenv(requiringVariable); word != "" {
				b.Require(runtime.Requirement(word))
			}
			b.Register(capability("noise.make", "Print on standard output and read standard input.", func(_ context.Context, in input) (output, error) {
				fmt.Println("noise of a handler")
				fmt.Fprintln(os.Stdout, "noise through os.Stdout")
				syscall.Write(1, []byte("noise through descriptor 1\n"))
				n, err := os.Stdin.Read(make([]byte, 100))
				m, _ := syscall.Read(0, make([]byte, 100))
				return output{fmt.Sprintf("%s, read %d %d %v", greeting, n, m, err)}, nil
			}))
			b.Register(capability("noise.environment", "Look for the token in the environment.", func(context.Context, input) (output, error) {
				if token, ok := os.LookupEnv(tokenVariable); ok {
					return output{token}, nil
				}
				return output{"no token"}, nil
			}))
			b.Register(capability("clock.set", "Set what only few may set.", func(context.Context, input) (output, error) {
				return output{"set"}, nil
			}, "clock:set"))
			b.Register(capability("clock.wait", "Wait until told to stop, or for some milliseconds.", func(ctx context.Context, in input) (output, error) {
				fmt.Fprintln(os.Stderr, "waiting")
				select {
				case <-ctx.Done():
					fmt.Fprintln(os.Stderr, "stopped waiting")
					return output{}, ctx.Err()
				case <-time.After(time.Duration(in.Millis) * time.Millisecond):
					return output{"waited"}, nil
				}
			}))
			if os.Getenv(toolVariable) != "" {
				b.Register(tool("clock.nap", func(ctx context.Context, in input) (output, error) {
					fmt.Fprintln(os.Stderr, "napping")
					select {
					case <-ctx.Done():
						fmt.Fprintln(os.Stderr, "woken")
						return output{}, ctx.Err()
					case <-time.After(time.Duration(in.Millis) * time.Millisecond):
						return output{"slept"}, nil
					}
				}))
			}
			if dir := os.Getenv(jobsVariable); dir != "" {
				for _, c := range jobCapabilities(dir) {
					b.Register(c)
				}
			}
			return b.Build(ctx)
		},
	}
}

// childPolicy has something against two numbers.
func childPolicy(_ context.Context, r authz.Request) error {
	switch view, err := r.View(); {
	case err != nil:
		return err
	case view["millis"] == int64(6666):
		return fmt.Errorf("6666 is not for %s: %w", r.Subject, authz.ErrDenied)
	case view["millis"] == int64(7777):
		return errors.New("nobody knows 7777")
	case view["job"] == deniedJob:
		return fmt.Errorf("nobody asks for %s: %w", deniedJob, authz.ErrDenied)
	}
	return nil
}

// deniedJob is one that childPolicy keeps from everybody.
const deniedJob = "job_dddddddddddddddddddddddddddddddd"

const (
	// verifierVariable gives a child a verifier, or one that cannot be made.
	verifierVariable = "HOST_TEST_VERIFIER"
	// telemetryVariable gives a child telemetry, or one that cannot be made.
	telemetryVariable = "HOST_TEST_TELEMETRY"
	// printsVariable makes a child return prints.
	printsVariable = "HOST_TEST_PRINTS"
	// sandboxVariable makes a child not take the sandbox that it is told to.
	sandboxVariable = "HOST_TEST_SANDBOX"
	// toolVariable gives a child a capability that is a tool of its own.
	toolVariable = "HOST_TEST_TOOL"
	// requiringVariable is a word of what its deployment requires.
	requiringVariable = "HOST_TEST_REQUIRE"
)

// onlyAnn knows three tokens; that of bob has no scope.
type onlyAnn struct{}

func (onlyAnn) Verify(_ context.Context, token string) (authz.Subject, error) {
	switch token {
	case "ann":
	case "cid": // may use the server, but none of its capabilities
		return authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "cid", Scopes: authz.ScopesOf("tools:use")}, nil
	case "bob":
		return authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "bob"}, nil
	default:
		return authz.Subject{}, authz.ErrUnauthenticated
	}
	return authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "ann", Scopes: authz.AllScopes()}, nil
}

// needsSandbox skips where this test binary cannot have the whole sandbox: it
// may link C code, as under the race detector, or the kernel may lack a layer.
func needsSandbox(t *testing.T) {
	t.Helper()
	cmd := childCommand(t, "doctor")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "MISSING") {
		t.Skip("this binary has not the whole sandbox here")
	}
}

// input and output are what the generator would emit.
type input struct{ Millis int64 }

func (v *input) Decode(r *canon.Reader) error {
	var seen canon.Seen
	r.BeginObject()
	for r.NextMember() {
		if string(r.Key()) != "millis" {
			r.UnknownMember()
			continue
		}
		seen.Mark(r, 0)
		v.Millis = r.Int(0, 60000)
	}
	return r.Err()
}

func (v *input) Encode(w *canon.Writer) {
	w.BeginObject(1)
	w.Key("millis")
	w.Int(v.Millis, 0, 60000)
	w.EndObject()
}

type output struct{ Text string }

func (v *output) Encode(w *canon.Writer) { w.String(v.Text, 0, 1000) }

func capability(name, summary string, handle func(context.Context, input) (output, error), scopes ...string) runtime.Capability {
	return runtime.NewCapability(info(name, summary, scopes...), handle)
}

// tool is a capability that is a tool of its own, and needs a scope.
func tool(name string, handle func(context.Context, input) (output, error)) runtime.Capability {
	i := info(name, "Sleep for some milliseconds.", "clock:nap")
	i.Tool = &runtime.DirectTool{
		Name:  strings.ReplaceAll(name, ".", "_"),
		Input: `{"type":"object","properties":{"millis":{"type":"integer","minimum":0,"maximum":60000}},"additionalProperties":false}`,
	}
	return runtime.NewCapability(i, handle)
}

func info(name, summary string, scopes ...string) runtime.Info {
	return runtime.Info{
		ID: name, Name: name, Summary: summary, Effect: runtime.EffectRead, Scopes: scopes,
		Idempotency: runtime.IdempotencyNatural, World: runtime.WorldClosed, Signature: name + "(*, millis: int = 0)",
		Search:  search.Analyze(search.Texts{Name: name, Summary: summary}),
		Binding: `{"id":"` + name + `","name":"` + name + `","input":[{"name":"millis","kind":"integer","maximum":60000,"default":"0"}],"output":{"kind":"string","maxLength":1000}}`,
		Input:   `{"millis":{"maximum":60000}}`, Output: `"str"`,
	}
}

// child is a running server whose streams the test holds.
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	life  io.Closer   // which the child does not survive
	lines chan string // of standard output, closed at its end
	mu    sync.Mutex
	err   bytes.Buffer
}

// Write collects standard error.
func (c *child) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err.Write(p)
}

func (c *child) stderr() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err.String()
}

func childCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = []string{childVariable + "=1", quickExit}
	return cmd
}

func start(t *testing.T, args ...string) *child {
	t.Helper()
	return startWith(t, nil, args...)
}

// startWith starts a child with more variables.
func startWith(t *testing.T, environment []string, args ...string) *child {
	t.Helper()
	c := &child{t: t, cmd: childCommand(t, args...), lines: make(chan string, 1000)}
	c.cmd.Env = append(c.cmd.Env, environment...)
	c.cmd.Stderr = c
	in, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.in = in
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.cmd.ExtraFiles, c.cmd.Env = []*os.File{theirs}, append(c.cmd.Env, lifeVariable+"=1")
	c.life = ours
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(c.lines)
		s := bufio.NewScanner(out)
		s.Buffer(nil, 32<<20)
		for s.Scan() {
			// Over HTTP nothing is on standard output that noise could spoil.
			if noise := s.Text() == "noise of a package"; !noise || args[0] != "http" {
				c.lines <- s.Text()
			}
		}
	})
	t.Cleanup(func() {
		c.cmd.Process.Kill()
		reading.Wait()
		c.cmd.Wait()
		c.life.Close()
		if t.Failed() {
			t.Logf("standard error of the server:\n%s", c.stderr())
		}
	})
	return c
}

func (c *child) send(lines ...string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, strings.Join(lines, "\n")+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// message is what a test looks at of a message from the server.
type message struct {
	Version string `json:"jsonrpc"`
	ID      any
	Method  string
	Result  struct {
		IsError           bool
		StructuredContent struct {
			Result any
			Error  struct{ Class, Message string }
		}
		Tools []struct{ Name string }
	}
	Error *struct {
		Code    int
		Message string
	}
	text string
}

// receive returns the next message. Every line of standard output must be one.
func (c *child) receive() message {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatal("standard output ended")
		}
		m := message{text: line}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" {
			c.t.Fatalf("not a message on standard output: %s", line)
		}
		return m
	case <-time.After(20 * time.Second):
		c.t.Fatal("no message for 20 s")
	}
	panic("not reached")
}

// exit waits for the end of the process, for at most half a minute, and returns
// its exit code, which is -1 where a signal ended it.
func (c *child) exit() int {
	c.t.Helper()
	for {
		select {
		case line, ok := <-c.lines:
			if ok {
				c.t.Errorf("a line nobody waited for: %s", line)
				continue
			}
			c.cmd.Wait()
			return c.cmd.ProcessState.ExitCode()
		case <-time.After(30 * time.Second):
			c.t.Fatal("the process does not end")
		}
	}
}

// waitFor waits for a text on standard error.
func (c *child) waitFor(text string) {
	c.t.Helper()
	c.waitForCount(text, 1)
}

// waitForCount waits until a text is there so often.
func (c *child) waitForCount(text string, n int) {
	c.t.Helper()
	for range 1000 {
		if strings.Count(c.stderr(), text) >= n {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.t.Fatalf("standard error does not say %q %d times", text, n)
}

// initialize opens a session as clients in the field do.
func (c *child) initialize() {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if m := c.receive(); m.ID != "init" || m.Error != nil {
		c.t.Fatalf("initialize: %s", m.text)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func executeCall(id int, source string) string {
	text, _ := json.Marshal(source)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"execute","arguments":{"source":%s}}}`, id, text)
}

const ping = `{"jsonrpc":"2.0","id":"ping","method":"ping"}`
