package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// session is one client's view of the server: of the older era with an id, of
// the current one, in which each request stands for itself, without.
type session struct {
	url    string
	client *http.Client
	user   int
	id     string
	calls  atomic.Int64
}

// request is one tool call, less its id, in both eras, and what a good answer
// holds; nil is not known yet.
type request struct {
	name, tool    string
	older, modern string
	want          json.RawMessage
}

func newRequest(name, tool string, arguments any) *request {
	const meta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	text, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // maps of strings always encode
	}
	body := func(more string) string {
		return fmt.Sprintf(`,"jsonrpc":"2.0","method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, tool, text, more)
	}
	return &request{name: name, tool: tool, older: body(""), modern: body(`,"_meta":` + meta)}
}

// How a call ended.
const (
	succeeded = "succeeded"
	refused   = "refused" // at once, because of a limit: nothing ran
	late      = "late"    // it waited for a worker until its time was over: nothing ran
	failed    = "failed"
)

// outcome is how, after which time, and what a failure says.
type outcome struct {
	how  string
	took time.Duration
	says string
}

// queues are the limits by which a server refuses calls that come too fast.
const queues = " MaxQueuedPerSubject MaxQueuedExecutions MaxCallsPerSubject MaxCallsPerSecond "

func (s *session) send(ctx context.Context, method string, body []byte, headers ...string) (*http.Response, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.url, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Authorization", fmt.Sprintf("Bearer user-%d", s.user))
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	if s.id != "" {
		headers = append(headers, "Mcp-Session-Id", s.id, "Mcp-Protocol-Version", "2025-11-25")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := s.client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, text, err
}

// call makes one call and judges the answer.
func (s *session) call(ctx context.Context, r *request) (o outcome) {
	began := time.Now()
	defer func() { o.took = time.Since(began) }()
	body, headers := r.older, []string(nil)
	if s.id == "" {
		body, headers = r.modern, []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", r.tool}
	}
	// Calls that are on their way at once have ids of their own in a session.
	response, text, err := s.send(ctx, "POST", fmt.Appendf(nil, `{"id":%d%s`, s.calls.Add(1), body), headers...)
	switch {
	case err != nil:
		return outcome{how: failed, says: err.Error()}
	case response.StatusCode == http.StatusServiceUnavailable && response.Header.Get("Retry-After") != "":
		return outcome{how: refused, says: "MaxRequests"}
	case response.StatusCode != http.StatusOK:
		return outcome{how: failed, says: fmt.Sprintf("%s %.200s", response.Status, text)}
	}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		if i := bytes.LastIndex(text, []byte("\ndata: {")); i >= 0 {
			text = text[i+len("\ndata: "):]
		}
	}
	var answer struct {
		Result struct {
			StructuredContent json.RawMessage
			IsError           bool
		}
		Error json.RawMessage
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Error != nil {
		return outcome{how: failed, says: fmt.Sprintf("%v %.200s", err, text)}
	}
	content := answer.Result.StructuredContent
	if !answer.Result.IsError {
		switch {
		case r.want == nil:
			r.want = content
		case !bytes.Equal(content, r.want):
			return outcome{how: failed, says: fmt.Sprintf("%s answers %.200s", r.name, content)}
		}
		return outcome{how: succeeded}
	}
	var failure struct {
		Error struct{ Limit, Message, Hint string }
	}
	if err := json.Unmarshal(content, &failure); err != nil {
		return outcome{how: failed, says: err.Error()}
	}
	e := failure.Error
	switch nothing := strings.Contains(e.Message, "nothing ran") && e.Hint != ""; {
	case nothing && e.Limit != "" && strings.Contains(queues, " "+e.Limit+" "):
		return outcome{how: refused, says: e.Limit}
	case nothing && e.Limit == "MaxExecutionTime":
		return outcome{how: late, says: e.Limit}
	}
	return outcome{how: failed, says: fmt.Sprintf("%s: %.300s", r.name, content)}
}

// open begins a session of the older era; one of the current has no beginning.
func (s *session) open(t testing.TB) {
	t.Helper()
	const body = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1"}}}`
	response, text, err := s.send(t.Context(), "POST", []byte(body))
	if err != nil || response.Header.Get("Mcp-Session-Id") == "" {
		t.Fatalf("no session: %v %s", err, text)
	}
	s.id = response.Header.Get("Mcp-Session-Id")
	if response, _, err = s.send(t.Context(), "POST", []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)); err != nil || response.StatusCode != http.StatusAccepted {
		t.Fatalf("initialized: %v", err)
	}
}

func (s *session) close(t *testing.T) {
	t.Helper()
	if response, _, err := s.send(t.Context(), "DELETE", nil); err != nil || response.StatusCode != http.StatusNoContent {
		t.Errorf("the session does not end: %v", err)
	}
}
