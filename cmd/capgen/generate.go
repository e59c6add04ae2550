package main

import (
	"context"
	"fmt"

	"github.com/capgen/capgen/schema"
)

// generate makes the generated root hold what the manifest means.
func generate(ctx context.Context, t *tool, o *options) int {
	m, files, code, ok := t.compile(o)
	if !ok {
		return code
	}
	tr, err := t.openTree(o, m.Package, !o.dryRun)
	if err != nil {
		return t.fail(err)
	}
	defer tr.close()
	if err := t.warnElsewhere(o, tr, m.Package); err != nil {
		return t.fail(err)
	}
	changes, inTheWay, err := tr.changes(files)
	if err != nil {
		return t.fail(err)
	}
	if len(inTheWay) > 0 {
		return t.refuse(tr, inTheWay, o.format)
	}
	wrote, removed := 0, 0
	for _, c := range changes {
		verb := "write"
		if c.content == nil {
			verb = "remove"
			removed++
		} else {
			wrote++
		}
		if o.dryRun {
			fmt.Fprintf(t.stdout, "%s %s\n", verb, tr.shown(c.name))
		}
	}
	if !o.dryRun {
		ctx, stop := interruptible(ctx)
		err := tr.apply(ctx, changes)
		stop()
		if err != nil {
			return t.fail(err)
		}
	}
	verb := "wrote"
	if o.dryRun {
		verb = "would have written"
	}
	fmt.Fprintf(t.stderr, "%s: %s %d, removed %d, unchanged %d\n", tr.name, verb, wrote, removed, len(files)-wrote)
	return exitClean
}

// refuse reports files that stand where generated ones belong.
func (t *tool) refuse(tr *tree, names []string, format schema.Format) int {
	var diags []schema.Diagnostic
	for _, name := range names {
		diags = append(diags, finding(tr.shown(name), "generated-in-the-way",
			"this file was not written by capgen, and a generated one belongs here",
			"move it away, and run capgen generate again"))
	}
	t.report(diags, format, true)
	return exitFindings
}

func finding(file, rule, message, hint string) schema.Diagnostic {
	return schema.Diagnostic{
		Position: schema.Position{File: file}, Severity: schema.SeverityError,
		Rule: rule, Message: message, Hint: hint,
	}
}
