package codegen_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/codegen/testdata/runs/generated/catalog"
	"github.com/capgen/capgen/codegen/testdata/runs/generated/fake"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/mcpserver"
)

// What is generated of a run is what a task is made of: a client that declares
// the extension prepares, starts, and asks for its task until it has the result
// of the manifest's example. A client of the older era, which cannot, gets the
// ordinary results.
func TestTaskOfAGeneratedRun(t *testing.T) {
	b := runtime.NewBuilder(runtime.Options{Server: catalog.Server(), Authorizer: authz.AllowAll(), IdleWorkers: runtime.NoIdleWorkers})
	catalog.Register(b, fake.Handlers())
	built, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { built.Close() })
	if !built.TellsOfJobs() {
		t.Fatal("the server tells of no jobs")
	}
	for _, tool := range built.Tools() {
		if tool.Job != strings.HasSuffix(tool.Name, "_start") {
			t.Errorf("%s starts a job: %t", tool.Name, tool.Job)
		}
	}
	server, err := mcpserver.New(mcpserver.Options{Runtime: built, Subjects: authz.StaticSubject(authz.Local())})
	if err != nil {
		t.Fatal(err)
	}
	for _, protocol := range []string{"2026-07-28", "2025-11-25"} {
		ask := dialRaw(t, server, protocol)
		prepared := ask("tools/call", `"name":"lab_evaluate_prepare","arguments":{"candidate":"good","key":"`+protocol+`"}`)
		plan, _ := prepared["structuredContent"].(map[string]any)
		claim, err := json.Marshal(map[string]any{"plan": plan["plan"], "token": plan["token"], "key": protocol})
		if err != nil || prepared["resultType"] == "task" {
			t.Fatal(prepared, err)
		}
		refused := ask("tools/call", `"name":"lab_evaluate_start","arguments":`+strings.Replace(string(claim), `"token":"`, `"token":"x`, 1))
		if refused["isError"] != true || refused["taskId"] != nil {
			t.Errorf("%s: with another token: %v", protocol, refused)
		}
		handle := ask("tools/call", `"name":"lab_evaluate_start","arguments":`+string(claim))
		if protocol < "2026-07-28" {
			started, _ := handle["structuredContent"].(map[string]any)
			if handle["taskId"] != nil || handle["resultType"] == "task" || started["plan"] != plan["plan"] {
				t.Errorf("%s: %v", protocol, handle)
			}
			if refused := ask("tasks/get", `"taskId":"`+fmt.Sprint(started["job"])+`"`); refused["code"] != -32021.0 {
				t.Errorf("%s: %v", protocol, refused)
			}
			continue
		}
		id, _ := handle["taskId"].(string)
		if handle["resultType"] != "task" || !strings.HasPrefix(id, "job_") {
			t.Fatal(handle)
		}
		done := ask("tasks/get", `"taskId":"`+id+`"`)
		if _, err := time.Parse(time.RFC3339, fmt.Sprint(done["createdAt"])); err != nil || done["status"] != "completed" || done["statusMessage"] != "SUCCEEDED" {
			t.Fatal(done, err)
		}
		result, _ := done["result"].(map[string]any)
		if diff := cmp.Diff(map[string]any{"job": id, "plan": plan["plan"], "state": "SUCCEEDED"}, result["structuredContent"]); diff != "" {
			t.Errorf("%s: %s", protocol, diff)
		}
		var texts []string
		for _, c := range result["content"].([]any) {
			texts = append(texts, fmt.Sprint(c.(map[string]any)["text"]))
		}
		if len(texts) == 0 || !strings.Contains(texts[0], `"result":{"label":"fine","score":0.5}`) || !strings.Contains(texts[0], `"sha256":`) {
			t.Errorf("%s: %q", protocol, texts)
		}
		if ack := ask("tasks/cancel", `"taskId":"`+id+`"`); ack["resultType"] != "complete" {
			t.Errorf("%s: %v", protocol, ack)
		}
		if gone := ask("tasks/get", `"taskId":"job_00000000000000000000000000000000"`); gone["code"] != -32602.0 {
			t.Errorf("%s: %v", protocol, gone)
		}
	}
}

// dialRaw is a client that knows tasks and writes the members of parameters
// itself. What it returns is the result, or the error.
func dialRaw(t *testing.T, server *mcp.Server, protocol string) func(method, members string) map[string]any {
	t.Helper()
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	c, err := near.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	const client, capabilities = `{"name":"t","version":"1"}`, `{"extensions":{"` + mcpserver.TasksExtension + `":{}}}`
	n, meta := 0, ""
	ask := func(method, members string) map[string]any {
		t.Helper()
		n++
		message, err := jsonrpc.DecodeMessage(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s%s}}`, n, method, members, meta))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Write(t.Context(), message); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		answer, err := c.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		text, err := jsonrpc.EncodeMessage(answer)
		if err != nil {
			t.Fatal(err)
		}
		var a struct{ Result, Error map[string]any }
		if err := json.Unmarshal(text, &a); err != nil {
			t.Fatal(err)
		}
		if a.Error != nil {
			return a.Error
		}
		return a.Result
	}
	if protocol >= "2026-07-28" {
		meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"` + protocol + `","io.modelcontextprotocol/clientInfo":` + client + `,"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
	} else {
		ask("initialize", `"protocolVersion":"`+protocol+`","clientInfo":`+client+`,"capabilities":`+capabilities)
	}
	return ask
}
