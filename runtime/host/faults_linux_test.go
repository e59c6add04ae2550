package host

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// children are the processes that pid has started.
func children(t *testing.T, pid int) (pids []int) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, child)
		}
	}
	return pids
}

// post sends one message of a session, or the one that begins it.
func post(t *testing.T, endpoint, session, message string) (newSession string, status int) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", endpoint, strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	r.Close = true
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.Header.Get("Mcp-Session-Id"), response.StatusCode
}

// A process that is killed leaves no workers, and one that takes its place
// serves its clients and their results.
func TestKillAndRestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	first, endpoint := serveHTTP(t, nil, "--results-dir", dir)
	modern, err := dial(t, endpoint, "", "2026-07-28")
	if err != nil {
		t.Fatal(err)
	}
	defer modern.Close()
	session, status := post(t, endpoint, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if session == "" || status != 200 {
		t.Fatal(status)
	}
	r, err := modern.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute", Arguments: map[string]any{"source": largeProgram}})
	if err != nil || len(r.Content) != 2 {
		t.Fatal(err)
	}
	uri := r.Content[1].(*mcp.ResourceLink).URI
	whole := read(t, modern, uri)
	lost := make(chan error, 1)
	go func() {
		_, err := modern.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute", Arguments: map[string]any{"source": "clock.wait(millis=60000)"}})
		lost <- err
	}()
	first.waitFor("waiting")
	workers := children(t, first.cmd.Process.Pid)
	if len(workers) == 0 {
		t.Fatal("no workers")
	}
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-lost; err == nil {
		t.Error("the call was answered")
	}
	first.exit()
	for _, pid := range workers {
		for i := 0; !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH); i++ {
			if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || strings.Contains(string(stat), ") Z ") {
				break // nobody waits for it here, but it has ended
			}
			if i == 1000 {
				t.Fatalf("worker %d lives", pid)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	serveHTTP(t, nil, "--results-dir", dir, "--listen", strings.TrimSuffix(strings.TrimPrefix(endpoint, "http://"), "/mcp"))
	if again := read(t, modern, uri); again != whole {
		t.Error("the result is another")
	}
	if got := executeOver(t, modern, "clock.wait(millis=1)"); got != `{"result":"waited"}` {
		t.Error(got)
	}
	// This is what tells a client to begin another session.
	if _, status := post(t, endpoint, session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); status != 404 {
		t.Errorf("a session of the process before: %d", status)
	}
}

// A server that a test starts ends with it, also if the test is killed: then
// the pipe between the two is closed.
func TestChildrenEndWithTheTest(t *testing.T) {
	c, _ := serveHTTP(t, nil)
	c.life.Close()
	if code := c.exit(); code != 3 {
		t.Errorf("exit code %d", code)
	}
}

// Under load, a signal loses no call that has begun, and runs none that was
// refused.
func TestSignalUnderLoad(t *testing.T) {
	c, endpoint := serveHTTP(t, nil)
	var answered atomic.Int64
	var all sync.WaitGroup
	for i := range 6 {
		s, err := dial(t, endpoint, "", bothEras[i%2])
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			defer s.Close()
			for {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "execute", Arguments: map[string]any{"source": "clock.wait(millis=20)"}})
				late := ctx.Err() != nil
				cancel()
				if err != nil {
					if late {
						t.Errorf("no answer: %v", err)
					}
					return
				}
				if text := r.Content[0].(*mcp.TextContent).Text; text != `{"result":"waited"}` {
					t.Error(text)
				}
				answered.Add(1)
			}
		})
	}
	for answered.Load() < 30 {
		time.Sleep(5 * time.Millisecond)
	}
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	if code := c.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if done := strings.Count(c.stderr(), "tool=execute"); int64(done) != answered.Load() {
		t.Errorf("%d programs ran, %d were answered", done, answered.Load())
	}
}
