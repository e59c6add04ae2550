package mcphttp

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Metrics counts what a Server does, for Prometheus to scrape. A nil Metrics
// counts nothing. It is safe for concurrent use.
type Metrics struct {
	set       *metrics.Set
	answering atomic.Int64
}

// NewMetrics returns metrics that begin at zero.
func NewMetrics() *Metrics {
	m := &Metrics{set: metrics.NewSet()}
	m.set.NewGauge("capgen_http_requests_in_flight", func() float64 { return float64(m.answering.Load()) })
	return m
}

// ServeHTTP writes them in Prometheus' text format.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	m.set.WritePrometheus(w)
}

// watch adds what s knows.
func (m *Metrics) watch(s *Server) {
	if m == nil {
		return
	}
	m.set.GetOrCreateGauge("capgen_mcp_sessions", func() float64 { return float64(s.sessions.count()) })
}

func (m *Metrics) begin() {
	if m != nil {
		m.answering.Add(1)
	}
}

func (m *Metrics) end(status int) {
	if m == nil {
		return
	}
	m.answering.Add(-1)
	m.set.GetOrCreateCounter(fmt.Sprintf(`capgen_http_requests_total{status="%d"}`, status)).Inc()
}

// calls counts tool calls by tool and outcome. A name is only used once the
// MCP server has found a tool of that name, so that clients cannot make series
// up.
func (m *Metrics) calls(next mcp.MethodHandler) mcp.MethodHandler {
	if m == nil {
		return next
	}
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		params, ok := request.GetParams().(*mcp.CallToolParamsRaw)
		if !ok {
			return next(ctx, method, request)
		}
		begin := time.Now()
		result, err := next(ctx, method, request)
		outcome, tool := "error", ""
		if answer, ok := result.(*mcp.CallToolResult); ok && err == nil {
			outcome, tool = "ok", params.Name
			if answer.IsError {
				outcome = "tool_error"
			}
		}
		labels := fmt.Sprintf(`{tool=%q,outcome=%q}`, tool, outcome)
		m.set.GetOrCreateCounter("capgen_tool_calls_total" + labels).Inc()
		m.set.GetOrCreatePrometheusHistogram("capgen_tool_call_duration_seconds" + labels).UpdateDuration(begin)
		return result, err
	}
}
