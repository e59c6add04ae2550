package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

var bothEras = []string{"2026-07-28", "2025-11-25"}

// client sends requests as a test writes them, to a server behind either
// transport.
type client struct {
	t        *testing.T
	protocol string
	tasks    bool // it declares the extension
	send     func(method, name, message string) string
	end      func() // ends a server of its own
	n        int
}

// answer is what a test looks at of one.
type answer struct {
	Result map[string]any
	Error  struct {
		Code    int
		Message string
	}
	text string
}

func (a answer) String() string { return a.text }

// get is the text of a member of the result, or of its structured content.
func (a answer) get(name string) string {
	content, _ := a.Result["structuredContent"].(map[string]any)
	text, _ := cmp.Or(a.Result[name], content[name]).(string)
	return text
}

func (c *client) capabilities() string {
	if c.tasks {
		return `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	}
	return `{}`
}

// open is what the older era opens a session with.
func (c *client) open() *client {
	c.t.Helper()
	if c.protocol < "2026-07-28" {
		a := c.ask("initialize", "", map[string]any{"protocolVersion": c.protocol, "clientInfo": map[string]any{"name": "t", "version": "1"}, "capabilities": json.RawMessage(c.capabilities())})
		if a.get("protocolVersion") != c.protocol {
			c.t.Fatal(a)
		}
	}
	return c
}

// ask sends a request about what name says, which the current era repeats in a
// header.
func (c *client) ask(method, name string, params map[string]any) (a answer) {
	c.t.Helper()
	c.n++
	if c.protocol >= "2026-07-28" {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    c.protocol,
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "t", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": json.RawMessage(c.capabilities()),
		}
	}
	message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.n, "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	a.text = c.send(method, name, string(message))
	if err := json.Unmarshal([]byte(a.text), &a); err != nil {
		c.t.Fatalf("%s: %q: %v", method, a.text, err)
	}
	return a
}

func (c *client) call(tool string, arguments map[string]any) answer {
	c.t.Helper()
	return c.ask("tools/call", tool, map[string]any{"name": tool, "arguments": arguments})
}

func (c *client) about(method, task string) answer {
	c.t.Helper()
	return c.ask(method, task, map[string]any{"taskId": task})
}

// overStdio is a session with a server of its own.
func overStdio(t *testing.T, command *exec.Cmd, protocol string, tasks bool) *client {
	t.Helper()
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	end := sync.OnceFunc(func() {
		in.Close()
		if err := command.Wait(); err != nil {
			t.Errorf("the server did not leave in good order: %v", err)
		}
	})
	t.Cleanup(end)
	lines := bufio.NewReader(out)
	c := &client{t: t, protocol: protocol, tasks: tasks, end: end, send: func(method, _, message string) string {
		t.Helper()
		if _, err := fmt.Fprintln(in, message); err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		return line
	}}
	return c.open()
}

// overHTTP is a client of the server at url, which has a token.
func overHTTP(t *testing.T, url, token string) *client {
	t.Helper()
	protocol := bothEras[0] // the one with tasks
	c := &client{t: t, protocol: protocol, tasks: true, send: func(method, name, message string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(message))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Accept": "application/json, text/event-stream", "Authorization": "Bearer " + token, "Content-Type": "application/json",
			"Mcp-Method": method, "Mcp-Name": name, "Mcp-Protocol-Version": protocol,
		} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(body)) {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				return data
			}
		}
		return string(body)
	}}
	return c.open()
}
