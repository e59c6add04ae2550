package codegen

import (
	"maps"
	"slices"
	"strings"

	"github.com/capgen/capgen/schema"
)

// mentionable are the capabilities that some build does not hold, by name and
// by id. Their names are looked for in texts, as those texts end up in builds.
type mentionable map[string]*schema.Capability

func (b *builds) mentionable(caps []*schema.Capability) mentionable {
	out := mentionable{}
	for _, c := range caps {
		if b.held[c] != b.all() {
			out[c.Name], out[c.ID] = c, c
		}
	}
	return out
}

// mentioned are the capabilities that texts mention: their ids between what no
// id has beside it in a sentence or a program, their names wherever they stand
// between characters that no name has. A program may have space around a dot.
func (m mentionable) mentioned(texts ...string) []*schema.Capability {
	if len(m) == 0 {
		return nil
	}
	found := map[*schema.Capability]bool{}
	look := func(word string) {
		if c := m[word]; c != nil {
			found[c] = true
		}
	}
	for _, text := range texts {
		for _, text := range []string{text, joinDots(text)} {
			for _, word := range strings.FieldsFunc(text, separates) {
				look(strings.TrimRight(word, ".:!?"))
				for _, dotted := range strings.FieldsFunc(word, notInName) {
					segments := strings.Split(dotted, ".")
					for from := range segments {
						for to := from + 2; to <= min(len(segments), from+maxName/2); to++ {
							look(strings.Join(segments[from:to], "."))
						}
					}
				}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b *schema.Capability) int { return strings.Compare(a.Name, b.Name) })
}

// separates tells whether r ends an id in a text.
func separates(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("()[]{},;'\"`=<>", r) }

func notInName(r rune) bool {
	return r != '.' && r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
}

// joinDots is text without the space around its dots that programs may have.
func joinDots(text string) string {
	if !strings.Contains(text, " .") && !strings.Contains(text, ". ") {
		return text
	}
	words := strings.Split(text, ".")
	for i := range words {
		if i > 0 {
			words[i] = strings.TrimLeft(words[i], " \t\n\\")
		}
		if i < len(words)-1 {
			words[i] = strings.TrimRight(words[i], " \t\n\\")
		}
	}
	return strings.Join(words, ".")
}

// checkAbsent refuses texts that would bring the name of a capability into a
// build that does not hold it, and send a model to what is not there.
func (p *planner) checkAbsent(m *schema.Manifest) {
	known := p.builds.mentionable(m.Capabilities)
	if len(known) == 0 {
		return
	}
	absent := func(pos schema.Position, what string, held buildSet, texts []string) {
		for _, c := range known.mentioned(texts...) {
			missing := held &^ p.builds.held[c]
			if missing == 0 {
				continue
			}
			where := "a build without a tag"
			if names := p.builds.names(missing); len(names) > 0 {
				where = "deployment " + strings.Join(names, ", ")
			}
			p.fail(pos, "absent-name", "say it without the name, or let both stand in the same deployments",
				"%s names %s, which %s does not hold", what, c.Name, where)
		}
	}
	absent(schema.Position{}, "the server's text", p.builds.all(), []string{m.Server.Name, m.Server.Title, m.Server.Instructions})
	for _, c := range append(slices.Clone(m.Capabilities), m.Governed...) {
		absent(c.Pos, c.Name, p.builds.held[c], capabilityTexts(c))
	}
	sets := p.builds.typeSets(m)
	for _, t := range m.Types {
		absent(t.Pos, "type "+t.Name, sets[t], typeTexts(t.Type))
	}
}

// capabilityTexts are those of a capability's own part of the manifest.
func capabilityTexts(c *schema.Capability) []string {
	out := append([]string{c.Summary, c.Description}, c.Search...)
	out = append(append(out, c.Scopes...), c.Was...)
	for _, e := range c.Errors {
		out = append(out, e.Text)
	}
	for _, e := range c.Examples {
		out = append(out, e.Title, e.Input, e.Output)
	}
	return append(append(out, typeTexts(c.Input)...), typeTexts(c.Output)...)
}

// typeTexts are those of a schema, without the types that it refers to.
func typeTexts(t *schema.Type) []string {
	if t == nil {
		return nil
	}
	out := append([]string{t.Title, t.Description}, t.Examples...)
	out = append(append(out, t.Enum...), t.Tags...)
	for _, p := range t.Properties {
		out = append(append(out, p.Default), typeTexts(p.Type)...)
	}
	for _, v := range t.Variants {
		out = append(out, typeTexts(v)...)
	}
	return append(append(out, typeTexts(t.Items)...), typeTexts(t.Keys)...)
}
