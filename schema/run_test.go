package schema

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/internal/hints"
	"github.com/capgen/capgen/runtime/binding"
)

const runManifest = `capgen: 1
go: {package: example.com/m/generated}
server: {name: m, version: 1.0.0}
capabilities:
  - name: lab.run
    id: job
    summary: Run it.
    description: Slowly.
    search: [backtest]
    effect: run
    runner: python3
    sandbox: none
    limits: {wall: 90m, output: 1GiB}
    tags: [slow]
    timeout: 5s
    deprecated: {since: "2026-11-29", use: lab.change}
    scopes: [lab:run]
    approval: {required: true, min: 2}
    errors: {gone: It is gone.}
    input: {type: object, properties: {p: {type: string}}}
    output: {type: object, required: [count], properties: {count: {type: integer}}}
  - name: lab.other
    was: [lab.old]
    summary: Run something else.
    effect: run
    runner: starlark
    scopes: none
    approval: {required: true}
    input: {type: object, properties: {}}
    output: {type: string}
  - name: lab.change
    summary: Change it.
    effect: change
    deprecated: {since: "2026-11-29", use: lab.other}
    scopes: none
    approval: {required: true}
    input: {type: object, properties: {}}
  - name: lab.look
    summary: Look at it.
    effect: read
    scopes: none
    input: {type: object, properties: {}}
    output: {type: boolean}
deployments: {default: {}, changes: {exclude: [{effect: run}], include: [lab.change, lab.other, lab.look]}, quiet: {include: [lab.look]}}
`

// loadRuns loads the manifest without what sends from one build into another.
func loadRuns(t *testing.T, edits ...string) *Manifest {
	t.Helper()
	text := strings.NewReplacer(edits...).Replace(runManifest)
	m, diags := Load(map[string][]byte{"m.yaml": []byte(text)}, "m.yaml")
	if m == nil {
		t.Fatal(diags)
	}
	return m
}

func TestRunsBecomeTheirParts(t *testing.T) {
	m := loadRuns(t, ", use: lab.other", "")
	type part struct {
		Name, ID, Effect, World, Use string
		Hints                        hints.Hints
		Errors                       bool
		Runner                       string
	}
	var got []part
	for _, c := range m.Capabilities {
		if c.Of == nil || c.Of.Effect != EffectRun {
			continue
		}
		use := ""
		if c.Deprecated != nil {
			use = c.Deprecated.Use
		}
		got = append(got, part{c.Name, c.ID, c.Effect, c.World, use, hints.Of(c.Effect, c.Idempotency, c.World), len(c.Errors) > 0, c.Run.Runner})
	}
	want := []part{
		{"lab.other.prepare", "lab.old.prepare", "write", "closed", "", hints.Hints{Idempotent: true}, false, "starlark"},
		{"lab.other.start", "lab.old.start", "write", "closed", "", hints.Hints{Idempotent: true}, false, "starlark"},
		{"lab.run.prepare", "job.prepare", "write", "closed", "lab.change.prepare", hints.Hints{Idempotent: true}, true, "python3"},
		// Nothing confines it.
		{"lab.run.start", "job.start", "destroy", "open", "lab.change.apply", hints.Hints{Destructive: true, Idempotent: true, OpenWorld: true}, false, "python3"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	run := m.Governed[2]
	if diff := cmp.Diff(&Run{Runner: "python3", Sandbox: "none", Limits: RunLimits{
		Wall: 90 * time.Minute, CPU: 90 * time.Minute, Memory: 512 << 20, Output: 1 << 30, Result: 256 << 10, Processes: 16, Parallel: 1,
	}}, run.Run); diff != "" {
		t.Errorf("%s (-want +got):\n%s", run.Name, diff)
	}
	if got := run.Run.Text() + " " + run.Run.Limits.Text(); got != "python3 sandbox=none wall=90m cpu=90m memory=512MiB output=1GiB result=256KiB processes=16 parallel=1" {
		t.Error(got)
	}
	if got := m.Governed[1].Run.Text() + " " + m.Governed[1].Run.Limits.Text(); got != "starlark sandbox=landlock wall=1m cpu=1m memory=512MiB output=1MiB result=256KiB processes=16 parallel=1" {
		t.Error(got)
	}
	if run.Landing() != StepStart || run.Called() != "lab.run.prepare" || len(m.Parts(run)) != 2 {
		t.Errorf("%s is started by %s, called by %s", run.Name, run.Landing(), run.Called())
	}
}

// A name that is too long for an approval was of no part, and a server's table
// holds the others.
func TestOldNamesOfParts(t *testing.T) {
	longest := "lab." + strings.Repeat("x", maxGoverned-4)
	m := loadRuns(t, ", use: lab.other", "", "was: [lab.old]", "was: [lab.old, "+longest+", "+longest+"y, "+longest+"yz]")
	var entries []binding.Entry
	for _, c := range m.Capabilities {
		entries = append(entries, binding.Entry{Name: c.Name, ID: c.ID, Binding: "{}", Was: c.Was})
	}
	table, err := binding.ParseTable(binding.EncodeTable(entries))
	if err != nil {
		t.Fatal(err)
	}
	for old, want := range map[string]string{"lab.old.start": "lab.other.start", longest + ".prepare": "lab.other.prepare", longest + "y.start": ""} {
		if got := table.Renamed(old); got != want {
			t.Errorf("%s is called %q now, want %q", old, got, want)
		}
	}
}

// The other way round: what is to be used instead of a change may be a run.
func TestWhatReplacesAChangeMayBeARun(t *testing.T) {
	m := loadRuns(t, ", use: lab.change", "", "exclude: [{effect: run}], ", "")
	for _, c := range m.Capabilities {
		if c.Name == "lab.change.apply" && c.Deprecated.Use != "lab.other.start" {
			t.Error(c.Deprecated.Use)
		}
	}
}

// The family of jobs is where a run is.
func TestJobsAreWhereRunsAre(t *testing.T) {
	m := loadRuns(t, ", use: lab.other", "", ", use: lab.change", "")
	for name, want := range map[string]string{
		"default": "change.cancel change.list change.show change.status run.cancel run.list run.logs run.result run.status",
		"changes": "change.cancel change.list change.show change.status",
		"quiet":   "",
		Untagged:  "",
	} {
		d := m.Deployment(name)
		if name == Untagged {
			d = m.Common()
		}
		var got []string
		for _, c := range d.Capabilities {
			if c.Step != "" && c.Of == nil {
				got = append(got, c.Name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s has %v", name, got)
		}
	}
	if _, diags := loadGoverned(t, ""); len(diags) > 0 {
		t.Fatal(diags)
	}
	governed, _ := loadGoverned(t, "")
	for _, c := range governed.Capabilities {
		if strings.HasPrefix(c.Name, "run.") {
			t.Errorf("%s is there, and no run", c.Name)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{"1KiB": 1 << 10, "16MiB": 16 << 20, "64GiB": 64 << 30, "1023KiB": 1023 << 10, "999999999GiB": 999999999 << 30} {
		got, ok := parseSize(text)
		if !ok || got != want || formatSize(got) != text {
			t.Errorf("%s is %d, written %s", text, got, formatSize(got))
		}
	}
	for _, text := range []string{"", "KiB", "0KiB", "01KiB", "-1KiB", "1kiB", "1 KiB", "1B", "1", "1TiB", "1234567890KiB", "1.5MiB"} {
		if _, ok := parseSize(text); ok {
			t.Errorf("%q is a size", text)
		}
	}
	if got := formatSize(2048 << 20); got != "2GiB" {
		t.Error(got)
	}
}
