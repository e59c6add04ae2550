// Package conformance holds a server to the MCP conformance suite.
package conformance

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/runtime/mcphttp"
)

var (
	suite  = flag.String("suite", "", "`command` of the suite: node and its script, as make conformance gives them")
	server = flag.String("server", "", "path of the reference server's `program`")
)

// revisions are those whose requirements a server is held to, each frozen at
// its release.
var revisions = []string{"2025-11-25", "2026-07-28"}

// requires runs the suite against url.
func requires(t *testing.T, url, revision string, more ...string) {
	t.Helper()
	command := strings.Fields(*suite)
	command = append(command, "server", "--url", url, "--requirements", revision, "--output-dir", t.TempDir())
	command = append(command, more...)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, command[0], command[1:]...)
	run.Dir = t.TempDir()
	out, err := run.CombinedOutput()
	if i := bytes.Index(out, []byte("=== SUMMARY")); i >= 0 && err == nil {
		out = out[i:]
	}
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

func needsSuite(t *testing.T) {
	t.Helper()
	if *suite == "" {
		t.Skip("no suite is given: make conformance runs it")
	}
}

// The HTTP stack of hosts, with what the suite calls registered beside
// nothing else, meets all that each revision requires.
func TestHTTPStackConforms(t *testing.T) {
	needsSuite(t)
	h, err := mcphttp.New(mcphttp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "fixtures", Version: "1.0.0"}, &mcp.ServerOptions{
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
		},
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	fixtures(s)
	s.AddReceivingMiddleware(h.Middleware()...)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx, l, s) }()
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) { requires(t, "http://"+l.Addr().String()+mcphttp.DefaultPath, revision) })
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// The reference server has three tools and none of the suite's, so what needs
// those fails. The list of failures is frozen: one more fails here, and so
// does one that is no longer there.
func TestReferenceServerFailsAsExpected(t *testing.T) {
	needsSuite(t)
	command := exec.Command(*server, "http", "--root", t.TempDir(), "--listen", "127.0.0.1:0")
	log, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines, url := bufio.NewScanner(log), ""
	for url == "" && lines.Scan() {
		if m := regexp.MustCompile(` url=(\S+)`).FindStringSubmatch(lines.Text()); m != nil {
			url = m[1]
		}
	}
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			expected, err := filepath.Abs("expected-" + revision + ".yml")
			if err != nil {
				t.Fatal(err)
			}
			requires(t, url, revision, "--expected-failures", expected)
		})
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	for lines.Scan() {
	}
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(m.Run())
}
