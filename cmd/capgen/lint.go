package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/capgen/capgen/internal/lint"
	"github.com/capgen/capgen/schema"
)

// lintManifest prints what lint finds, after what loading found.
func lintManifest(_ context.Context, t *tool, o *options) int {
	if o.explain != "" {
		return t.explain(o.explain)
	}
	m, diags, err := t.loadFile(o.manifest)
	if err != nil {
		return t.fail(err)
	}
	if m != nil {
		// Rules that both have are lint's: it knows what is accepted.
		diags = slices.DeleteFunc(diags, func(d schema.Diagnostic) bool { return hasRule(d.Rule) })
		for _, f := range lint.Check(m) {
			diags = append(diags, f.Diagnostic)
		}
		diags = schema.Sort(diags, 0)
	}
	if len(diags) > 0 || o.format == schema.FormatJSON {
		if err := schema.Render(t.stdout, diags, o.format); err != nil {
			return t.fail(err)
		}
	}
	errors := 0
	for _, d := range diags {
		if d.Severity == schema.SeverityError {
			errors++
		}
	}
	fmt.Fprintf(t.stderr, "%s: %s, %s\n", filepath.ToSlash(o.manifest), count(errors, "error"), count(len(diags)-errors, "warning"))
	if errors > 0 || o.strict && len(diags) > 0 {
		return exitFindings
	}
	return exitClean
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func hasRule(id string) bool {
	return slices.ContainsFunc(lint.Rules(), func(r lint.Rule) bool { return r.ID == id })
}

// explain prints a rule, of lint or of loading.
func (t *tool) explain(id string) int {
	var known []string
	for _, r := range lint.Rules() {
		if r.ID == id {
			fmt.Fprintf(t.stdout, "%s: %s\n\n%s\n\n%s\n", r.ID, r.Level, r.Text, r.Explanation)
			return exitClean
		}
		known = append(known, r.ID)
	}
	for _, r := range schema.Rules() {
		if r.ID == id {
			fmt.Fprintf(t.stdout, "%s: a manifest that breaks it is no manifest; generate reports it too\n\n%s\n", r.ID, r.Text)
			return exitClean
		}
		known = append(known, r.ID)
	}
	fmt.Fprintf(t.stderr, "capgen lint: there is no rule %q%s\n", id, didYouMean(id, known))
	return exitUsage
}
