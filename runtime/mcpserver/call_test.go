package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/mcpserver"
)

func TestSearch(t *testing.T) {
	var asked []runtime.SearchRequest
	s := connect(t, mcpserver.Options{Runtime: &fake{search: func(query runtime.SearchRequest) (runtime.SearchResult, error) {
		asked = append(asked, query)
		return runtime.SearchResult{Results: []runtime.SearchHit{{Name: "a.b", Signature: "a.b()", Summary: "x < y & z"}}, Truncated: true}, nil
	}}})
	content, result := call(t, s, "search_api", `{"query":"  read\u00e4 "}`)
	if want := `{"results":[{"name":"a.b","signature":"a.b()","summary":"x < y & z"}],"truncated":true,"weak":false,"namespaces":[]}`; content != want {
		t.Errorf("content %s, want %s", content, want)
	}
	if result.IsError {
		t.Error("marked as an error")
	}
	call(t, s, "search_api", `{"query":"x","namespace":"a.b","limit":3}`)
	if diff := cmp.Diff([]runtime.SearchRequest{{Query: "  readä "}, {Query: "x", Namespace: "a.b", Limit: 3}}, asked); diff != "" {
		t.Errorf("the query reached the runtime changed: %s", diff)
	}
}

func TestListsAreNeverNull(t *testing.T) {
	s := connect(t, mcpserver.Options{Runtime: &fake{
		search:   func(runtime.SearchRequest) (runtime.SearchResult, error) { return runtime.SearchResult{}, nil },
		describe: func([]string) (runtime.DescribeResult, error) { return runtime.DescribeResult{}, nil },
		execute: func(context.Context, authz.Subject, string) (runtime.Execution, error) {
			return runtime.Execution{Receipt: runtime.Receipt{Execution: "e"}}, shown{Class: fault.ProgramError, Message: "m"}
		},
	}})
	for tool, arguments := range map[string]string{"search_api": `{"query":""}`, "describe_api": `{"name":"a.b"}`, "execute": `{"source":""}`} {
		if content, _ := call(t, s, tool, arguments); strings.Contains(content, "null") {
			t.Errorf("%s: %s", tool, content)
		}
	}
}

func TestDescribe(t *testing.T) {
	var asked [][]string
	s := connect(t, mcpserver.Options{Runtime: &fake{describe: func(names []string) (runtime.DescribeResult, error) {
		asked = append(asked, names)
		return runtime.DescribeResult{
			Capabilities: []runtime.Description{{Name: "a.b", Effect: runtime.EffectRead, Input: json.RawMessage(`{"n":{"maximum":9007199254740993}}`), Output: json.RawMessage(`"str"`)}},
			NotFound:     []string{"a.c"},
		}, nil
	}}})
	content, _ := call(t, s, "describe_api", `{"name":"a.b"}`)
	if !strings.Contains(content, "9007199254740993") {
		t.Errorf("a number changed: %s", content)
	}
	call(t, s, "describe_api", `{"names":["a.b","a.c","a.b"]}`)
	if diff := cmp.Diff([][]string{{"a.b"}, {"a.b", "a.c"}}, asked); diff != "" {
		t.Errorf("names: %s", diff)
	}
}

func execution(result string, wide bool) *fake {
	return &fake{execute: func(context.Context, authz.Subject, string) (runtime.Execution, error) {
		return runtime.Execution{Result: []byte(result), WideIntegers: wide, Receipt: runtime.Receipt{
			Execution: "e1", Deployment: "prod", Catalog: "c", Steps: 7,
			Calls: []runtime.CallRecord{{Sequence: 1, ID: "i", Name: "a.b", State: runtime.CallDone}},
		}}, nil
	}}
}

func TestExecute(t *testing.T) {
	for _, result := range []string{`null`, `true`, `"a<b"`, `1.0`, `-9007199254740991`, `{"b":[1,2.50,{}],"a":null}`, `[]`} {
		s := connect(t, mcpserver.Options{Runtime: execution(result, false)})
		content, r := call(t, s, "execute", `{"source":"x"}`)
		// Byte for byte: 1.0 must not become 1, nor an order of members change.
		want := `{"result":` + result + `}`
		if result == "null" {
			// Whoever forgot to return, or printed, is told.
			want = `{"result":null,"receipt":{"notes":["the program returned None: return from main what is to be read; what is printed is discarded"]}}`
		}
		if content != want {
			t.Errorf("content %s, want %s", content, want)
		}
		if r.IsError {
			t.Errorf("%s: marked as an error", result)
		}
		receipt, err := json.Marshal(r.Meta[mcpserver.ReceiptKey])
		if err != nil {
			t.Fatal(err)
		}
		want = `{"execution":"e1","deployment":"prod","catalog":"c","calls":[{"sequence":1,"id":"i","name":"a.b","state":"done","duration_us":0}],"duration_us":0,"steps":7}`
		if !sameJSON(t, []byte(want), receipt) {
			t.Errorf("receipt %s, want %s", receipt, want)
		}
	}
}

func TestExecuteSaysThatAScriptHasNoValue(t *testing.T) {
	f := &fake{execute: func(context.Context, authz.Subject, string) (runtime.Execution, error) {
		return runtime.Execution{Result: []byte("null"), NoValue: true}, nil
	}}
	content, _ := call(t, connect(t, mcpserver.Options{Runtime: f}), "execute", `{"source":"x = 1"}`)
	if want := `{"result":null,"receipt":{"notes":["the program has no value: end it in an expression, or assign to result; what is printed is discarded"]}}`; content != want {
		t.Errorf("got %s, want %s", content, want)
	}
}

func TestExecuteSaysThatIntegersBecameStrings(t *testing.T) {
	s := connect(t, mcpserver.Options{Runtime: execution(`["9007199254740993"]`, true)})
	content, _ := call(t, s, "execute", `{"source":"x"}`)
	if !strings.HasPrefix(content, `{"result":["9007199254740993"],"receipt":{"notes":["`) || !strings.Contains(content, "decimal string") {
		t.Errorf("content %s", content)
	}
}

func TestExecuteSaysThatResultsBreakTheirSchemas(t *testing.T) {
	x, err := execution(`1`, false).Execute(t.Context(), authz.Local(), "")
	if err != nil {
		t.Fatal(err)
	}
	x.Receipt.Calls = []runtime.CallRecord{
		{Sequence: 1, Name: "a.b", Breaches: 2}, {Sequence: 2, Name: "a.c"}, {Sequence: 3, Name: "a.b", Breaches: 1}, {Sequence: 4, Name: "a.d", Breaches: 1},
	}
	s := connect(t, mcpserver.Options{Runtime: &fake{execute: func(context.Context, authz.Subject, string) (runtime.Execution, error) { return x, nil }}})
	content, _ := call(t, s, "execute", `{"source":"x"}`)
	if want := `{"result":1,"receipt":{"notes":["results held values outside of what describe_api says, from a.b, a.d"]}}`; content != want {
		t.Errorf("content %s, want %s", content, want)
	}
}

// An answer that does not encode would never be sent, and the client would
// wait for ever.
func TestExecuteRefusesAResultThatIsNotJSON(t *testing.T) {
	for _, result := range []string{`{`, `1 2`, `NaN`} {
		s := connect(t, mcpserver.Options{Runtime: execution(result, false)})
		content, r := call(t, s, "execute", `{"source":"x"}`)
		if !r.IsError || !strings.Contains(content, `"class":"internal_failure"`) || !strings.Contains(content, `"receipt"`) {
			t.Errorf("%s: %s", result, content)
		}
	}
}

func TestFailures(t *testing.T) {
	full := fault.Fault{
		Class: fault.Limit, Message: "m <&>", Hint: "h", Line: 3, Column: 5, Path: "tags[1]", Capability: "a.b",
		Code: "not_found", Limit: "MaxSteps", Bound: 50_000_000, Trace: []string{"line 3, in main"},
	}
	failures := map[string]error{
		`"error":{"class":"resource_limit","message":"m <&>","hint":"h","line":3,"column":5,"path":"tags[1]","capability":"a.b","code":"not_found","limit":"MaxSteps","bound":50000000,"trace":["line 3, in main"]}`: shown(full),
		`"error":{"class":"internal_failure","message":"internal failure"}`:               errors.New("open /home/user/secret: no"),
		`"error":{"class":"unauthenticated","message":"the request carries no identity"}`: authz.ErrUnauthenticated,
	}
	for _, class := range []fault.Class{
		fault.InvalidProgram, fault.ProgramError, fault.InvalidArguments, fault.NotFound, fault.Denied, fault.PolicyFailure,
		fault.CapabilityFailed, fault.Cancelled, fault.WorkerLost, fault.Internal, fault.Unauthenticated,
	} {
		failures[`"error":{"class":"`+string(class)+`","message":"m"}`] = shown{Class: class, Message: "m"}
	}
	receipt := runtime.Receipt{Execution: "e1", Deployment: "prod", Catalog: "c", Calls: []runtime.CallRecord{
		{Sequence: 1, ID: "i", Name: "a.b", State: runtime.CallFailed, DurationMicros: 3, Error: fault.CapabilityFailed},
	}}
	const receiptText = `,"receipt":{"execution":"e1","deployment":"prod","catalog":"c","calls":[{"sequence":1,"id":"i","name":"a.b","state":"failed","duration_us":3,"error":"capability_failed"}],"duration_us":0,"steps":0}`
	for want, err := range failures {
		s := connect(t, mcpserver.Options{Runtime: &fake{
			search:   func(runtime.SearchRequest) (runtime.SearchResult, error) { return runtime.SearchResult{}, err },
			describe: func([]string) (runtime.DescribeResult, error) { return runtime.DescribeResult{}, err },
			execute: func(context.Context, authz.Subject, string) (runtime.Execution, error) {
				return runtime.Execution{Receipt: receipt}, err
			},
		}})
		for tool, arguments := range map[string]string{"search_api": `{"query":"q"}`, "describe_api": `{"name":"a.b"}`, "execute": `{"source":""}`} {
			want := "{" + want + "}"
			if tool == "execute" {
				want = want[:len(want)-1] + receiptText + "}"
			}
			content, r := call(t, s, tool, arguments)
			if content != want || !r.IsError {
				t.Errorf("%s: isError %v, content\n%s, want\n%s", tool, r.IsError, content, want)
			}
			if r.Meta[mcpserver.ReceiptKey] != nil {
				t.Errorf("%s: a failure carries its receipt in the content, not in _meta", tool)
			}
		}
	}
}

// A failure after many calls must not fill the context of whoever reads it.
func TestCallsInARowAreFolded(t *testing.T) {
	record := func(sequence int, name string, state runtime.CallState, class fault.Class) runtime.CallRecord {
		return runtime.CallRecord{Sequence: sequence, ID: "i." + name, Name: name, State: state, DurationMicros: 2, Error: class}
	}
	receipt := runtime.Receipt{Execution: "e", Deployment: "d", Catalog: "c"}
	for i := 1; i <= 998; i++ {
		receipt.Calls = append(receipt.Calls, record(i, "a.b", runtime.CallDone, ""))
	}
	receipt.Calls = append(receipt.Calls,
		record(999, "a.c", runtime.CallDone, ""),
		record(1000, "a.c", runtime.CallFailed, fault.CapabilityFailed),
		record(1001, "a.c", runtime.CallFailed, fault.Cancelled),
		record(1002, "a.c", runtime.CallFailed, fault.Cancelled))
	s := connect(t, mcpserver.Options{Runtime: &fake{execute: func(context.Context, authz.Subject, string) (runtime.Execution, error) {
		return runtime.Execution{Receipt: receipt}, shown{Class: fault.Cancelled, Message: "m"}
	}}})
	content, _ := call(t, s, "execute", `{"source":""}`)
	const want = `{"error":{"class":"cancelled","message":"m"},"receipt":{"execution":"e","deployment":"d","catalog":"c","duration_us":0,"steps":0,"calls":[` +
		`{"sequence":1,"id":"i.a.b","name":"a.b","state":"done","duration_us":1996,"count":998},` +
		`{"sequence":999,"id":"i.a.c","name":"a.c","state":"done","duration_us":2},` +
		`{"sequence":1000,"id":"i.a.c","name":"a.c","state":"failed","duration_us":2,"error":"capability_failed"},` +
		`{"sequence":1001,"id":"i.a.c","name":"a.c","state":"failed","duration_us":4,"error":"cancelled","count":2}]}}`
	if !sameJSON(t, []byte(want), []byte(content)) {
		t.Errorf("got %s, want %s", content, want)
	}
}

// forbidden fails the test when anything reaches the runtime or asks who calls.
type forbidden struct{ t *testing.T }

func (f forbidden) Subject(context.Context) (authz.Subject, error) {
	f.t.Error("asked who calls before the arguments were found good")
	return authz.Local(), nil
}

func TestBadArguments(t *testing.T) {
	s := connect(t, mcpserver.Options{Runtime: &fake{}, Subjects: forbidden{t}})
	long := strings.Repeat("n", 65)
	for _, tt := range []struct{ tool, arguments, path, message string }{
		{"search_api", ``, "query", "missing"},
		{"search_api", `{}`, "query", "missing"},
		{"search_api", `{"query":1}`, "query", "string"},
		{"search_api", `{"query":null}`, "query", "string"},
		{"search_api", `{"query":"a","limit":0}`, "limit", ""},
		{"search_api", `{"query":"a","limit":"5"}`, "limit", "integer"},
		{"search_api", `{"query":"a","limit":2.5}`, "limit", ""},
		{"search_api", `{"query":"a","namespace":["b"]}`, "namespace", "string"},
		{"search_api", `{"query":"a","namespace":"` + long + `"}`, "namespace", ""},
		{"search_api", `{"query":"a","max":5}`, "max", ""},
		{"search_api", `{"query":"a","query":"b"}`, "query", ""},
		{"search_api", `{"Query":"a"}`, "Query", ""},
		{"search_api", `[]`, "", "object"},
		{"search_api", `"query"`, "", "object"},
		{"search_api", `{"query":"\ud800"}`, "query", ""},
		{"execute", `{}`, "source", "missing"},
		{"execute", `{"source":["a"]}`, "source", "string"},
		{"execute", `{"source":"a","_meta":{}}`, "_meta", ""},
		{"execute", `{"source":"a","subject":"root"}`, "subject", ""},
		{"execute", `{"idempotency_key":"once"}`, "source", "missing"},
		{"execute", `{"source":"a","idempotency_key":""}`, "idempotency_key", ""},
		{"execute", `{"source":"a","idempotency_key":1}`, "idempotency_key", "string"},
		{"execute", `{"source":"a","idempotency_key":"` + long + `"}`, "idempotency_key", ""},
		{"execute", `{"source":"a","idempotency_key":"a","idempotency_key":"b"}`, "idempotency_key", ""},
		{"execute", `{"source":"a","data":[1]}`, "data", "object"},
		{"execute", `{"source":"a","data":null}`, "data", "object"},
		{"execute", `{"source":"a","data":"{}"}`, "data", "object"},
		{"execute", `{"source":"a","data":{"b":[{"c":1,"c":2}]}}`, "data.b[0].c", "twice"},
		{"execute", `{"source":"a","data":{"b":1e999}}`, "data.b", "range"},
		{"execute", `{"source":"a","data":{},"data":{}}`, "data", "twice"},
		{"execute", `{"source":"a","check":"yes"}`, "check", "boolean"},
		{"describe_api", `{}`, "", "exactly one"},
		{"describe_api", `{"name":"a.b","names":["a.b"]}`, "", "exactly one"},
		{"describe_api", `{"names":[]}`, "names", ""},
		{"describe_api", `{"names":["a.b",2]}`, "names[1]", "string"},
		{"describe_api", `{"names":"a.b"}`, "names", "array"},
		{"describe_api", `{"name":""}`, "name", ""},
		{"describe_api", `{"name":"` + long + `"}`, "name", ""},
		{"describe_api", `{"names":["a.b","` + long + `"]}`, "names[1]", ""},
		{"describe_api", `{"names":[` + strings.Repeat(`"a.b",`, 20) + `"a.b"]}`, "names", ""},
	} {
		content, r := call(t, s, tt.tool, tt.arguments)
		var body struct {
			Error struct{ Class, Path, Message, Hint string }
		}
		if err := json.Unmarshal([]byte(content), &body); err != nil {
			t.Fatal(err)
		}
		if !r.IsError || body.Error.Class != "invalid_arguments" || body.Error.Path != tt.path || !strings.Contains(body.Error.Message, tt.message) || body.Error.Message == "" || body.Error.Hint == "" {
			t.Errorf("%s %s: isError %v, %s; want path %q and a message with %q", tt.tool, tt.arguments, r.IsError, content, tt.path, tt.message)
		}
		if strings.Contains(content, "receipt") {
			t.Errorf("%s %s: a receipt of an execution that never was: %s", tt.tool, tt.arguments, content)
		}
	}
}

// The key that a client gives arrives at the runtime, and only then.
func TestCheck(t *testing.T) {
	f := &fake{check: func(source string) (runtime.Check, error) {
		c := runtime.Check{Receipt: runtime.Receipt{Execution: "e1", Checked: true}}
		if source == "bad" {
			c.Problems = []fault.Fault{{Class: fault.InvalidProgram, Message: "m", Hint: "h", Line: 2, Column: 3}}
			c.Capabilities = []runtime.CheckedCapability{{Name: "a.b", ID: "i", Effect: runtime.EffectRead, Line: 1, Column: 5, Verdict: authz.Deny, MissingScope: "s"}}
		}
		if source == "" {
			return runtime.Check{Receipt: runtime.Receipt{Execution: "e2", Checked: true}}, shown{Class: fault.Limit, Message: "m"}
		}
		return c, nil
	}}
	s := connect(t, mcpserver.Options{Runtime: f})
	const receipt = `"receipt":{"notes":["checked only: nothing of the program ran, and no capability was called"]}}`
	for arguments, want := range map[string]string{
		`{"source":"ok","check":true,"data":{"a":1}}`: `{"check":{"ok":true,"problems":[],"capabilities":[]},` + receipt,
		`{"source":"bad","check":true}`: `{"check":{"ok":false,"problems":[{"class":"invalid_program","message":"m","hint":"h","line":2,"column":3}],` +
			`"capabilities":[{"name":"a.b","id":"i","effect":"read","line":1,"column":5,"verdict":"deny","missing_scope":"s"}]},` + receipt,
	} {
		content, r := call(t, s, "execute", arguments)
		if content != want || r.IsError {
			t.Errorf("%s: got %s, error %v, want %s", arguments, content, r.IsError, want)
		}
		whole, err := json.Marshal(r.Meta[mcpserver.ReceiptKey])
		if err != nil || !strings.Contains(string(whole), `"checked":true`) {
			t.Errorf("%s: receipt %s, %v", arguments, whole, err)
		}
	}
	if content, r := call(t, s, "execute", `{"source":"","check":true}`); !r.IsError || !strings.Contains(content, `"checked":true`) {
		t.Errorf("a check that could not be done: %s", content)
	}
}

func TestIdempotencyKeyArrives(t *testing.T) {
	f := &fake{execute: func(context.Context, authz.Subject, string) (runtime.Execution, error) {
		return runtime.Execution{Result: []byte("1")}, nil
	}}
	s := connect(t, mcpserver.Options{Runtime: f, Subjects: local})
	for arguments, want := range map[string]int{`{"source":"1"}`: 0, `{"source":"1","idempotency_key":"once"}`: 1, `{"source":"1","data":{"a":[{"b":{}}]},"check":false,"idempotency_key":"once"}`: 2} {
		if content, r := call(t, s, "execute", arguments); r.IsError || f.options != want {
			t.Errorf("%s: %d options, %s", arguments, f.options, content)
		}
	}
}

func TestNobodyIsRefused(t *testing.T) {
	for _, r := range []authz.SubjectResolver{authz.StaticSubject(authz.Subject{}), authz.ContextSubject(), nobody{}} {
		s := connect(t, mcpserver.Options{Runtime: &fake{}, Subjects: r})
		for tool, arguments := range map[string]string{"search_api": `{"query":"q"}`, "describe_api": `{"name":"a.b"}`, "execute": `{"source":""}`} {
			if content, result := call(t, s, tool, arguments); !result.IsError || !strings.Contains(content, `"class":"unauthenticated"`) {
				t.Errorf("%s: %s", tool, content)
			}
		}
	}
}

type nobody struct{}

func (nobody) Subject(context.Context) (authz.Subject, error) { return authz.Subject{}, nil }

// The subject comes from the resolver and from nothing that the client sends.
func TestSubjectReachesTheRuntime(t *testing.T) {
	var got authz.Subject
	s := connect(t, mcpserver.Options{
		Subjects: authz.StaticSubject(authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer", ID: "alice"}),
		Runtime: &fake{execute: func(_ context.Context, subject authz.Subject, _ string) (runtime.Execution, error) {
			got = subject
			return runtime.Execution{}, nil
		}},
	})
	_, err := s.CallTool(t.Context(), &mcp.CallToolParams{
		Meta: mcp.Meta{"subject": "local"}, Name: "execute", Arguments: json.RawMessage(`{"source":""}`),
	})
	if err != nil || got.String() != "oidc:https://issuer#alice" {
		t.Errorf("subject %q, %v", got, err)
	}
}

func TestPanicIsContained(t *testing.T) {
	var logged bytes.Buffer
	panicking := true
	options := mcpserver.Options{
		Logger: slog.New(slog.NewTextHandler(&logged, nil)),
		Runtime: &fake{search: func(runtime.SearchRequest) (runtime.SearchResult, error) {
			if panicking {
				panic("secret")
			}
			return runtime.SearchResult{}, nil
		}},
	}
	check := func(s *mcp.ClientSession, what string) {
		t.Helper()
		_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "search_api", Arguments: json.RawMessage(`{"query":""}`)})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInternalError || strings.Contains(wire.Message, "secret") {
			t.Errorf("panic in a %s: %v, want -32603 without the value", what, err)
		}
	}
	s := connect(t, options)
	check(s, "tool")
	if !strings.Contains(logged.String(), "secret") || !strings.Contains(logged.String(), "stack=") {
		t.Errorf("log does not say where: %s", logged.String())
	}
	panicking = false
	call(t, s, "search_api", `{"query":""}`) // the session goes on

	// Recovery is outside of middleware that a host adds.
	options.Middleware = []mcp.Middleware{func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "tools/call" {
				panic("secret")
			}
			return next(ctx, method, r)
		}
	}}
	check(connect(t, options), "middleware")
}

func TestUnknownToolIsAProtocolError(t *testing.T) {
	s := connect(t, mcpserver.Options{Runtime: &fake{}})
	_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "shell"})
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("error %v, want -32602", err)
	}
}

func TestCancelReachesTheRuntime(t *testing.T) {
	started, ended := make(chan struct{}), make(chan error, 1)
	s := connect(t, mcpserver.Options{Runtime: &fake{execute: func(ctx context.Context, _ authz.Subject, _ string) (runtime.Execution, error) {
		close(started)
		<-ctx.Done()
		ended <- ctx.Err()
		return runtime.Execution{}, ctx.Err()
	}}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-started
		cancel()
	}()
	if _, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "execute", Arguments: json.RawMessage(`{"source":""}`)}); !errors.Is(err, context.Canceled) {
		t.Errorf("call: %v", err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("runtime saw %v", err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for name, o := range map[string]mcpserver.Options{
		"runtime": {Subjects: local},
		"subject": {Runtime: &fake{}},
	} {
		if _, err := mcpserver.New(o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// The log has one line a call, with no word of its arguments or result.
func TestLogSaysWhoAndHowNotWhat(t *testing.T) {
	var logged bytes.Buffer
	s := connect(t, mcpserver.Options{Runtime: execution(`"RESULT"`, false), Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	call(t, s, "execute", `{"source":"SOURCE"}`)
	for _, want := range []string{"tool=execute", "subject=local", "duration_us="} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("log lacks %s: %s", want, logged.String())
		}
	}
	for _, bad := range []string{"SOURCE", "RESULT"} {
		if strings.Contains(logged.String(), bad) {
			t.Errorf("log holds %s: %s", bad, logged.String())
		}
	}
}
