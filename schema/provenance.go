package schema

import (
	"strings"
	"unicode/utf8"
)

// Source is where a capability was imported from. It is what a handler that
// forwards calls needs to find the other side again.
type Source struct {
	// Tool is the name by which an MCP server knows the capability, exactly.
	Tool string
	// Title is what the server calls it before people; may be empty.
	Title string
}

// Claim is a hint of another server about its own tool. Nothing is derived
// from it: whoever is asked for trust does not grant it.
type Claim struct {
	// Name is one of readOnlyHint, destructiveHint, idempotentHint and
	// openWorldHint (MCP 2025-06-18, ToolAnnotations).
	Name  string
	Value bool
}

// maxTool is the longest name of another server's tool, in bytes.
const maxTool = 256

// provenance reads source, claimed and inferred.
func (l *loader) provenance(n *node, c *Capability, what string) {
	if v := n.get("source"); v != nil {
		c.Source = l.source(v, what)
	}
	if v := n.get("claimed"); v != nil && l.mapping(v, &l.words.claimed, "claimed") {
		if n.get("source") == nil {
			l.errorf(v.pos, ruleMissingField, "claimed in %s without source", what).
				hint("claims are those of another server: name its tool under source, or remove claimed")
		}
		for _, name := range l.words.claimed.known {
			if hint := v.get(name); hint != nil && l.kind(hint, boolNode, name) {
				c.Claimed = append(c.Claimed, Claim{name, hint.text == "true"})
			}
		}
	}
	if v := n.get("inferred"); v != nil {
		l.inferred(v, what)
	}
}

func (l *loader) source(n *node, what string) *Source {
	if !l.mapping(n, &l.words.source, "source") {
		return nil
	}
	v := l.need(n, "mcp", "source of "+what, "source: {mcp: {tool: get_record}}")
	if v == nil || !l.mapping(v, &l.words.mcpSource, "source.mcp") {
		return nil
	}
	s := &Source{}
	if tool := l.need(v, "tool", "source.mcp of "+what, "the name by which the server knows the tool"); tool != nil {
		s.Tool = l.toolName(tool)
	}
	if title := v.get("title"); title != nil {
		s.Title, _ = l.line(title, "title", maxTitle)
	}
	return s
}

// toolName keeps a name as it is: white space around it would belong to it.
func (l *loader) toolName(n *node) string {
	s, ok := l.str(n, "source.mcp.tool")
	if !ok || !l.visible(n.pos, s, "source.mcp.tool") {
		return ""
	}
	if s == "" || len(s) > maxTool || strings.ContainsFunc(s, isControl) || !utf8.ValidString(s) {
		l.errorf(n.pos, ruleBadValue, "%s is no name of a tool", quote(s)).
			hint("1 to %d bytes without control characters", maxTool)
		return ""
	}
	return s
}

// inferred refuses what nobody has confirmed. The mark is data and no comment,
// so that no tool can lose it on the way.
func (l *loader) inferred(n *node, what string) {
	if !l.kind(n, listNode, "inferred") {
		return
	}
	if len(n.items) == 0 {
		l.errorf(n.pos, ruleMissingField, "inferred is empty").hint("remove it: everything is confirmed")
	}
	for _, item := range n.items {
		if s, ok := l.word(item, "inferred", []string{"effect"}, nil); ok {
			l.errorf(item.pos, ruleUnconfirmed, "the %s of %s was inferred and nobody has confirmed it", s, what).
				hint("check %s against what it really does, correct it, then remove the line inferred", s)
		}
	}
}
