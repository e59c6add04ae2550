package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/examples/agentstubs/generated/catalog"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/host"
)

// loadVariable makes the test binary a server. It holds the path of a worker
// binary, or a word for none. patientVariable gives that patientLimits.
const (
	loadVariable    = "AGENTSTUBS_LOAD_WORKER"
	ownWorker       = "own"
	patientVariable = "AGENTSTUBS_LOAD_PATIENT"
)

// patientLimits let a machine be as slow as it likes: few calls wait, and no
// time passes.
func patientLimits() runtime.Limits {
	return runtime.Limits{MaxExecutionTime: 2 * time.Minute, MaxQueuedExecutions: 40, MaxQueuedPerSubject: 8}
}

// manyUsers takes a token for the name of whoever sends it.
type manyUsers struct{}

func (manyUsers) Verify(_ context.Context, token string) (authz.Subject, error) {
	if !strings.HasPrefix(token, "user-") {
		return authz.Subject{}, authz.ErrUnauthenticated
	}
	return authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: token, Scopes: authz.AllScopes()}, nil
}

// serveLoad is the process that is put under load: this host, with its default
// limits unless they are to be patient, and many users.
func serveLoad() int {
	return host.Main(host.Options{
		Name:     "agentstubs",
		Verifier: func(context.Context, host.Env) (authz.Verifier, error) { return manyUsers{}, nil },
		Build: func(ctx context.Context, env host.Env) (*runtime.Server, error) {
			worker := os.Getenv(loadVariable)
			if worker == ownWorker {
				worker = ""
			}
			options := runtime.Options{
				Server: catalog.Server(), Authorizer: authz.AllowAll(), Logger: env.Logger, WorkerExecutable: worker, Sandbox: env.Sandbox,
			}
			if os.Getenv(patientVariable) != "" {
				options.Limits = patientLimits()
			}
			b := runtime.NewBuilder(options)
			catalog.Register(b, handlers())
			return b.Build(ctx)
		},
	})
}

// loaded is that process, seen from outside.
type loaded struct {
	cmd *exec.Cmd
	url string
	log sync.WaitGroup
}

func startLoaded(t *testing.T, worker string, patient bool) *loaded {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if worker == "" {
		worker = ownWorker
	}
	s := &loaded{cmd: exec.Command(self, "http", "--listen", "127.0.0.1:0")}
	s.cmd.Env = append(os.Environ(), loadVariable+"="+worker)
	if patient {
		s.cmd.Env = append(s.cmd.Env, patientVariable+"=1", "GORACE=atexit_sleep_ms=0")
	}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	begin := ""
	for s.url == "" && lines.Scan() {
		begin += lines.Text() + "\n"
		if m := regexp.MustCompile(`msg="serving MCP".* url=(\S+)`).FindStringSubmatch(lines.Text()); m != nil {
			s.url = m[1]
		}
	}
	if s.url == "" {
		t.Fatalf("the server does not start:\n%s", begin)
	}
	s.log.Go(func() {
		for lines.Scan() {
			if strings.Contains(lines.Text(), "level=ERROR") {
				t.Errorf("the server logs: %s", lines.Text())
			}
		}
	})
	return s
}

// end stops it as an operator does.
func (s *loaded) end(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	s.log.Wait()
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the server ends with %v", err)
	}
}

// resident is the memory of the process in bytes, without its workers'.
func (s *loaded) resident() (bytes int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(text)
	if m == nil {
		return 0, errors.New("no VmRSS")
	}
	kib, err := strconv.Atoi(string(m[1]))
	return kib << 10, err
}

// processorTime of the process and of the workers that it has reaped.
func (s *loaded) processorTime() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	sum := 0
	for i, field := range strings.Fields(rest) {
		if i >= 11 && i <= 14 { // utime, stime, cutime, cstime (proc_pid_stat(5))
			ticks, err := strconv.Atoi(field)
			if err != nil {
				return 0
			}
			sum += ticks
		}
	}
	return time.Duration(sum) * (time.Second / 100) // USER_HZ is 100 on Linux
}
