package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/internal/gate"
	"github.com/capgen/capgen/runtime/host"
	"github.com/capgen/capgen/runtime/mcphttp"
	"github.com/capgen/capgen/runtime/mcpserver"
)

// BenchmarkGateOverhead bounds what everything around the SDK costs: a
// describe_api over HTTP as a host serves it, by a handler on the same SDK that
// answers with the same bytes behind the same verifier.
func BenchmarkGateOverhead(b *testing.B) {
	for _, era := range []string{"2026-07-28", "2025-11-25"} {
		b.Run(era, func(b *testing.B) {
			ours := &session{url: serveOurs(b), client: http.DefaultClient}
			describe := newRequest("describe", "describe_api", map[string]string{"name": "orders.list"})
			ours.begin(b, era)
			if o := ours.call(b.Context(), describe); o.how != succeeded {
				b.Fatalf("%+v", o)
			}
			control := &session{url: serveControl(b, describe.want), client: http.DefaultClient}
			control.begin(b, era)
			call := func(s *session) func() {
				return func() {
					if o := s.call(b.Context(), describe); o.how != succeeded {
						b.Fatalf("%+v", o)
					}
				}
			}
			gate.Ratio(b, 1.3, call(ours), call(control))
		})
	}
}

func (s *session) begin(tb testing.TB, era string) {
	if era < "2026-07-28" {
		s.open(tb)
	}
}

func serveHandler(b *testing.B, handler http.Handler) string {
	server := httptest.NewServer(handler)
	b.Cleanup(server.Close)
	return server.URL + mcphttp.DefaultPath
}

// serveOurs serves this host as the command http does.
func serveOurs(b *testing.B) string {
	built, err := build(b.Context(), host.Env{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { built.Close() })
	h, err := mcphttp.New(mcphttp.Options{Verifier: manyUsers{}})
	if err != nil {
		b.Fatal(err)
	}
	// The load of one client is more than one subject may make.
	many := &mcpserver.Limits{MaxCallsPerSecond: 1 << 30}
	s, err := mcpserver.New(mcpserver.Options{Runtime: built, Subjects: authz.ContextSubject(), Middleware: h.Middleware(), PerSubject: many})
	if err != nil {
		b.Fatal(err)
	}
	return serveHandler(b, h.Handler(s))
}

// serveControl serves the same bytes with as little around the SDK as can be.
func serveControl(b *testing.B, content json.RawMessage) string {
	s := mcp.NewServer(&mcp.Implementation{Name: "control", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: mcpserver.DescribeTool, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: content, Content: []mcp.Content{&mcp.TextContent{Text: string(content)}}}, nil
	})
	always := func(*http.Request) *mcp.Server { return s }
	modern := mcp.NewStreamableHTTPHandler(always, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
	older := mcp.NewStreamableHTTPHandler(always, nil)
	verify := func(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		subject, err := manyUsers{}.Verify(ctx, token)
		if err != nil {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{UserID: subject.String()}, nil
	}
	either := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" {
			modern.ServeHTTP(w, r)
		} else {
			older.ServeHTTP(w, r)
		}
	})
	return serveHandler(b, auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(either))
}
