package codegen_test

import (
	"strings"
	"testing"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/schema"
)

// No code is generated that would hold more, or need less, than a deployment
// says.
func TestDeploymentsAreNotGeneratedYet(t *testing.T) {
	for _, deployments := range []string{
		"{default: {}, prod: {}}", "{default: none, prod: {}}", "{default: {require: [sandbox]}}",
		"{default: {credentials: {a: {from: env, name: A, host: a.example}}}}",
	} {
		m, diags := schema.Load(map[string][]byte{"m.yaml": []byte(troubled("", "a.b") + "deployments: " + deployments + "\n")}, "m.yaml")
		if m == nil {
			t.Fatal(diags)
		}
		files, diags := codegen.Generate(m)
		if files != nil || len(diags) == 0 || !strings.Contains(diags[0].String(), "[unsupported]") || diags[0].Line == 0 {
			t.Errorf("%s: %v", deployments, diags)
		}
	}
}
