package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/schema"
)

const runGenerate = "run capgen generate, and commit what it writes"

// check compares the generated root with what generate would write.
func check(ctx context.Context, t *tool, o *options) int {
	m, files, code, ok := t.compile(o)
	if !ok {
		return code
	}
	tr, err := t.openTree(o, m.Package, false)
	if err != nil {
		return t.fail(err)
	}
	defer tr.close()
	if err := t.warnElsewhere(o, tr, m.Package); err != nil {
		return t.fail(err)
	}
	diags, diffs, err := tr.compare(ctx, files)
	if err != nil {
		return t.fail(err)
	}
	handlers, err := t.misplaced(ctx, o, m, tr)
	if err != nil {
		return t.fail(err)
	}
	diags = append(diags, handlers...)
	if len(diags) == 0 {
		if o.format == schema.FormatJSON { // whoever parses it gets a document
			if err := schema.Render(t.stdout, nil, o.format); err != nil {
				return t.fail(err)
			}
		}
		fmt.Fprintf(t.stderr, "%s: up to date, %d files\n", tr.name, len(files))
		return exitClean
	}
	if err := schema.Render(t.stdout, diags, o.format); err != nil {
		return t.fail(err)
	}
	if o.format != schema.FormatJSON {
		fmt.Fprint(t.stdout, diffs)
	}
	return exitFindings
}

// compare lists what differs, and the diff that leads from what is there to
// files.
func (tr *tree) compare(ctx context.Context, files map[string][]byte) (diags []schema.Diagnostic, diffs string, err error) {
	recorded, err := tr.recorded()
	if err != nil {
		return nil, "", err
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content, ok, err := tr.read(name)
		if err != nil {
			return nil, "", err
		}
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		if ok && string(content) == string(files[name]) {
			continue
		}
		diags = append(diags, differs(tr.shown(name), content, ok, recorded, name))
		b.WriteString(unified(tr.shown(name), content, ok, files[name], true))
	}
	extra, foreign, err := tr.extra(files)
	for _, name := range extra {
		if foreign[name] {
			diags = append(diags, finding(tr.shown(name), "generated-extra",
				"extra: this Go file is among generated ones, and capgen did not write it", "move it to a package of yours"))
			continue
		}
		content, _, err := tr.read(name)
		if err != nil {
			return nil, "", err
		}
		diags = append(diags, finding(tr.shown(name), "generated-extra", "extra: the manifest does not ask for this file", runGenerate))
		b.WriteString(unified(tr.shown(name), content, true, nil, false))
	}
	return diags, b.String(), err
}

// differs says what a file is that is not as it should be. Its recorded sum
// tells whether a person or a change of the manifest made the difference; of
// the sums themselves nothing is recorded, they are stale with the rest.
func differs(shown string, content []byte, exists bool, recorded map[string]string, name string) schema.Diagnostic {
	switch {
	case !exists:
		return finding(shown, "generated-missing", "missing: the manifest asks for this file", runGenerate)
	case name == codegen.SumsFile || sum(content) == recorded[name]:
		return finding(shown, "generated-stale", "stale: the manifest has changed since this file was generated", runGenerate)
	}
	if len(recorded) == 0 {
		return finding(shown, "generated-edited", "edited or stale: "+codegen.SumsFile+", which would tell, is missing", runGenerate)
	}
	return finding(shown, "generated-edited", "edited: this file is not as it was generated",
		"change the manifest instead, then run capgen generate, which overwrites the edit")
}

// recorded are the sums that the last generate left, by file.
func (tr *tree) recorded() (map[string]string, error) {
	content, _, err := tr.read(codegen.SumsFile)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for line := range strings.Lines(string(content)) {
		if sum, name, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "  "); ok {
			out[name] = sum
		}
	}
	return out, nil
}

func sum(content []byte) string {
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}

// unified is a diff that git apply takes. What a terminal would obey in an
// edited file is shown as U+FFFD.
func unified(shown string, is []byte, exists bool, want []byte, wanted bool) string {
	from, to := "a/"+shown, "b/"+shown
	if !exists {
		from = "/dev/null"
	}
	if !wanted {
		to = "/dev/null"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, string(diff.Diff(from, is, to, want)))
}
