package mcpimport

import (
	"slices"
	"strings"

	"github.com/capgen/capgen/internal/verbs"
	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/schema"
)

// Options say how to import.
type Options struct {
	// File is what the document is called in findings.
	File string
	// Namespace of all names: one or more segments joined by dots.
	Namespace string
	// Package makes a whole manifest with this go.package; empty makes a
	// part, of types and capabilities.
	Package string
	// Confirm leaves the mark away that has generate refuse inferred
	// effects. Whoever sets it vouches for every effect.
	Confirm bool
	// Skips are what is to be left out on purpose.
	Skips []Skip
}

// Skip leaves a tool out, by its name or the pointer to it, or accepts that
// what a finding's pointer names is left out. One that names nothing is an
// error.
type Skip struct{ Target, Reason string }

// Result is what an import came to.
type Result struct {
	// Manifest is YAML; nil if the document could not be read.
	Manifest []byte
	// Findings in the order of the document: an error for everything that
	// is left out and was not meant to be, a warning for what is carried
	// over in other words.
	Findings []schema.Diagnostic
	// Tools in the document: Imported and the others add up to it. Narrowed
	// are those imported without an optional property or a variant.
	Tools, Imported, Narrowed, Listed, Skipped int
}

// The rules of findings.
const (
	ruleDocument = "import-document" // nothing could be imported
	ruleListed   = "import-listed"   // a tool is left out
	ruleNarrowed = "import-narrowed" // a property or variant is left out
	ruleChanged  = "import-changed"  // something is told in other words
	ruleSkipped  = "import-skipped"  // left out on purpose
	ruleSkip     = "import-skip"     // a skip without a target
)

// entry is a tool on its way into a manifest.
type entry struct {
	tool        *tool
	name        string
	capability  *value
	types       []member
	left, notes []problem
}

// importer is one run of Import.
type importer struct {
	Options
	result Result
	lines  []int // offsets at which lines start
	used   []bool
	list   string // pointer of the list of tools
}

// Import turns a document into a manifest. Its time and memory are bounded
// whatever the bytes are, and the same bytes give the same result.
func Import(document []byte, o Options) *Result {
	im := &importer{Options: o, lines: []int{0}, used: make([]bool, len(o.Skips))}
	for i, c := range document[:min(len(document), MaxBytes)] {
		if c == '\n' {
			im.lines = append(im.lines, i+1)
		}
	}
	root, bad := readTree(document)
	if bad == nil {
		var tools *value
		if tools, im.list, bad = toolsOf(root); bad == nil {
			im.tools(tools)
			return &im.result
		}
	}
	im.find(*bad, schema.SeverityError, ruleDocument, "")
	return &im.result
}

// tools imports each, then lets the loader and the generator judge all.
func (im *importer) tools(tools *value) {
	im.result.Tools = len(tools.items)
	var entries []*entry
	first := map[string]*tool{}
	for i, v := range tools.items {
		at := index(im.list, i)
		t, bad := readTool(v, at)
		if bad != nil {
			im.leave(*bad, at, at)
			continue
		}
		if reason, ok := im.skip(t.name, at); ok {
			im.result.Skipped++
			im.find(problem{at, v.offset, quote(t.name) + " is left out on purpose: " + reason}, schema.SeverityWarning, ruleSkipped, "")
			continue
		}
		e, bad := im.entry(t)
		if bad == nil && first[e.name] != nil {
			bad = &problem{at + "/name", t.nameAt.offset, quote(t.name) + " becomes " + e.name + ", as " +
				quote(first[e.name].name) + " at " + first[e.name].pointer + "/name does"}
		}
		if bad != nil {
			im.leave(*bad, t.name, at)
			continue
		}
		first[e.name] = t
		entries = append(entries, e)
	}
	if entries, ok := im.verify(entries); ok {
		for _, e := range entries {
			im.report(e)
		}
		im.result.Imported = len(entries)
		im.result.Manifest = im.write(entries, im.Confirm).text()
	}
	for i, s := range im.Skips {
		if !im.used[i] {
			im.find(problem{reason: "--skip " + quote(s.Target) + " names no tool, and no place of a finding"}, schema.SeverityError, ruleSkip, "remove it, or correct it")
		}
	}
	slices.SortStableFunc(im.result.Findings, func(a, b schema.Diagnostic) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
}

// entry makes the entry of one tool.
func (im *importer) entry(t *tool) (*entry, *problem) {
	name := verbs.Words(t.name)
	leaf := strings.Join(name, "_")
	switch {
	case leaf == "":
		return nil, &problem{t.pointer + "/name", t.nameAt.offset, "the name " + quote(t.name) + " holds characters other than ASCII letters, digits and - _ . / :"}
	case len(im.Namespace)+1+len(leaf) > 64:
		return nil, &problem{t.pointer + "/name", t.nameAt.offset, "the name " + im.Namespace + "." + leaf + " has more than 64 bytes"}
	}
	t.typePrefix = camel(verbs.Words(im.Namespace)) + camel(name)
	l := &lowerer{tool: t}
	input, bad := l.input()
	if bad != nil {
		return nil, &bad.problem
	}
	e := &entry{tool: t, name: im.Namespace + "." + leaf, types: l.types, left: l.left, notes: l.notes}
	e.capability = im.capability(e, input)
	return e, nil
}

func (im *importer) capability(e *entry, input *value) *value {
	t := e.tool
	from := object(member{"tool", text(t.name)})
	title, escaped := clean(t.title)
	if title = oneLine(title); title != "" {
		from.set("title", text(cut(title, 200)))
	}
	description, more := clean(t.description)
	if escaped || more {
		e.notes = append(e.notes, problem{t.pointer, t.at.offset, "invisible characters in its texts are written as escapes"})
	}
	short := summary(title, description, t.name)
	p := propose(t)
	effect, scopes := text(p.effect), list(text(im.Namespace+":"+p.effect))
	effect.comment = p.because
	scopes.comment = "proposed; all of them are needed"

	c := object(member{"name", text(e.name)}, member{"source", object(member{"mcp", from})})
	if len(t.claims) > 0 {
		c.set("claimed", object(t.claims...))
	}
	c.set("summary", text(short))
	if description != "" && description != short {
		c.set("description", text(description))
	}
	c.set("effect", effect)
	c.set("inferred", list(text("effect")))
	c.set("world", text("open"))
	c.set("scopes", scopes)
	c.set("input", input)
	c.set("output", opaque())
	if t.hasOutput {
		e.notes = append(e.notes, problem{t.pointer + "/outputSchema", t.at.get("outputSchema").offset,
			"the output is x-opaque: a result of another server may hold members that its schema does not name, and outputs here are closed"})
	}
	return c
}

// skip finds a skip of a tool.
func (im *importer) skip(name, at string) (reason string, ok bool) {
	for i, s := range im.Skips {
		if s.Target == name || s.Target == at {
			im.used[i] = true
			reason, ok = s.Reason, true
		}
	}
	return reason, ok
}

// leave lists a tool.
func (im *importer) leave(p problem, name, at string) {
	if reason, ok := im.skip(name, p.pointer); ok {
		im.result.Skipped++
		im.find(problem{at, p.offset, quote(name) + " is left out on purpose: " + reason}, schema.SeverityWarning, ruleSkipped, "")
		return
	}
	im.result.Listed++
	p.reason = "the tool " + quote(name) + " is not imported: " + p.reason
	target := name
	if len(name) > 64 || strings.HasSuffix(p.pointer, "/name") { // nobody's name, or another tool's too
		target = p.pointer
	}
	im.find(p, schema.SeverityError, ruleListed, "write its entry by hand, or leave it out on purpose: --skip "+shellWord(target+"=REASON"))
}

// report lists what an imported tool does without, and what changed.
func (im *importer) report(e *entry) {
	if len(e.left) > 0 {
		im.result.Narrowed++
	}
	for _, p := range e.left {
		if reason, ok := im.skip("", p.pointer); ok {
			p.reason += "; on purpose: " + reason
			im.find(p, schema.SeverityWarning, ruleSkipped, "")
			continue
		}
		im.find(p, schema.SeverityError, ruleNarrowed, "accept it: --skip "+shellWord(p.pointer+"=REASON"))
	}
	for _, p := range e.notes {
		im.find(p, schema.SeverityWarning, ruleChanged, "")
	}
}

// find adds a finding. Its message begins with the pointer, as text of the
// document does in nothing: escaped.
func (im *importer) find(p problem, s schema.Severity, rule, hint string) {
	line, found := slices.BinarySearch(im.lines, p.offset)
	if !found {
		line--
	}
	message := p.reason
	if p.pointer != "" {
		message = cut(p.pointer, 400) + ": " + message
	}
	im.result.Findings = append(im.result.Findings, schema.Diagnostic{
		Position: schema.Position{File: im.File, Line: line + 1, Column: p.offset - im.lines[line] + 1},
		Severity: s, Rule: rule, Message: visible.Text(message), Hint: hint,
	})
}
