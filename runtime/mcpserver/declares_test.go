package mcpserver_test

import (
	"cmp"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/mcpserver"
)

// A client declares the extension on each request, as one of 2026-07-28, and in
// no other way: a session of an older version has no such extension, whatever it
// or its requests say.
func TestWhoDeclaresTasks(t *testing.T) {
	const client, version = `"io.modelcontextprotocol/clientCapabilities":`, `"io.modelcontextprotocol/protocolVersion":`
	for _, c := range []struct {
		protocol, capabilities string
		meta                   string // instead of the era's
		want                   bool
	}{
		{protocol: "2026-07-28", capabilities: declared, want: true},
		{protocol: "2026-07-28", capabilities: `{"extensions":{"io.modelcontextprotocol/tasks":{"a":1},"b":{}}}`, want: true},
		{protocol: "2026-07-28", capabilities: `{"extensions":{}}`},
		{protocol: "2026-07-28", capabilities: `{"extensions":{"io.modelcontextprotocol/tasks":null}}`},
		{protocol: "2026-07-28", capabilities: `{"extensions":{"io.modelcontextprotocol/tasks":true}}`},
		{protocol: "2026-07-28", capabilities: `{"extensions":{"io.modelcontextprotocol/Tasks":{}}}`},
		{protocol: "2026-07-28", capabilities: `{"experimental":{"io.modelcontextprotocol/tasks":{}}}`},
		{protocol: "2026-07-28", capabilities: `{"tasks":{"requests":{"tools":{"call":{}}}}}`},
		{protocol: older, capabilities: declared},
		{protocol: "2025-06-18", capabilities: declared},
		{protocol: older, capabilities: `{"tasks":{"requests":{"tools":{"call":{}}}}}`},
		{protocol: older, capabilities: declared, meta: `{` + client + declared + `}`},
		{protocol: older, capabilities: declared, meta: `{` + version + `"2025-11-25",` + client + declared + `}`},
		{protocol: older, capabilities: declared, meta: `{` + version + `20260728,` + client + declared + `}`},
		{protocol: older, capabilities: declared, meta: `{` + version + `null,` + client + declared + `}`},
		// The version of a request is the one that it names itself.
		{protocol: older, capabilities: declared, meta: modernMeta(bare)},
		{protocol: older, capabilities: bare, meta: modernMeta(declared), want: true},
		{protocol: modern, capabilities: declared, meta: `{` + version + `"2025-11-25",` + client + declared + `}`},
		{protocol: modern, capabilities: declared, meta: `{` + client + declared + `}`},
	} {
		j := newJobs("RUNNING")
		r := rawClient(t, mcpserver.Options{Runtime: j}, c.protocol, c.capabilities)
		r.meta = cmp.Or(c.meta, r.meta)
		handle, got := r.start(), r.send("tasks/get", about(theJob))
		if is := handle.Result["resultType"] == "task"; is != c.want || (got.Error.Code == 0) != c.want {
			t.Errorf("%s %s %s: a task %t; %+v", c.protocol, c.capabilities, c.meta, is, got)
		}
	}
}

// On a stream without sessions nothing is left of what an earlier request has
// declared.
func TestEachRequestDeclaresTasks(t *testing.T) {
	j := newJobs("RUNNING")
	r := rawClient(t, mcpserver.Options{Runtime: j}, "2026-07-28", declared)
	for _, c := range []struct {
		meta string
		want bool
	}{{modernMeta(declared), true}, {modernMeta(bare), false}, {"", false}, {`{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}`, false}, {modernMeta(declared), true}} {
		r.meta = c.meta
		handle, got := r.start(), r.send("tasks/get", about(theJob))
		if is := handle.Result["resultType"] == "task"; is != c.want || (got.Error.Code == 0) != c.want {
			t.Errorf("%s: a task %t; %+v", c.meta, is, got)
		}
	}
}

// Who asks for news of tasks declares the extension, too.
func TestListenWithTasks(t *testing.T) {
	listen := func(notifications, meta string) string {
		return `{"notifications":` + notifications + `,"_meta":` + meta + `}`
	}
	const asking = `{"taskIds":["` + theJob + `"]}`
	for _, c := range []struct {
		params  string
		refused bool
	}{
		{listen(asking, modernMeta(bare)), true},
		{listen(asking, modernMeta(declared)), false},
		{listen(`{"toolsListChanged":true,"taskIds":["`+theJob+`"]}`, modernMeta(bare)), true},
		{listen(`{"taskIds":[1]}`, modernMeta(bare)), true},
		{listen(`{"taskIds":"`+theJob+`"}`, modernMeta(bare)), true},
		{listen(asking, `{"io.modelcontextprotocol/protocolVersion":"2025-11-25","io.modelcontextprotocol/clientCapabilities":`+declared+`}`), true},
		{listen(asking, `[]`), true},
		{`{"notifications":` + asking + `}`, true},
		{listen(`{"taskIds":[]}`, modernMeta(bare)), false},
		{listen(`{"taskIds":null}`, modernMeta(bare)), false},
		{listen(`{"TaskIds":["a"],"toolsListChanged":true}`, modernMeta(bare)), false},
		{listen(`{}`, modernMeta(bare)), false},
		{listen(`null`, modernMeta(bare)), false},
		{`{}`, false}, {`[]`, false}, {``, false},
	} {
		refusal := mcpserver.ListenWithTasks([]byte(c.params))
		if (refusal != nil) != c.refused || refusal != nil && (refusal.Code != -32021 || string(refusal.Data) != `{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`) {
			t.Errorf("%s: %v", c.params, refusal)
		}
	}
}

// A server that tells of no jobs does not know the extension, and to a client of
// the older era none does.
func TestServersWithoutTasks(t *testing.T) {
	for _, protocol := range bothEras {
		with := newJobs("RUNNING")
		none := newJobs("RUNNING")
		none.job = nil
		for _, c := range []struct {
			j    *jobs
			want bool
		}{{with, protocol == modern}, {none, false}} {
			a := rawClient(t, mcpserver.Options{Runtime: c.j}, protocol, declared).server
			capabilities, _ := a.Result["capabilities"].(map[string]any)
			extensions, _ := capabilities["extensions"].(map[string]any)
			if diff := gocmp.Diff(map[bool]map[string]any{true: {mcpserver.TasksExtension: map[string]any{}}}[c.want], extensions); diff != "" || capabilities["tasks"] != nil {
				t.Errorf("%s: %s %s", protocol, a.text, diff)
			}
		}
		r := rawClient(t, mcpserver.Options{Runtime: none}, protocol, declared)
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			if a := r.send(method, about(theJob)); a.Error.Code != -32601 {
				t.Errorf("%s %s: %+v", protocol, method, a)
			}
		}
		if a := r.start(); a.Result["resultType"] == "task" || a.Result["structuredContent"] == nil {
			t.Errorf("%s: %s", protocol, a.text)
		}
		// Neither of the two that an earlier version had is there in any case.
		r = rawClient(t, mcpserver.Options{Runtime: with}, protocol, declared)
		for _, method := range []string{"tasks/list", "tasks/result"} {
			if a := r.send(method, about(theJob)); a.Error.Code != -32601 {
				t.Errorf("%s %s: %+v", protocol, method, a)
			}
		}
	}
}
