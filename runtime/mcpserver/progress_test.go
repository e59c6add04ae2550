package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/runtime"
)

// reported runs use in a tool whose client gave token, and returns what the
// client has heard: of at least so many, unless they do not come.
func reported(t *testing.T, protocol string, token any, least int, every time.Duration, use func(r *reporter)) []*mcp.ProgressNotificationParams {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	server.AddTool(&mcp.Tool{Name: "x", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r := report(ctx, request.Session, request.Params.GetProgressToken(), every)
		use(r)
		r.close()
		return &mcp.CallToolResult{}, nil
	})
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var heard []*mcp.ProgressNotificationParams
	client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, r.Params)
		},
	})
	session, err := client.Connect(t.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	params := &mcp.CallToolParams{Name: "x"}
	if token != nil {
		params.SetProgressToken(token)
	}
	if _, err := session.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	// Notifications are handled beside the answer, and may come to it later.
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		mu.Lock()
		now := slices.Clone(heard)
		mu.Unlock()
		if token == nil || len(now) >= least || time.Now().After(end) {
			return now
		}
	}
}

func TestProgress(t *testing.T) {
	for _, protocol := range []string{"2026-07-28", "2025-11-25"} {
		heard := reported(t, protocol, "token", 2, time.Hour, func(r *reporter) {
			x := runtime.CallRecord{Name: "records.lookup", State: runtime.CallDone}
			for x.Sequence = 1; x.Sequence <= 3; x.Sequence++ {
				r.ended <- x
			}
			for len(r.ended) > 0 {
				time.Sleep(time.Millisecond)
			}
		})
		if len(heard) < 2 { // the last may still be on its way to the handler
			t.Fatalf("%s: %d notifications", protocol, len(heard))
		}
		for i, p := range heard {
			if p.ProgressToken != "token" || p.Progress != float64(i+1) || p.Message != "records.lookup done" {
				t.Errorf("%s: %+v", protocol, p)
			}
		}
		// A program that makes no calls is heard of all the same.
		heard = reported(t, protocol, 7, 3, 20*time.Millisecond, func(*reporter) { time.Sleep(500 * time.Millisecond) })
		if len(heard) < 3 || heard[1].Message != "running for 0 s, 0 calls" || heard[1].Progress <= heard[0].Progress {
			t.Errorf("%s: %d notifications", protocol, len(heard))
		}
		// A client that did not ask hears nothing.
		heard = reported(t, protocol, nil, 0, time.Millisecond, func(r *reporter) {
			if r != nil {
				t.Error("a reporter without a token")
			}
			time.Sleep(20 * time.Millisecond)
		})
		if len(heard) > 0 {
			t.Errorf("%s: %+v", protocol, heard[0])
		}
	}
}

// Native calls do not wait for a client that is slow to hear of them.
func TestProgressDoesNotBlock(t *testing.T) {
	r := &reporter{ended: make(chan runtime.CallRecord, progressWaiting), stop: make(chan struct{})}
	if len(r.options()) != 1 {
		t.Fatal("nothing watches")
	}
	if len((*reporter)(nil).options()) != 0 {
		t.Fatal("something watches for nobody")
	}
	for range 3 * progressWaiting { // nobody takes them
		select {
		case r.ended <- runtime.CallRecord{}:
		default:
		}
	}
	if len(r.ended) != progressWaiting {
		t.Errorf("%d wait", len(r.ended))
	}
}
