package main

import (
	"context"
	"fmt"
	"go/format"
	"strings"

	"github.com/capgen/capgen/codegen"
)

// stub prints a Go file with a handler to fill in, for the builds that hold the
// capability.
func stub(_ context.Context, t *tool, o *options) int {
	m, _, code, ok := t.compile(o)
	if !ok {
		return code
	}
	c, near := lookup(m, o.argument)
	if c == nil {
		fmt.Fprintf(t.stderr, "capgen stub: no capability is called %q%s\n", o.argument, near)
		return exitFindings
	}
	for _, h := range codegen.Handlers(m) {
		if h.Capability != c {
			continue
		}
		text, err := format.Source([]byte(stubFile(h)))
		if err != nil {
			return t.fail(err)
		}
		if _, err := t.stdout.Write(text); err != nil {
			return t.fail(err)
		}
	}
	return exitClean
}

// stubFile is the file. Everything in it has the form of a name: no text of
// the manifest is.
func stubFile(h codegen.Handler) string {
	var b strings.Builder
	if h.Constraint != "" {
		b.WriteString("//go:build " + h.Constraint + "\n\n")
	}
	b.WriteString("package main\n\nimport (\n\t\"context\"\n\t\"errors\"\n\n")
	packages := []string{h.InputPackage}
	if h.OutputPackage != h.InputPackage {
		packages = append(packages, h.OutputPackage)
	}
	for _, p := range packages {
		fmt.Fprintf(&b, "\t%q\n", p)
	}
	receiver := strings.ReplaceAll(h.Namespace(), ".", "_") + "Handlers"
	in, out := h.InputLabel+"."+h.InputName, h.OutputLabel+"."+h.OutputName
	fmt.Fprintf(&b, ")\n\n// %s is %s.\nfunc (%s) %s(ctx context.Context, in %s) (%s, error) {\n", h.Method, h.Name, receiver, h.Method, in, out)
	fmt.Fprintf(&b, "\tvar out %s\n\treturn out, errors.New(%q)\n}\n", out, h.Name+" has no handler yet")
	return b.String()
}
