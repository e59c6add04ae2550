package codegen

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/govern/job/runner"
	keeper "github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/mcpserver"
	"github.com/capgen/capgen/schema"
)

var update = flag.Bool("update", false, "write golden files")

func TestMain(m *testing.M) {
	runtime.ServeWorkerAndExit()
	keeper.ServeKeeperAndExit()
	runner.ServeStarlarkAndExit()
	os.Exit(m.Run())
}

// neverCalled is the input and output of handlers that no test calls.
type neverCalled struct{}

func (*neverCalled) Decode(r *canon.Reader) error { return r.Err() }
func (*neverCalled) Encode(*canon.Writer)         {}

// A whole namespace, as describe_api answers it. tools/tokens counts what it
// costs a model to read the golden file, a line for each answer.
func TestDescribeNamespace(t *testing.T) {
	folder := filepath.Join("testdata", "shop")
	text, err := os.ReadFile(filepath.Join(folder, "capabilities.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	m, diags := schema.Load(map[string][]byte{"capabilities.yaml": text}, "capabilities.yaml")
	if m == nil {
		t.Fatal(diags)
	}
	builder := runtime.NewBuilder(runtime.Options{Server: runtime.ServerInfo{Name: m.Server.Name}, Authorizer: authz.AllowAll()})
	var names []string
	for _, c := range m.Capabilities {
		names = append(names, c.Name)
		builder.Register(runtime.NewCapability(runtime.Info{
			ID: c.ID, Name: c.Name, Summary: c.Summary, Description: c.Description,
			Effect: runtime.Effect(c.Effect), Idempotency: runtime.Idempotency(c.Idempotency), World: runtime.World(c.World), Scopes: c.Scopes,
			Signature: Signature(c), Binding: bindingJSON(c), Input: describeInput(c.Input), Output: describeResult(c),
		}, func(context.Context, neverCalled) (neverCalled, error) { return neverCalled{}, nil }))
	}
	if len(names) != 30 {
		t.Fatalf("%d capabilities, want 30", len(names))
	}
	server, err := builder.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tools, err := mcpserver.NewTools(server, authz.StaticSubject(authz.Local()), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	for batch := range slices.Chunk(names, runtime.MaxDescribeNames) {
		arguments, err := json.Marshal(map[string][]string{"names": batch})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := tools.Call(t.Context(), mcpserver.DescribeTool, arguments)
		if err != nil || answer.Failed() {
			t.Fatal(err, string(answer.Content))
		}
		var described runtime.DescribeResult
		if err := json.Unmarshal(answer.Content, &described); err != nil {
			t.Fatal(err)
		}
		if len(described.Capabilities) != len(batch) {
			t.Fatalf("%d of %d described", len(described.Capabilities), len(batch))
		}
		got = append(append(got, answer.Content...), '\n')
	}
	golden := filepath.Join(folder, "describe.jsonl")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the answers differ from %s; -update writes it:\n%s", golden, diff)
	}
}
