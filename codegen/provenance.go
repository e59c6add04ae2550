package codegen

import (
	"strconv"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/schema"
)

// provenance writes where an imported capability comes from, and what its
// server claims of it:
//
//	docs.find source mcp "findDocs" "Find documents"
//	docs.find claimed readOnlyHint=true
func (l lockWriter) provenance(c *schema.Capability) {
	if c.Source != nil {
		words := []string{"source mcp", visible.Quote(c.Source.Tool)}
		if c.Source.Title != "" {
			words = append(words, visible.Quote(c.Source.Title))
		}
		l.line(words...)
	}
	for _, claim := range c.Claimed {
		l.line("claimed", claim.Name+"="+strconv.FormatBool(claim.Value))
	}
}

// sourceTexts are what a source says, for checkTexts.
func sourceTexts(s *schema.Source) []string {
	if s == nil {
		return nil
	}
	return []string{s.Tool, s.Title}
}

// digestSource is what a digest holds of a source: the tool that is called.
// What the server calls it before people, or claims, changes no call.
func digestSource(s *schema.Source) string {
	if s == nil {
		return ""
	}
	return "mcp " + s.Tool
}
