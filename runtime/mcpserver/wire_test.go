package mcpserver_test

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/runtime/mcpserver"
)

func TestBothErasAnswerAlike(t *testing.T) {
	for _, protocol := range []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		s := connectAs(t, mcpserver.Options{Runtime: execution(`{"n":1}`, false)}, protocol)
		if got := s.InitializeResult().ProtocolVersion; got != protocol {
			t.Errorf("negotiated %s, want %s", got, protocol)
		}
		if n := len(list(t, s)); n != 3 {
			t.Errorf("%s: %d tools", protocol, n)
		}
		content, r := call(t, s, "execute", `{"source":""}`)
		if content != `{"result":{"n":1}}` || r.IsError || r.Meta[mcpserver.ReceiptKey] == nil {
			t.Errorf("%s: %s, %+v", protocol, content, r)
		}
		if content, r := call(t, s, "execute", `{}`); !r.IsError {
			t.Errorf("%s: %s", protocol, content)
		}
	}
}

// What the SDK's client shows has been through its own decoder; this looks at
// the message itself.
func TestStructuredContentIsNotReencoded(t *testing.T) {
	const result = `{"z":[1.0,1e2,"9007199254740993",12345678901234567890],"a":-0.0}`
	server, err := mcpserver.New(mcpserver.Options{Runtime: execution(result, true), Subjects: local})
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	c, err := near.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	request := `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"execute","arguments":{"source":""},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	message, err := jsonrpc.DecodeMessage([]byte(request))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	answer, err := c.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	response := answer.(*jsonrpc.Response)
	var body struct {
		StructuredContent struct {
			Result  json.RawMessage
			Receipt struct{ Notes []string }
		}
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(response.Result, &body); err != nil {
		t.Fatalf("%s, %v: %v", response.Result, response.Error, err)
	}
	if got := string(body.StructuredContent.Result); got != result {
		t.Errorf("structured result %s, want %s", got, result)
	}
	if len(body.Content) != 1 || len(body.StructuredContent.Receipt.Notes) != 1 {
		t.Fatalf("%s", response.Result)
	}
	if err := json.Unmarshal([]byte(body.Content[0].Text), &body.StructuredContent); err != nil || string(body.StructuredContent.Result) != result {
		t.Errorf("text %s, want the same result", body.Content[0].Text)
	}
}
