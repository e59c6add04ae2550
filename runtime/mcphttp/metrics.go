package mcphttp

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/internal/exposition"
)

// Metrics counts what a Server does, for Prometheus to scrape. A nil Metrics
// counts nothing. It is safe for concurrent use.
type Metrics struct {
	set       exposition.Set
	answering atomic.Int64
	sessions  atomic.Pointer[sessions] // of the Server, once there is one

	requests  exposition.Counters
	toolCalls exposition.Counters
	tasks     exposition.Counters
	durations exposition.Histograms
}

// NewMetrics returns metrics that begin at zero. They are of one Server.
func NewMetrics() *Metrics {
	m := new(Metrics)
	m.requests = m.set.Counters("capgen_http_requests_total", "Answered requests.", "status")
	m.set.Gauge("capgen_http_requests_in_flight", "Requests that are not yet answered, streams included.",
		func() float64 { return float64(m.answering.Load()) })
	m.set.Gauge("capgen_mcp_sessions", "Sessions, and streams that wait for news.", func() float64 {
		if s := m.sessions.Load(); s != nil {
			return float64(s.count())
		}
		return 0
	})
	m.toolCalls = m.set.Counters("capgen_tool_calls_total", "Calls of tools.", "tool", "outcome")
	m.durations = m.set.Histograms("capgen_tool_call_duration_seconds", "How long calls of tools took.",
		[]float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}, "tool", "outcome")
	m.tasks = m.set.Counters("capgen_task_requests_total", "Requests of the Tasks extension.", "method", "outcome")
	return m
}

// taskMethods begin the methods of the Tasks extension, which reserves them.
const taskMethods = "tasks/"

// ServeHTTP writes them in Prometheus' text format.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", exposition.ContentType)
	_, _ = m.set.WriteTo(w) // whoever asked may have gone
}

// watch adds what s knows.
func (m *Metrics) watch(s *Server) {
	if m != nil {
		m.sessions.Store(s.sessions)
	}
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
	m.requests.Inc(strconv.Itoa(status))
}

// calls counts tool calls by tool and outcome, and requests about tasks by method. A name is only used once the
// MCP server has found a tool of that name, so that clients cannot make series
// up.
func (m *Metrics) calls(next mcp.MethodHandler) mcp.MethodHandler {
	if m == nil {
		return next
	}
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		params, ok := request.GetParams().(*mcp.CallToolParamsRaw)
		if !ok {
			result, err := next(ctx, method, request)
			if strings.HasPrefix(method, taskMethods) { // the SDK has looked it up: it is one of few
				outcome := "ok"
				if err != nil {
					outcome = "error"
				}
				m.tasks.Inc(method, outcome)
			}
			return result, err
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
		m.toolCalls.Inc(tool, outcome)
		m.durations.Observe(time.Since(begin).Seconds(), tool, outcome)
		return result, err
	}
}
