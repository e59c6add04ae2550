package mcpserver_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/mcpserver"
)

// shelf is a ResultStore of one subject.
type shelf struct {
	full bool
	text []byte
}

func (s *shelf) Put(subject authz.Subject, text []byte) (string, error) {
	if s.full {
		return "", errors.New("a secret of the store")
	}
	s.text = text
	return "0123", nil
}

func (s *shelf) Get(subject authz.Subject, id string) ([]byte, error) {
	if s.text == nil || id != "0123" || subject.String() != "local" {
		return nil, errors.New("a secret of the store")
	}
	return s.text, nil
}

// A result that is too large is answered with a link, and never cut.
func TestLargeResultsAreLinked(t *testing.T) {
	result := `["` + strings.Repeat("é", 600) + `",9007199254740993]`
	for _, protocol := range []string{"2026-07-28", "2025-11-25"} {
		store := &shelf{}
		s := connectAs(t, mcpserver.Options{Runtime: execution(result, false), Results: store, MaxResultBytes: 1000}, protocol)
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute", Arguments: map[string]any{"source": ""}})
		if err != nil || r.IsError || len(r.Content) != 2 {
			t.Fatalf("%+v, %v", r, err)
		}
		link, ok := r.Content[1].(*mcp.ResourceLink)
		if !ok || link.URI != "capgen://results/0123" || link.MIMEType != "application/json" || *link.Size != int64(len(result)) {
			t.Errorf("%+v", link)
		}
		var content struct {
			Result  json.RawMessage
			Receipt struct{ Notes []string }
		}
		text := r.Content[0].(*mcp.TextContent).Text
		if err := json.Unmarshal([]byte(text), &content); err != nil || content.Result != nil || len(content.Receipt.Notes) != 1 || !strings.Contains(text, link.URI) {
			t.Errorf("%s: %v", text, err)
		}
		if err := outputSchema(t, s, "execute").Validate(decode(t, []byte(text))); err != nil {
			t.Error(err)
		}
		read := func(uri string) (string, error) {
			r, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			if err != nil {
				return "", err
			}
			if r.CacheScope != "private" {
				t.Errorf("%s: whoever caches it may serve it to others: %q", protocol, r.CacheScope)
			}
			return r.Contents[0].Text, nil
		}
		if got, err := read(link.URI); err != nil || got != result {
			t.Errorf("%.60s %v", got, err)
		}
		if got, err := read(link.URI + "?offset=1&limit=1"); err != nil || got != `{"items":[9007199254740993],"total":2}` {
			t.Errorf("%.60s %v", got, err)
		}
		for _, uri := range []string{"capgen://results/0124", "capgen://results/", "capgen://results/../0123", "capgen://other/0123", link.URI + "?offset=x", "file:///etc/passwd"} {
			if got, err := read(uri); err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %q %v", uri, got, err)
			}
		}
		// No list tells of it.
		list, err := s.ListResources(t.Context(), nil)
		if err != nil || len(list.Resources) != 0 {
			t.Errorf("%+v %v", list, err)
		}
		// Small results, and all where there is no room, stay in the answer.
		store.full = true
		if r, err = s.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute", Arguments: map[string]any{"source": ""}}); err != nil || len(r.Content) != 1 || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, result) {
			t.Errorf("%+v %v", r, err)
		}
	}
	s := connect(t, mcpserver.Options{Runtime: execution(result, false), Results: &shelf{}})
	if content, _ := call(t, s, "execute", `{"source":""}`); !strings.Contains(content, "9007199254740993") {
		t.Errorf("%.80s", content)
	}
	s = connect(t, mcpserver.Options{Runtime: execution(result, false)})
	if got := s.InitializeResult().Capabilities.Resources; got != nil {
		t.Error("resources without a store")
	}
	if _, err := mcpserver.New(mcpserver.Options{Runtime: execution(result, false), Subjects: local, MaxResultBytes: -1}); err == nil {
		t.Error("a negative bound is taken")
	}
}

// A kept result is its subject's, however the URI was come by.
func TestKeptResultOfAnotherSubject(t *testing.T) {
	s := connect(t, mcpserver.Options{Runtime: execution("1", false), Results: &shelf{text: []byte("1")}, Subjects: authz.StaticSubject(authz.Demo())})
	_, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "capgen://results/0123"})
	_, unknown := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "capgen://results/none"})
	if err == nil || unknown == nil || strings.ReplaceAll(err.Error(), "0123", "none") != unknown.Error() {
		t.Errorf("foreign: %v\nunknown: %v", err, unknown)
	}
}

func TestSubjectsAreHeldToTheirLimits(t *testing.T) {
	s := connect(t, mcpserver.Options{Runtime: execution("1", false), PerSubject: &mcpserver.Limits{MaxCallsPerSecond: 1}})
	refused := 0
	for range 10 {
		if content, r := call(t, s, "execute", `{"source":""}`); r.IsError {
			refused++
			if !strings.Contains(content, `"limit":"MaxCallsPerSecond","bound":1`) || strings.Contains(content, "receipt") {
				t.Errorf("%s", content)
			}
		}
	}
	if refused < 5 {
		t.Errorf("%d of 10 were refused", refused)
	}
}
