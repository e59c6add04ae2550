package mcphttp

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type namedParams struct {
	mcp.ParamsBase
	ID string `json:"id"`
}

type namedResult struct {
	mcp.ResultBase
	Answered string `json:"answered"`
}

// answering adds a method whose Mcp-Name header repeats a parameter.
func answering(f *fixture, method string) {
	f.t.Helper()
	err := mcp.AddReceivingCustomMethod(f.mcp, method, func(_ context.Context, _ *mcp.ServerSession, p *namedParams) (*namedResult, error) {
		return &namedResult{Answered: p.ID}, nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// Who routes by the headers of the current era meets the same request as who
// answers it. An older client sends no such header.
func TestNameHeaders(t *testing.T) {
	f := start(t, Options{NameHeaders: map[string]string{"x/get": "id"}})
	answering(f, "x/get")
	body := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"x/get","params":{` + params + `,"_meta":` + modernMeta + `}}`
	}
	const good = `"answered":"a-1"`
	for name, c := range map[string]struct {
		body    string
		headers []string
		status  int
	}{
		"the same":           {body(`"id":"a-1"`), modernHeaders("x/get", "a-1"), 200},
		"written otherwise":  {body(`"id":"\u0061-1"`), modernHeaders("x/get", "a-1"), 200},
		"another":            {body(`"id":"a-1"`), modernHeaders("x/get", "a-2"), 400},
		"another case":       {body(`"id":"a-1"`), modernHeaders("x/get", "A-1"), 400},
		"none":               {body(`"id":"a-1"`), modernHeaders("x/get", ""), 400},
		"twice":              {body(`"id":"a-1"`), append(modernHeaders("x/get", "a-1"), "Mcp-Name: a-1"), 400},
		"another method":     {body(`"id":"a-1"`), modernHeaders("tools/list", "a-1"), 400},
		"no method":          {body(`"id":"a-1"`), modernHeaders("x/get", "a-1")[:1], 400},
		"two ids, the first": {body(`"id":"a-1","id":"a-2"`), modernHeaders("x/get", "a-1"), 400},
		"another key":        {body(`"id":"a-1","ID":"a-2"`), modernHeaders("x/get", "a-2"), 400},
		"no text":            {body(`"id":["a-1"]`), modernHeaders("x/get", "a-1"), 400},
		"no id":              {body(`"no":"a-1"`), modernHeaders("x/get", "a-1"), 400},
		"no parameters":      {`{"jsonrpc":"2.0","id":1,"method":"x/get"}`, modernHeaders("x/get", "a-1"), 400},
		"no object":          {`[]`, modernHeaders("x/get", "a-1"), 400},
	} {
		a := f.send("POST", f.url, c.body, c.headers...)
		if a.status != c.status || strings.Contains(a.body, "answered") != (c.status == 200) || c.status == 200 && !strings.Contains(a.body, good) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	for id, want := range map[string]string{`1`: `1`, `"one"`: `"one"`, `{"a":1}`: `null`, `null`: `null`} {
		message := strings.Replace(body(`"id":"a-1"`), `"id":1`, `"id":`+id, 1)
		if a := f.send("POST", f.url, message, modernHeaders("x/get", "a-2")...); !strings.HasPrefix(a.body, `{"jsonrpc":"2.0","id":`+want+`,"error":{"code":-32020,`) {
			t.Errorf("%s: %s", id, a.body)
		}
	}
	id, _ := f.initialize()
	a := f.send("POST", f.url, `{"jsonrpc":"2.0","id":2,"method":"x/get","params":{"id":"a-1"}}`, "Mcp-Session-Id: "+id, "Mcp-Protocol-Version: 2025-11-25")
	if a.status != 200 || !strings.Contains(a.body, good) {
		t.Errorf("an older client: %d %s", a.status, a.body)
	}
	// Without the option nobody looks.
	f = start(t, Options{})
	answering(f, "x/get")
	if a := f.send("POST", f.url, body(`"id":"a-1"`), modernHeaders("x/get", "")...); a.status != 200 {
		t.Errorf("without the option: %d %s", a.status, a.body)
	}
}

// A host that knows more of subscriptions than the SDK sees their parameters as
// they were sent, and refuses them before it does.
func TestListen(t *testing.T) {
	f := start(t, Options{Listen: func(params json.RawMessage) *jsonrpc.Error {
		if bytes.Contains(params, []byte(`"more"`)) {
			return &jsonrpc.Error{Code: -32021, Message: "no", Data: json.RawMessage(`{"a":1}`)}
		}
		return nil
	}})
	body := func(id, method, member string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{"notifications":{` + member + `},"_meta":` + modernMeta + `}}`
	}
	const refused = `"error":{"code":-32021,"message":"no","data":{"a":1}}}`
	for name, c := range map[string]struct {
		body, method string
		status       int
		want         string
	}{
		"refused":        {body("7", listenMethod, `"more":1`), listenMethod, 400, `{"jsonrpc":"2.0","id":7,` + refused},
		"no id":          {body(`{"a":1}`, listenMethod, `"more":1`), listenMethod, 400, `{"jsonrpc":"2.0","id":null,` + refused},
		"not refused":    {body("7", listenMethod, ``), listenMethod, 200, "acknowledged"},
		"another method": {body("7", "tools/list", `"more":1`), "tools/list", 200, `"tools"`},
		"another header": {body("7", listenMethod, `"more":1`), "tools/list", 400, "-32020"},
		"no object":      {`[]`, listenMethod, 400, ""},
	} {
		if a := f.send("POST", f.url, c.body, modernHeaders(c.method, "")...); a.status != c.status || !strings.Contains(a.body, c.want) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	// Without the option nobody looks.
	f = start(t, Options{})
	if a := f.send("POST", f.url, body("7", listenMethod, `"more":1`), modernHeaders(listenMethod, "")...); a.status != 200 {
		t.Errorf("without the option: %d %s", a.status, a.body)
	}
}
