package host

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestStdioWithTheSDKClient(t *testing.T) {
	for _, protocol := range []string{"2026-07-28", "2025-11-25"} {
		cmd := childCommand(t, "stdio", "--greeting", "hi")
		client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
		s, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.InitializeResult().ProtocolVersion; got != protocol {
			t.Errorf("negotiated %s, want %s", got, protocol)
		}
		tools, err := s.ListTools(t.Context(), nil)
		if err != nil || len(tools.Tools) != 3 {
			t.Fatalf("tools/list: %+v, %v", tools, err)
		}
		for tool, arguments := range map[string]string{
			"search_api":   `{"query":"wait"}`,
			"describe_api": `{"name":"clock.wait"}`,
			"execute":      `{"source":"def main():\n    print('noise of a program')\n    return clock.wait(millis=1)"}`,
		} {
			r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
			if err != nil {
				t.Fatal(err)
			}
			text := r.Content[0].(*mcp.TextContent).Text
			if r.IsError || !strings.Contains(text, "wait") {
				t.Errorf("%s: %s", tool, text)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if code := cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("exit code %d, want 0 when the input ends", code)
		}
	}
}

// A package init, a handler by three ways, and a program print, and a handler
// reads standard input: the session has only messages, all of them.
func TestPrintsDoNotCorruptTheSession(t *testing.T) {
	for _, args := range [][]string{{"stdio"}, {"stdio", "--log-level=debug", "--log-format", "json"}} {
		c := start(t, args...)
		c.initialize()
		c.send(executeCall(1, "def main():\n    print('noise of a program')\n    return noise.make()"), ping)
		results := map[any]message{}
		for range 2 {
			m := c.receive()
			results[m.ID] = m
		}
		if got := results[1.0].Result.StructuredContent.Result; got != "hello, read 0 0 EOF" {
			t.Errorf("result %v: a handler shares standard input with the protocol (%s)", got, results[1.0].text)
		}
		if results["ping"].text == "" {
			t.Error("a handler took the ping from standard input")
		}
		c.in.Close()
		if code := c.exit(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		// Not before: an answer may overtake what is written to another stream.
		for _, noise := range []string{"noise of a package", "noise of a handler", "noise through os.Stdout", "noise through descriptor 1"} {
			if !strings.Contains(c.stderr(), noise) {
				t.Errorf("%q is not on standard error", noise)
			}
		}
	}
}

func TestBadLines(t *testing.T) {
	c := start(t, "stdio")
	c.initialize()
	for _, tt := range []struct {
		line string
		id   any
		code int
	}{
		{`{`, nil, -32700},
		{`hello`, nil, -32700},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"} trailing`, nil, -32700},
		{"\x00\xff", nil, -32700},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, nil, -32700},
		{`{"jsonrpc":"1.0","id":7,"method":"ping"}`, 7.0, -32600},
		{`{"id":"a","method":"ping"}`, "a", -32600},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, nil, -32600},
		{`{"jsonrpc":"2.0","id":8,"method":5}`, 8.0, -32600},
		{`{}`, nil, -32600},
		// Neither a request nor an answer.
		{`{"jsonrpc":"2.0","id":11}`, 11.0, -32600},
		{`{"jsonrpc":"2.0","id":"b","Method":"ping"}`, "b", -32600},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, nil, -32600},
		{`{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`, "\uFFFD", -32600},
		{"{\"jsonrpc\":\"2.0\",\"id\":\"a\xff\",\"method\":\"ping\"}", nil, -32600},
		{"{\"jsonrpc\":\"1.0\",\"id\":\"a\xff\",\"method\":\"ping\"}", nil, -32600},
		// Ids that the answer would not carry as they came.
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, 1.5, -32600},
		{`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, 9007199254740992.0, -32600},
		{`{"jsonrpc":"2.0","id":92233720368547758070,"method":"ping"}`, 92233720368547758070.0, -32600},
		{`7`, nil, -32600},
		{`null`, nil, -32600},
		{`[]`, nil, -32600},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, nil, -32600},
		{`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, 9.0, -32600},
		{`{"jsonrpc":"2.0","id":10,"method":"ping","params":"` + strings.Repeat("x", maxMessageBytes) + `"}`, nil, -32600},
	} {
		c.send("", tt.line, "\r", ping)
		m := c.receive()
		if m.Error == nil || m.Error.Code != tt.code || m.ID != tt.id {
			t.Errorf("%.60q: %.200s, want id %v and code %d", tt.line, m.text, tt.id, tt.code)
		}
		if m = c.receive(); m.ID != "ping" || m.Error != nil {
			t.Fatalf("%.60q: the session does not go on: %.200s", tt.line, m.text)
		}
	}
	c.send(`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`)
	if m := c.receive(); !strings.Contains(m.text, `"id":9007199254740993,`) {
		t.Errorf("%s: want the id as it came", m.text)
	}
	for _, id := range []string{"1.0", "1e2", "-7", "9007199254740991", `"\u0061"`, `""`} {
		c.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
		var want any
		if err := json.Unmarshal([]byte(id), &want); err != nil {
			t.Fatal(err)
		}
		if m := c.receive(); m.ID != want || m.Error != nil {
			t.Errorf("id %s: %s", id, m.text)
		}
	}
	// Bad lines without an id are told apart from no answer by a null id.
	c.send("{")
	if m := c.receive(); !strings.Contains(m.text, `"id":null`) {
		t.Errorf("%s: want a null id (JSON-RPC 2.0, section 5)", m.text)
	}
	c.send(`{"jsonrpc":"2.0","id":3,"method":"no/such"}`)
	if m := c.receive(); m.ID != 3.0 || m.Error == nil || m.Error.Code != -32601 {
		t.Errorf("unknown method: %s", m.text)
	}
	c.in.Close()
	if code := c.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestLineAtTheLimitIsRead(t *testing.T) {
	c := start(t, "stdio")
	c.initialize()
	// Too long for a program, not for a message.
	frame := len(executeCall(1, ""))
	c.send(executeCall(1, strings.Repeat("#", maxMessageBytes-frame)))
	if m := c.receive(); m.ID != 1.0 || m.Result.StructuredContent.Error.Class != "resource_limit" || !strings.Contains(m.text, "MaxSourceBytes") {
		t.Errorf("%.300s", m.text)
	}
	c.send(executeCall(2, strings.Repeat("#", maxMessageBytes-frame+1)))
	if m := c.receive(); m.ID != nil || m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("%.300s", m.text)
	}
}

func TestIDInUseIsRefused(t *testing.T) {
	c := start(t, "stdio")
	c.initialize()
	c.send(executeCall(5, "def main():\n    return clock.wait(millis=1500)"))
	c.waitFor("waiting")
	c.send(executeCall(5, "def main():\n    return 1"))
	if m := c.receive(); m.ID != nil || m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("second call with the id: %s", m.text)
	}
	if m := c.receive(); m.ID != 5.0 || m.Result.StructuredContent.Result != "waited" {
		t.Errorf("first call: %s", m.text)
	}
}

// Calls that are running when the input ends are answered before the process
// ends.
func TestEndOfInputInTheMiddleOfCalls(t *testing.T) {
	c := start(t, "stdio")
	c.initialize()
	c.send(executeCall(1, "def main():\n    return clock.wait(millis=700)"), executeCall(2, "def main():\n    return 2"))
	c.in.Close()
	got := map[any]any{}
	for range 2 {
		m := c.receive()
		got[m.ID] = m.Result.StructuredContent.Result
	}
	if got[1.0] != "waited" || got[2.0] != 2.0 {
		t.Errorf("answers %v", got)
	}
	if code := c.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestLastLineWithoutItsEnd(t *testing.T) {
	c := start(t, "stdio")
	c.initialize()
	if _, err := c.in.Write([]byte(executeCall(1, "def main():\n    return 1"))); err != nil {
		t.Fatal(err)
	}
	c.in.Close()
	if m := c.receive(); m.Result.StructuredContent.Result != 1.0 {
		t.Errorf("%s", m.text)
	}
	if code := c.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestCancelNotification(t *testing.T) {
	c := start(t, "stdio")
	c.initialize()
	c.send(executeCall(1, "def main():\n    return clock.wait(millis=60000)"))
	c.waitFor("waiting")
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	c.waitFor("stopped waiting")
	// The call is answered, for clients that count.
	if m := c.receive(); m.ID != 1.0 {
		t.Errorf("%s", m.text)
	}
	c.send(ping)
	if m := c.receive(); m.ID != "ping" {
		t.Errorf("the session does not go on: %s", m.text)
	}
	// Cancelling what does not run, or nothing, is no error.
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, ping)
	if m := c.receive(); m.ID != "ping" {
		t.Errorf("%s", m.text)
	}
}

func TestSignalsEndTheSession(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		c := start(t, "stdio")
		c.initialize()
		c.send(executeCall(1, "def main():\n    return clock.wait(millis=60000)"))
		c.waitFor("waiting")
		if err := c.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if m := c.receive(); m.ID != 1.0 || m.Result.StructuredContent.Error.Class != "cancelled" {
			t.Errorf("%v: %s", signal, m.text)
		}
		if code := c.exit(); code != 0 {
			t.Errorf("%v: exit code %d", signal, code)
		}
	}
}

// A client may stop reading our standard error, and then our standard output.
func TestClientThatClosesItsEnds(t *testing.T) {
	cmd := childCommand(t, "stdio", "--log-level", "debug")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	defer kill.Stop()
	// Before main, package os would end the process at the noise.
	for seen := ""; !strings.Contains(seen, "serving MCP"); {
		b := make([]byte, 4096)
		n, err := stderr.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		seen += string(b[:n])
	}
	stderr.Close()
	if _, err := in.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n")); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 100_000)
	if n, err := stdout.Read(buffer); err != nil || !strings.Contains(string(buffer[:n]), `"id":1`) {
		t.Fatalf("no answer once standard error is closed: %s, %v", buffer[:n], err)
	}
	stdout.Close()
	if _, err := in.Write([]byte(ping + "\n" + ping + "\n")); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v, want exit code 0 when the client has gone", err)
	}
}
