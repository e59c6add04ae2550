package main

import (
	"context"
	"fmt"
	"go/format"
	"slices"
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
	if c.Of != nil {
		c = c.Of // a part has no method of its own
	}
	var methods []codegen.Handler
	for _, h := range codegen.Handlers(m) {
		if h.Capability == c {
			methods = append(methods, h)
		}
	}
	if len(methods) == 0 {
		fmt.Fprintf(t.stderr, "capgen stub: nobody implements %q: it comes with approval\n", c.Name)
		return exitFindings
	}
	text, err := format.Source([]byte(stubFile(methods)))
	if err != nil {
		return t.fail(err)
	}
	if _, err := t.stdout.Write(text); err != nil {
		return t.fail(err)
	}
	return exitClean
}

// stubFile is the file. Everything in it has the form of a name: no text of
// the manifest is.
func stubFile(methods []codegen.Handler) string {
	var b strings.Builder
	if c := methods[0].Constraint; c != "" {
		b.WriteString("//go:build " + c + "\n\n")
	}
	b.WriteString("package main\n\nimport (\n\t\"context\"\n\t\"errors\"\n\n")
	var packages []string
	for _, h := range methods {
		packages = append(packages, h.InputPackage, h.OutputPackage)
		if h.GovernPackage != "" {
			packages = append(packages, h.GovernPackage)
		}
	}
	slices.Sort(packages)
	for _, p := range slices.Compact(packages) {
		fmt.Fprintf(&b, "\t%q\n", p)
	}
	b.WriteString(")\n")
	for _, h := range methods {
		receiver := strings.ReplaceAll(h.Namespace(), ".", "_") + "Handlers"
		in, out := h.InputLabel+"."+h.InputName, h.OutputLabel+"."+h.OutputName
		if h.Approved {
			in = "govern.Approved[" + in + "]"
		}
		fmt.Fprintf(&b, "\n// %s is %s.\nfunc (%s) %s(ctx context.Context, in %s) (%s, error) {\n", h.Method, h.Name, receiver, h.Method, in, out)
		fmt.Fprintf(&b, "\tvar out %s\n\treturn out, errors.New(%q)\n}\n", out, h.Name+" has no handler yet")
	}
	return b.String()
}
