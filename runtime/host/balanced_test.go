package host

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const largeProgram = "['x' * 1000 for i in range(400)]"

// Two processes serve one client of the current era through a proxy that sends
// them each request in turn, and each has the results that the other kept.
func TestTwoProcessesServeOneClient(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	var backends [2]*httputil.ReverseProxy
	var children [2]*child
	for i := range backends {
		c, endpoint := serveHTTP(t, []string{"CAPGEN_TOKEN=" + childToken}, "--results-dir", dir)
		target, err := url.Parse(strings.TrimSuffix(endpoint, "/mcp"))
		if err != nil {
			t.Fatal(err)
		}
		backends[i] = &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
		children[i] = c
	}
	var turn atomic.Int64
	proxy := httptest.NewServer(balance(&turn, backends[:]))
	defer proxy.Close()
	s, err := dial(t, proxy.URL+"/mcp", childToken, "2026-07-28")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 4 {
		if got := executeOver(t, s, "clock.wait(millis=1)"); got != `{"result":"waited"}` {
			t.Error(got)
		}
	}
	for range 3 { // an odd number of requests a round: each process keeps and reads
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute", Arguments: map[string]any{"source": largeProgram}})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Content) != 2 {
			t.Fatalf("no link: %.300s", r.Content[0].(*mcp.TextContent).Text)
		}
		uri := r.Content[1].(*mcp.ResourceLink).URI
		whole, pages := read(t, s, uri), 0
		if len(whole) < 400_000 {
			t.Errorf("%d bytes", len(whole))
		}
		var items []json.RawMessage
		for next := uri + "?offset=0&limit=150"; next != ""; pages++ {
			var part struct {
				Items []json.RawMessage
				Next  string
			}
			if err := json.Unmarshal([]byte(read(t, s, next)), &part); err != nil {
				t.Fatal(err)
			}
			items, next = append(items, part.Items...), part.Next
		}
		if again, err := json.Marshal(items); err != nil || string(again) != whole || pages != 3 {
			t.Errorf("%d items in %d parts, %v", len(items), pages, err)
		}
	}
	for _, c := range children { // the log of a call may come behind its answer
		c.waitForCount("tool=execute subject=shared-token", 2)
	}
}

// balance sends requests to backends in turn.
func balance(turn *atomic.Int64, backends []*httputil.ReverseProxy) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		backends[turn.Add(1)%int64(len(backends))].ServeHTTP(w, r)
	})
}

func read(t *testing.T, s *mcp.ClientSession, uri string) string {
	t.Helper()
	r, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		t.Fatal(err)
	}
	return r.Contents[0].Text
}

// Cancelling ends the program and what it calls, in both eras.
func TestCancelOverHTTP(t *testing.T) {
	c, endpoint := serveHTTP(t, nil)
	for i, protocol := range bothEras {
		s, err := dial(t, endpoint, "", protocol)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "execute", Arguments: map[string]any{"source": "clock.wait(millis=60000)"}})
			failed <- err
		}()
		c.waitForCount("waiting\n", 2*i+1) // "stopped waiting" holds it too
		cancel()
		c.waitForCount("stopped waiting\n", i+1)
		if err := <-failed; err == nil {
			t.Errorf("%s: no error", protocol)
		}
		s.Close()
	}
	c.waitForCount("class=cancelled", 2)
}

// Progress comes from inside a program, to whoever asked for it.
func TestProgressOverHTTP(t *testing.T) {
	_, endpoint := serveHTTP(t, nil)
	for _, protocol := range bothEras {
		heard := make(chan *mcp.ProgressNotificationParams, 10)
		client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { heard <- r.Params },
		})
		s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: endpoint}, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
		if err != nil {
			t.Fatal(err)
		}
		params := &mcp.CallToolParams{Name: "execute", Arguments: map[string]any{"source": "clock.wait(millis=1)\nclock.wait(millis=300)\nclock.wait(millis=300)"}}
		params.SetProgressToken("p")
		if _, err := s.CallTool(t.Context(), params); err != nil {
			t.Fatal(err)
		}
		for i := range 2 { // of the last call the answer may come first
			if p := <-heard; p.ProgressToken != "p" || p.Progress != float64(i+1) || p.Message != "clock.wait done" {
				t.Errorf("%s: %+v", protocol, p)
			}
		}
		s.Close()
	}
}
