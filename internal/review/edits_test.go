package review

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/schema"
)

var update = flag.Bool("update", false, "write golden files")

const today = "2026-11-29"

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// load reads a manifest that code can be generated for.
func load(t testing.TB, text string) *schema.Manifest {
	t.Helper()
	m, diags := schema.Load(map[string][]byte{"capabilities.yaml": []byte(text)}, "capabilities.yaml")
	if m == nil {
		t.Fatal(diags)
	}
	// Goldens were written of manifests that code can be generated for, which
	// takes the longest to find out.
	if *update {
		if diags := codegen.Diagnose(m); schema.HasErrors(diags) {
			t.Fatal(diags)
		}
	}
	return m
}

// edited applies an edit: hunks of lines that stay, go and come, each of which
// has one place in the text.
func edited(t *testing.T, text, edit string) string {
	t.Helper()
	for hunk := range strings.SplitSeq(strings.TrimPrefix(edit, "@@\n"), "@@\n") {
		var before, after strings.Builder
		for line := range strings.Lines(hunk) {
			if line[0] != '+' {
				before.WriteString(line[1:])
			}
			if line[0] != '-' {
				after.WriteString(line[1:])
			}
		}
		// A line of the text begins behind another, or at its beginning.
		if strings.Count("\n"+text, "\n"+before.String()) != 1 {
			t.Fatalf("not one place for\n%s", hunk)
		}
		text = strings.Replace("\n"+text, "\n"+before.String(), "\n"+after.String(), 1)[1:]
	}
	return text
}

// Each edit of a real manifest has the summary that stands below it.
func TestEdits(t *testing.T) {
	text := read(t, "testdata/workspace.yaml")
	base := load(t, text)
	names, err := filepath.Glob("testdata/edits/*.txtar")
	if err != nil || len(names) < 40 {
		t.Fatalf("%d edits, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive := txtar.Parse([]byte(read(t, name)))
			files := map[string]string{}
			for _, f := range archive.Files {
				files[f.Name] = string(f.Data)
			}
			in := Input{
				Base: base, Head: load(t, edited(t, text, files["edit"])),
				BaseName: "git:main", HeadName: "capabilities.yaml", File: "capabilities.yaml", Today: today, GeneratedKnown: true,
			}
			for _, f := range archive.Files {
				if strings.HasPrefix(f.Name, "changes/") {
					w, diags := schema.LoadWaiver(f.Data, f.Name)
					if w == nil {
						t.Fatal(diags)
					}
					in.Waivers = append(in.Waivers, w)
				}
			}
			for file := range strings.Lines(files["generated"]) {
				in.Generated = append(in.Generated, schema.Diagnostic{Position: schema.Position{File: strings.TrimSpace(file)}, Severity: schema.SeverityError})
			}
			r, err := New(in)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := r.WriteMarkdown(&b); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(b.String(), "\n**Compatible.**\n") == r.Failed() {
				t.Errorf("failed %v, and the summary says otherwise", r.Failed())
			}
			if *update {
				kept := archive.Files[:0]
				for _, f := range archive.Files {
					if f.Name != "summary.md" {
						kept = append(kept, f)
					}
				}
				archive.Files = append(kept, txtar.File{Name: "summary.md", Data: []byte(b.String())})
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(files["summary.md"], b.String()); diff != "" {
				t.Errorf("the summary differs; -update writes it:\n%s", diff)
			}
		})
	}
}
