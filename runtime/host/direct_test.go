package host

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A capability that is a tool, over both transports and in both eras: it is
// listed, answers, refuses what is not good and ends with its client.
func TestDirectTools(t *testing.T) {
	const environment = toolVariable + "=1"
	web, url := serveHTTP(t, []string{environment})
	for _, protocol := range bothEras {
		client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
		for name, transport := range map[string]mcp.Transport{
			"http":  &mcp.StreamableClientTransport{Endpoint: url, MaxRetries: -1, DisableStandaloneSSE: true},
			"stdio": nil,
		} {
			c := web
			if name == "stdio" {
				c = &child{t: t, cmd: childCommand(t, "stdio")}
				c.cmd.Env = append(c.cmd.Env, environment)
				c.cmd.Stderr = c
				transport = &mcp.CommandTransport{Command: c.cmd}
			}
			s, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
			if err != nil {
				t.Fatal(err)
			}
			list, err := s.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != 4 || list.Tools[0].Name != "clock_nap" || !list.Tools[0].Annotations.ReadOnlyHint {
				t.Fatalf("%s %s: %+v, %v", name, protocol, list, err)
			}
			call := func(ctx context.Context, arguments string) (string, error) {
				r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "clock_nap", Arguments: json.RawMessage(arguments)})
				if err != nil {
					return "", err
				}
				return r.Content[0].(*mcp.TextContent).Text, nil
			}
			napping, woken := strings.Count(c.stderr(), "napping"), strings.Count(c.stderr(), "woken")
			if text, err := call(t.Context(), `{"millis":1}`); err != nil || text != `"slept"` {
				t.Errorf("%s %s: %s, %v", name, protocol, text, err)
			}
			if text, err := call(t.Context(), `{"millis":-1}`); err != nil || !strings.Contains(text, `"class":"invalid_arguments"`) || !strings.Contains(text, `"path":"millis"`) {
				t.Errorf("%s %s: %s, %v", name, protocol, text, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { _, err := call(ctx, `{"millis":60000}`); done <- err }()
			c.waitForCount("napping", napping+2)
			cancel()
			if err := <-done; err == nil {
				t.Errorf("%s %s: nothing is cancelled", name, protocol)
			}
			c.waitForCount("woken", woken+1)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Whoever observes the calls of programs observes these, and there are no prints
// that a host could return.
func TestDirectToolsAreObserved(t *testing.T) {
	c, url := serveHTTP(t, []string{toolVariable + "=1", telemetryVariable + "=1", printsVariable + "=1"})
	for i, protocol := range bothEras {
		s, err := dial(t, url, "", protocol)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "clock_nap", Arguments: map[string]any{"millis": 1}})
		if err != nil || len(r.Content) != 1 || r.Content[0].(*mcp.TextContent).Text != `"slept"` || r.StructuredContent != nil {
			t.Errorf("%s: %+v, %v", protocol, r, err)
		}
		c.waitForCount("observed clock.nap done\n", i+1)
		s.Close()
	}
}

// Who lacks a scope of a tool gets a challenge that names all that are needed,
// before anything runs; by a program it is a denial that names it.
func TestDirectToolsNeedTheirScopes(t *testing.T) {
	c, url := serveHTTP(t, []string{toolVariable + "=1", verifierVariable + "=1"})
	for _, protocol := range bothEras {
		s, err := dial(t, url, "cid", protocol)
		if err != nil {
			t.Fatal(err)
		}
		if got := executeOver(t, s, "clock.nap()"); !strings.Contains(got, "the scope clock:nap is required") {
			t.Errorf("%s: by a program: %s", protocol, got)
		}
		if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "clock_nap", Arguments: map[string]any{}}); err == nil || !strings.Contains(err.Error(), "Forbidden") {
			t.Errorf("%s: a subject without the scope calls the tool: %v", protocol, err)
		}
		s.Close()
		s, err = dial(t, url, "ann", protocol)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "clock_nap", Arguments: map[string]any{}}); err != nil || r.IsError {
			t.Errorf("%s: %+v, %v", protocol, r, err)
		}
		s.Close()
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"clock_nap","arguments":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	response, err := (&http.Client{Transport: bearing{"cid"}}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if challenge := response.Header.Get("WWW-Authenticate"); err != nil || response.StatusCode != http.StatusForbidden ||
		challenge != `Bearer error="insufficient_scope", scope="tools:use clock:nap"` || !strings.Contains(string(body), "lacks a scope") {
		t.Errorf("%d %s %s %v", response.StatusCode, challenge, body, err)
	}
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.exit() // then all that it said is there
	if n := strings.Count(c.stderr(), "napping"); n != 2 {
		t.Errorf("%d calls ran, want those of ann", n)
	}
}
