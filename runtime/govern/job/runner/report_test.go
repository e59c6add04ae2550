package runner

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/internal/visible"
)

var update = flag.Bool("update", false, "write the golden files")

func sample() Result {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return Result{
		Title: "rate <b>two</b> models", Job: "job_00000000000000000000000000000001", Plan: "plan_00000000000000000000000000000001",
		Capability: "candidates.evaluate", State: "SUCCEEDED", Runner: "starlark", Sandbox: "worker", Scope: "cgroup",
		SHA256: strings.Repeat("ab", 32), Created: at, Started: at.Add(time.Second), Ended: at.Add(3500 * time.Millisecond),
		JSON: []byte(`{"summary":"two of three hold","error":0.25,"seeds":[1,2,3],"best_of.all":"m2","|a` + "`" + `b":"[x](http://x.invalid)\u202e\u001b[2J","empty":null,"metrics":{"loss":0.5,"# x":[1,2]},"none":{},"models":[{"name":"m1","note":"` + "```\\n# not a heading" + `"},{"name":"m2"}]}`),
	}
}

func TestReport(t *testing.T) {
	got := Report(sample())
	if *update {
		if err := os.WriteFile("testdata/report.md", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/report.md")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}

// What is in a report's block is the JSON that it is of.
func TestReportKeepsValues(t *testing.T) {
	const text = `{"a":[{"x":"é\u0001\ud83d\ude00\"\\","y":[[],{},[[1.50,-2e9,true,null]]]}]}`
	_, rest, _ := strings.Cut(Report(Result{JSON: []byte(text)}), "```json\n")
	shown, _, ended := strings.Cut(rest, "\n```\n")
	var want, got any
	if err := json.Unmarshal([]byte(text), &want); err != nil || !ended {
		t.Fatal(err, ended)
	}
	if err := json.Unmarshal([]byte(shown), &got); err != nil {
		t.Fatal(err, shown)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A report is bounded, and says where it was cut.
func TestReportIsBounded(t *testing.T) {
	long, deep, wide := strings.Repeat("x", 1<<20), strings.Repeat("[", 9000)+strings.Repeat("]", 9000), map[string]any{}
	for i := range 10_000 {
		wide[fmt.Sprint("n", i)] = i
	}
	// What is written as escapes is longer than it was.
	escapes := map[string]any{}
	for i := range maxRows {
		escapes[strings.Repeat("\x01", maxCell)+fmt.Sprint(i)] = i
	}
	asJSON := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for name, text := range map[string]string{
		"names": asJSON(escapes), "parts": asJSON(map[string]any{"a": 1, "b": escapes, "c": 2}),
		"long": `{"x":"` + long + `"}`, "deep": deep, "wide": asJSON(wide), "key": `{"` + long + `":1}`, "not JSON": "{", "two": "{} {}", "empty": "{}",
	} {
		r := Report(Result{Title: long, Capability: long, JSON: []byte(text)})
		if len(r) > MaxReport {
			t.Errorf("%s: %d bytes", name, len(r))
		}
		plain(t, r)
		if cut := strings.Contains(r, "The rest is left out here."); cut != slices.Contains([]string{"long", "wide", "names", "parts"}, name) {
			t.Errorf("%s: cut %t:\n%.2000s", name, cut, r)
		}
	}
}

// Outside of what stands between backquotes, a report has only lines of these
// forms; all of its words are the report's own.
var (
	span  = regexp.MustCompile("`[^`\n]+`")
	lines = regexp.MustCompile(`^(|# Result of a run|## Result|@( and more)?|\| (Run \| \||Name \| Value \|)|\|---\|---\||` +
		`\| (Capability|State|Job|Plan|Runner|Sandbox|Scope|SHA-256 of the result) \| @( and more)? \||` +
		`\| (Created|Started|Ended) \| [0-9]+-[0-9]{2}-[0-9]{2} [0-9:]{8} UTC \||\| Took \| [0-9.]+ s \||` +
		`\| @( and more)?( @( and more)?)? \| @(, @)* \||It is empty\.|It cannot be shown: it is not JSON\.|The rest is left out here\.)$`)
)

// plain fails where r has something that is not a report's own.
func plain(t *testing.T, r string) {
	t.Helper()
	for _, c := range r {
		if c != '\n' && !visible.Readable(c) {
			t.Fatalf("%U in %q", c, r)
		}
	}
	if strings.ContainsAny(r, "<>&") {
		t.Fatalf("marks of HTML: %s", r)
	}
	before, rest, fenced := strings.Cut(r, "```json\n")
	if fenced {
		inside, after, ended := strings.Cut(rest, "\n```\n")
		if !ended || strings.ContainsAny(inside, "`|") {
			t.Fatalf("the block is left early: %s", r)
		}
		before += after
	}
	for line := range strings.SplitSeq(before, "\n") {
		cells := span.FindAllString(line, -1)
		for _, cell := range cells {
			if inside := cell[1 : len(cell)-1]; strings.Contains(inside, "|") || inside != strings.TrimSpace(inside) {
				t.Fatalf("a cell that is two, or loses a space: %s", line)
			}
		}
		if !lines.MatchString(span.ReplaceAllString(line, "@")) {
			t.Fatalf("%q is no line of a report", line)
		}
	}
}

// FuzzReport: nothing that a candidate, or who asks, writes becomes a heading, a
// link, markup, or a row of its own.
func FuzzReport(f *testing.F) {
	s := sample()
	f.Add(s.Title, s.Capability, s.JSON)
	for _, text := range []string{
		"# heading", "a\n# heading", "` | x |\n|---|---|\n", "[x](http://x.invalid)", "<script>", "http://x.invalid", "www.x.invalid", "a@x.invalid", "~~~", "```", "\\`", "\u2028# x",
		"\x1b]8;;http://x.invalid\x07", "\u202e\U000e0041", "\xff\xfe", "&lt;", " ", "_a_", "1. x", "---", "    code",
	} {
		j, err := json.Marshal(map[string]any{text: text, "list": []string{text, text}, "nested": map[string]any{text: []any{text}}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, text, j)
	}
	f.Fuzz(func(t *testing.T, title, name string, text []byte) {
		plain(t, Report(Result{Title: title, Job: name, Plan: title, Capability: name, State: name, Runner: title, Sandbox: name, Scope: name, SHA256: title, JSON: text}))
	})
}
