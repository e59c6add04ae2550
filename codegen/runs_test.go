package codegen_test

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/codegen/testdata/runs/generated/catalog"
	"github.com/capgen/capgen/codegen/testdata/runs/generated/fake"
	"github.com/capgen/capgen/runtime"
	"github.com/capgen/capgen/runtime/examples"
	"github.com/capgen/capgen/schema"
)

func runsManifest(t *testing.T, more string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/runs/capabilities.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ = bytes.Cut(text, []byte("programs:\n"))
	return strings.Replace(string(text), "github.com/capgen/capgen/codegen/testdata/runs/generated", "example.com/g/generated", 1) + more
}

// builtRuns are more capabilities and deployments. The result of lab.survey is a
// type that another capability shares, which is not where the run is alone.
const builtRuns = `
  - name: store.look
    summary: Look at the record.
    effect: read
    scopes: none
    input: {type: object, properties: {}}
    output: {type: boolean}
  - name: wire.run
    summary: Run something else.
    effect: run
    runner: python3
    scopes: none
    approval: {required: true}
    input: {type: object, properties: {}}
    output: {type: string, maxLength: 9}
  - name: store.report
    summary: Read the report.
    effect: read
    scopes: none
    input: {type: object, properties: {}}
    output: {$ref: "#/types/Report"}
deployments:
  default: {}
  quiet: {include: [store.look]}
  notes: {include: [store.note, store.look, store.report]}
  one: {include: [lab.survey, store.look]}
`

// Every build compiles, has the results of the runs that it holds, and of no
// others, and the family of jobs where there is a run.
func TestRunBuilds(t *testing.T) {
	files := generate(t, fromText(t, runsManifest(t, builtRuns)))
	for tag, want := range map[string]struct{ service, family, survey, evaluate bool }{
		"capgen_default": {true, true, true, true},
		"capgen_one":     {true, true, true, false},
		"capgen_notes":   {true, false, false, false},
		"capgen_quiet":   {},
		"":               {},
	} {
		if err := compile(t, files, tag); err != nil {
			t.Errorf("%q: %v", tag, err)
		}
		all := ""
		for _, content := range built(t, files, tag) {
			all += string(content)
		}
		for what, want := range map[string]bool{
			"Govern *govern.Service":               want.service,
			"runtime/govern":                       want.service,
			`"run.status"`:                         want.family,
			`"lab.survey": wire.Result[`:           want.survey,
			`"evaluation": wire.Result[`:           want.evaluate,
			"evaluation":                           want.evaluate,
			"Results() map[string]func([]byte)":    true,
			"lab.Results()":                        want.survey,
			"func (labHandlers) Survey(":           want.survey,
			"Survey(ctx context.Context, in Surve": want.survey,
		} {
			if strings.Contains(all, what) != want {
				t.Errorf("%q: holds %s: %t", tag, what, !want)
			}
		}
	}
}

// The texts of a result's type are in each build that holds the run.
func TestRunResultTexts(t *testing.T) {
	text := strings.Replace(runsManifest(t, builtRuns), "  Report:\n", "  Report:\n    description: As store.report has it.\n", 1)
	files, diags := codegen.Generate(fromText(t, text))
	if files != nil || len(diags) != 1 || diags[0].Rule != "absent-name" || !strings.Contains(diags[0].Message, "type Report names store.report, which deployment one does not hold") {
		t.Errorf("%v", diags)
	}
}

// The fake plans, starts and ends runs without anybody's approval, on the way of
// a program, and their results are those of the examples.
func TestRunFake(t *testing.T) {
	ran := 0
	register := func(b *runtime.Builder) { catalog.Register(b, fake.Handlers()) }
	for name, err := range examples.Run(t.Context(), register, fake.Examples(), fake.Programs()) {
		ran++
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if ran != 5 {
		t.Errorf("%d examples and programs ran", ran)
	}
}

// No way to decide, and none to start without a plan, reaches programs.
func TestNoStartWithoutAPlan(t *testing.T) {
	b := runtime.NewBuilder(runtime.Options{Server: catalog.Server(), Authorizer: authz.AllowAll()})
	catalog.Register(b, fake.Handlers())
	server, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, program := range []string{
		"run.start(plan='p', token='t', key='k')", "run.approve(plan='p')", "run.clean()", "lab.evaluate(candidate='a')", "lab.evaluate.apply(plan='p', token='t', key='k')",
		"lab.evaluate.start(plan='p', token='t', key='k')", "lab.evaluate.start(candidate='a', key='k')", "store.note.start(plan='p', token='t', key='k')",
	} {
		_, err := server.Execute(t.Context(), authz.Local(), "def main():\n    return "+program+"\n")
		var e *runtime.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", program, err)
		}
	}
}

// What a run has written is checked by its schema and becomes canonical.
func TestRunResults(t *testing.T) {
	results := catalog.Results()
	if got := slices.Sorted(maps.Keys(results)); strings.Join(got, " ") != "evaluation lab.survey" {
		t.Fatal(got)
	}
	for _, test := range []struct{ id, text, want string }{
		{"evaluation", ` { "score" : 5e-1, "label":"\u0061" } `, `{"label":"a","score":0.5}`},
		{"evaluation", `{"score":1}`, `{"score":1}`},
		{"evaluation", `{"score":2}`, ""},
		{"evaluation", `{"label":"a"}`, ""},
		{"evaluation", `{"score":1,"more":1}`, ""},
		{"evaluation", `{"score":1,"score":1}`, ""},
		{"evaluation", `{"score":1}{}`, ""},
		{"evaluation", `{"score":NaN}`, ""},
		{"evaluation", `{"score":1,"label":"aaaaaaaaaaaaaaaaa"}`, ""},
		{"evaluation", ``, ""},
		{"evaluation", "{\"score\":1,\"label\":\"\xff\"}", ""},
		{"lab.survey", `{"rows":3}`, `{"bytes_read":"0","notes":[],"rows":3,"seals":[]}`},
		{"lab.survey", `{"rows":3,"bytes_read":"5","seals":["YWI="]}`, `{"bytes_read":"5","notes":[],"rows":3,"seals":["YWI="]}`},
		{"lab.survey", `{"rows":3,"bytes_read":5}`, ""},
		{"lab.survey", `{"rows":-1}`, ""},
		{"lab.survey", `[]`, ""},
	} {
		got, err := results[test.id]([]byte(test.text))
		if string(got) != test.want && err == nil || (err != nil) != (test.want == "") {
			t.Errorf("%s: %s\n\tgot %s, %v\n\twant %s", test.id, test.text, got, err, test.want)
		}
	}
}

// A model that no manifest makes is refused.
func TestHandMadeRun(t *testing.T) {
	part := func(m *schema.Manifest, name string) *schema.Capability {
		return m.Capabilities[slices.IndexFunc(m.Capabilities, func(c *schema.Capability) bool { return c.Name == name })]
	}
	for name, change := range map[string]func(m *schema.Manifest){
		"without what runs it": func(m *schema.Manifest) { m.Governed[0].Run = nil },
		"no run":               func(m *schema.Manifest) { m.Governed[0].Effect = schema.EffectChange },
		"another step": func(m *schema.Manifest) {
			c := part(m, "lab.evaluate.start")
			c.Name, c.Step = "lab.evaluate.apply", schema.StepApply
		},
		"a step that is not its own": func(m *schema.Manifest) {
			c := part(m, "store.note.apply")
			c.Name, c.Step = "store.note.start", schema.StepStart
		},
		"a family member more": func(m *schema.Manifest) {
			c := *part(m, "run.status")
			c.Name, c.Step = "run.start", "start"
			m.Capabilities = append(slices.Clone(m.Capabilities), &c)
		},
	} {
		m := fromText(t, runsManifest(t, ""))
		change(m)
		m.Deployments = nil
		files, diags := codegen.Generate(m)
		if files != nil || !slices.ContainsFunc(diags, func(d schema.Diagnostic) bool { return d.Rule == "approval" }) {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

// Names that Go cannot tell apart are told, with both places.
func TestRunCollisions(t *testing.T) {
	const plain = "    summary: Do it.\n    effect: write\n    scopes: none\n    input: {type: object, properties: {}}\n    output: {type: string}\n"
	for _, test := range []struct{ more, want string }{
		{"  - name: lab.evaluate_start\n" + plain, "would both be evaluateStartCapability"},
		{"  - name: lab.evaluate_prepare\n" + plain, "would both be evaluatePrepareCapability"},
	} {
		files, diags := codegen.Generate(fromText(t, runsManifest(t, test.more)))
		if files != nil || len(diags) == 0 || diags[0].Line == 0 || !strings.Contains(diags[0].Message, test.want) {
			t.Errorf("%s\n\t%v\n\twant %s", test.more, diags, test.want)
		}
	}
}

// What people approve of a run is its contract: who runs it, how confined, and
// how far it may go.
func TestRunContract(t *testing.T) {
	digest := func(edit ...string) string {
		m := fromText(t, strings.NewReplacer(edit...).Replace(runsManifest(t, "")))
		return codegen.Digest(m.Governed[slices.IndexFunc(m.Governed, func(c *schema.Capability) bool { return c.ID == "evaluation" })])
	}
	seen := map[string]string{digest(): "nothing"}
	for _, edit := range [][]string{
		{"runner: starlark", "runner: python3"}, {"sandbox: worker", "sandbox: none"},
		{"wall: 90s", "wall: 91s"}, {"cpu: 1500ms", "cpu: 1501ms"}, {"memory: 256MiB", "memory: 257MiB"},
		{"output: 64KiB", "output: 65KiB"}, {"result: 4KiB", "result: 5KiB"}, {"processes: 8", "processes: 9"}, {"parallel: 2", "parallel: 3"},
		{"score: {type: number, minimum: 0", "score: {type: number, minimum: -1"},
	} {
		d := digest(edit...)
		if other, is := seen[d]; is {
			t.Errorf("%v changes as much as %s", edit, other)
		}
		seen[d] = edit[1]
	}
}
