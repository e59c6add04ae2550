package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/internal/hints"
	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/schema"
)

// derived are the four hints of MCP. They are derived, never declared.
type derived struct {
	ReadOnly    bool `json:"readOnly"`
	Destructive bool `json:"destructive"`
	Idempotent  bool `json:"idempotent"`
	OpenWorld   bool `json:"openWorld"`
}

// deprecation is when and for what a capability goes.
type deprecation struct {
	Since       string `json:"since"`
	RemoveAfter string `json:"remove_after,omitempty"`
	Use         string `json:"use,omitempty"`
}

// importedFrom is the tool of an MCP server that a capability stands for.
type importedFrom struct {
	Tool  string `json:"tool"`
	Title string `json:"title,omitempty"`
}

// noAction says that the Cedar schema has no action, and why.
type noAction struct {
	At     string `json:"at"`
	Reason string `json:"reason"`
}

type (
	errorForms   = []codegen.ErrorForm
	exampleForms = []codegen.ExampleForm
)

// effectiveForm is what show prints: what a capability may do first.
type effectiveForm struct {
	Name        string          `json:"name"`
	ID          string          `json:"id"`
	Effect      string          `json:"effect"`
	Scopes      []string        `json:"scopes"`
	Deployments []string        `json:"deployments,omitempty"`
	Idempotency string          `json:"idempotency"`
	World       string          `json:"world"`
	Hints       derived         `json:"hints"`
	Rules       []codegen.Rule  `json:"rules,omitempty"`
	Was         []string        `json:"was,omitempty"`
	Tags        []string        `json:"tags,omitempty"`
	Deprecated  *deprecation    `json:"deprecated,omitempty"`
	Source      *importedFrom   `json:"source,omitempty"`
	Claimed     map[string]bool `json:"claimed,omitempty"`
	Digest      string          `json:"digest"`
	Signature   string          `json:"signature,omitempty"`
	Parts       []string        `json:"parts,omitempty"`
	Summary     string          `json:"summary"`
	Description string          `json:"description"`
	Search      []string        `json:"search"`
	Policy      *noAction       `json:"policy,omitempty"`
	Input       json.RawMessage `json:"input"`
	Output      json.RawMessage `json:"output"`
	Errors      errorForms      `json:"errors,omitempty"`
	Examples    exampleForms    `json:"examples,omitempty"`
}

// show prints one capability in its effective form.
func show(_ context.Context, t *tool, o *options) int {
	m, _, code, ok := t.compile(o)
	if !ok {
		return code
	}
	if o.deployment != "" {
		return t.showDeployment(o, m)
	}
	c, near := lookup(m, o.argument)
	if c == nil {
		fmt.Fprintf(t.stderr, "capgen show: no capability is called %q%s\n", o.argument, near)
		return exitFindings
	}
	form := effective(m, c)
	if m.Tagged() {
		form.Deployments = m.Reach(c)
	}
	var err error
	if o.format == schema.FormatJSON {
		err = writeJSON(t.stdout, form)
	} else {
		err = form.writeText(t.stdout)
	}
	if err != nil {
		return t.fail(err)
	}
	return exitClean
}

// lookup finds a capability by name or id; near is a suggestion on a miss.
func lookup(m *schema.Manifest, name string) (c *schema.Capability, near string) {
	var known []string
	for _, c := range lookedUp(m) {
		if c.Name == name {
			return c, ""
		}
		known = append(known, c.Name, c.ID)
	}
	for _, c := range lookedUp(m) {
		if c.ID == name {
			return c, ""
		}
	}
	for _, c := range lookedUp(m) {
		if slices.Contains(c.Was, name) {
			return nil, fmt.Sprintf(": it was renamed to %q", c.Name)
		}
	}
	return nil, didYouMean(name, known)
}

// lookedUp are the capabilities that a name may mean: what programs call, and
// what the manifest declares where that is something else.
func lookedUp(m *schema.Manifest) []*schema.Capability {
	return append(slices.Clone(m.Capabilities), m.Governed...)
}

func effective(m *schema.Manifest, c *schema.Capability) effectiveForm {
	hint := hints.Of(c.Effect, c.Idempotency, c.World)
	signature, parts := codegen.Signature(c), []string(nil)
	if c.IsGoverned() { // nobody calls it
		signature = ""
		hint = hints.Hints{ReadOnly: true, Idempotent: true}
		for _, p := range m.Parts(c) {
			parts = append(parts, codegen.Signature(p))
			hint = hint.Join(hints.Of(p.Effect, p.Idempotency, p.World))
		}
	}
	var source *importedFrom
	if c.Source != nil {
		source = &importedFrom{c.Source.Tool, c.Source.Title}
	}
	var policy *noAction
	if at, why, refused := codegen.CedarRefusal(c); refused {
		policy = &noAction{at.String(), why}
	}
	claimed := make(map[string]bool, len(c.Claimed))
	for _, claim := range c.Claimed {
		claimed[claim.Name] = claim.Value
	}
	return effectiveForm{
		Source: source, Claimed: claimed, Policy: policy,
		Name: c.Name, ID: c.ID, Effect: c.Effect, Scopes: append([]string{}, c.Scopes...),
		Idempotency: c.Idempotency, World: c.World,
		Hints: derived(hint),
		Rules: codegen.Rules(c),
		Was:   c.Was, Tags: c.Tags, Deprecated: (*deprecation)(c.Deprecated),
		Digest:    "sha256:" + codegen.Digest(c),
		Signature: signature, Parts: parts, Summary: c.Summary, Description: c.Description,
		Search: append([]string{}, c.Search...),
		Input:  codegen.InlineSchema(c.Input), Output: codegen.InlineSchema(c.Output),
		Errors: codegen.ErrorForms(c), Examples: codegen.ExampleForms(c),
	}
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func (f effectiveForm) writeText(w io.Writer) error {
	scopes := "none"
	if len(f.Scopes) > 0 {
		scopes = strings.Join(f.Scopes, " ")
	}
	var b strings.Builder
	line := func(label, text string) { fmt.Fprintf(&b, "%-12s %s\n", label, visible.Text(text)) }
	line("name", f.Name)
	line("id", f.ID)
	line("effect", f.Effect)
	line("scopes", scopes)
	if len(f.Deployments) > 0 {
		line("deployments", strings.Join(f.Deployments, " "))
	}
	line("hints", fmt.Sprintf("readOnly=%t destructive=%t idempotent=%t openWorld=%t",
		f.Hints.ReadOnly, f.Hints.Destructive, f.Hints.Idempotent, f.Hints.OpenWorld))
	line("idempotency", f.Idempotency)
	line("world", f.World)
	for _, r := range f.Rules {
		line(r.Name, r.Text)
	}
	if len(f.Was) > 0 {
		line("was", strings.Join(f.Was, " "))
	}
	if len(f.Tags) > 0 {
		line("tags", strings.Join(f.Tags, " "))
	}
	if d := f.Deprecated; d != nil {
		line("deprecated", fmt.Sprintf("since=%s remove_after=%s use=%s", d.Since, cmp.Or(d.RemoveAfter, "none"), cmp.Or(d.Use, "none")))
	}
	if f.Source != nil {
		line("source", "mcp "+visible.Quote(f.Source.Tool))
		if f.Source.Title != "" {
			line("title", f.Source.Title)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Claimed)) {
		line("claimed", fmt.Sprintf("%s=%t", name, f.Claimed[name]))
	}
	line("digest", f.Digest)
	if f.Signature != "" {
		line("signature", f.Signature)
	}
	for _, part := range f.Parts {
		line("part", part)
	}
	line("summary", f.Summary)
	if f.Description != f.Summary {
		for text := range strings.SplitSeq(strings.TrimRight(f.Description, "\n"), "\n") {
			line("description", text)
		}
	}
	for _, phrase := range f.Search {
		line("search", phrase)
	}
	for _, e := range f.Errors {
		line("error", e.Code+": "+e.Description)
	}
	for _, e := range f.Examples {
		outcome := "returns " + string(e.Output)
		if e.Error != "" {
			outcome = "fails with " + e.Error
		}
		line("example", e.Title+": "+string(e.Input)+" "+outcome)
	}
	if f.Policy != nil {
		line("cedar", "no action, and no policy permits a call: "+f.Policy.At+": "+f.Policy.Reason)
	}
	for _, s := range []struct {
		label string
		text  json.RawMessage
	}{{"input", f.Input}, {"output", f.Output}} {
		var indented bytes.Buffer
		if err := json.Indent(&indented, s.text, "", "  "); err != nil {
			return fmt.Errorf("show %s: %w", f.Name, err)
		}
		fmt.Fprintf(&b, "\n%s\n", s.label)
		for text := range strings.Lines(indented.String()) {
			b.WriteString(visible.Text(strings.TrimSuffix(text, "\n")) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
