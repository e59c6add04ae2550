package codegen

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/schema"
)

// lifecycleMembers
//
//	Was: []string{"files.dir"},
//	Tags: []string{"slow"},
//	Deprecated: &runtime.Deprecation{Since: "2026-11-29", Use: "files.tree"},
func lifecycleMembers(c *schema.Capability) []jen.Code {
	var out []jen.Code
	if len(c.Was) > 0 {
		out = append(out, jen.Id("Was").Op(":").Index().String().Values(texts(c.Was)...))
	}
	if len(c.Tags) > 0 {
		out = append(out, jen.Id("Tags").Op(":").Index().String().Values(texts(c.Tags)...))
	}
	if d := c.Deprecated; d != nil {
		members := []jen.Code{jen.Id("Since").Op(":").Add(text(d.Since))}
		if d.RemoveAfter != "" {
			members = append(members, jen.Id("RemoveAfter").Op(":").Add(text(d.RemoveAfter)))
		}
		if d.Use != "" {
			members = append(members, jen.Id("Use").Op(":").Add(text(d.Use)))
		}
		out = append(out, jen.Id("Deprecated").Op(":").Op("&").Qual(runtimePath, "Deprecation").Values(members...))
	}
	return out
}

// emitDeprecated ends a doc comment with the paragraph by which tools know
// deprecated code.
//
//	//
//	// Deprecated: since 2026-11-29, may be removed after 2027-03-01: use files.tree.
func emitDeprecated(g *jen.Group, d *schema.Deprecation) {
	if d == nil {
		return
	}
	g.Comment("//")
	g.Comment("// Deprecated: " + deprecationText(d) + ".")
}

// deprecationText is made of dates and a name, which checkLifecycle has seen.
func deprecationText(d *schema.Deprecation) string {
	text := "since " + d.Since
	if d.RemoveAfter != "" {
		text += ", may be removed after " + d.RemoveAfter
	}
	if d.Use != "" {
		text += ": use " + d.Use
	}
	return text
}

func digestedDeprecation(d *schema.Deprecation) string {
	if d == nil {
		return ""
	}
	return deprecationText(d)
}

// checkLifecycle guards what reaches a directive of a comment.
func (p *planner) checkLifecycle(c *schema.Capability) {
	p.checkTexts(c.Pos, append(append([]string{}, c.Was...), c.Tags...)...)
	d := c.Deprecated
	if d == nil {
		return
	}
	for _, text := range []string{d.Since, d.RemoveAfter} {
		if strings.Trim(text, "0123456789-") != "" || len(text) > len("2026-11-29") {
			p.fail(c.Pos, "deprecated", "", "%s: deprecated holds no date", c.Name)
		}
	}
	if d.Use != "" && !capabilityName.MatchString(d.Use) {
		p.fail(c.Pos, "deprecated", "", "%s: deprecated names no capability", c.Name)
	}
}

// lifecycle writes what a capability was and what will become of it.
func (l lockWriter) lifecycle(c *schema.Capability) {
	if c.Deprecated != nil {
		l.line("deprecated", deprecationText(c.Deprecated))
	}
	if len(c.Tags) > 0 {
		l.line("tags", visible.Text(strings.Join(c.Tags, " ")))
	}
	for _, name := range c.Was {
		l.line("was", visible.Quote(name))
	}
}
