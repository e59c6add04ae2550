package schema

import (
	"slices"
	"strings"
)

// ownTools are the tools that every server has.
func ownTools() []string { return []string{"search_api", "describe_api", "execute"} }

// ToolName is what clients call the MCP tool that the capability is, beside
// being there for programs; empty for one that is none. It is the capability's
// name with _ for its dots: many clients, and the models behind them, take
// letters, digits, _ and - alone, fewer than the protocol does (MCP
// specification, Tools, tool names).
func (c *Capability) ToolName() string {
	if !c.DirectTool {
		return ""
	}
	return strings.ReplaceAll(c.Name, ".", "_")
}

// directTools refuses tools that clients could not tell apart, or whose schemas
// could not be written without references.
func (l *loader) directTools(m *Manifest) {
	first := make(map[string]*Capability)
	for _, c := range m.Capabilities {
		name := c.ToolName()
		if name == "" {
			continue
		}
		at := c.At[directToolKey]
		if c.Approval != nil {
			l.errorf(at, ruleBadDirectTool, "%s cannot be a tool: it has approval, and is called in two parts, which only programs do", quote(c.Name)).
				hint("leave %s out", directToolKey)
			continue
		}
		if slices.Contains(ownTools(), name) {
			l.errorf(at, ruleBadDirectTool, "%s would be the tool %s, which every server has", quote(c.Name), name).
				hint("give the capability another name, or leave %s out", directToolKey)
		}
		if other := first[name]; other != nil {
			l.errorf(at, ruleBadDirectTool, "%s and %s would be one tool, %s", quote(other.Name), quote(c.Name), name).
				hint("give one of them another name, or leave %s out", directToolKey).related(other.At[directToolKey])
		} else {
			first[name] = c
		}
		for _, t := range []struct {
			what string
			is   *Type
		}{{"input", c.Parameters()}, {"output", c.Result()}} {
			if r := recursiveWithin(t.is, map[*NamedType]bool{}); r != nil {
				l.errorf(at, ruleBadDirectTool, "%s cannot be a tool: its %s holds the type %s, which may hold itself", quote(c.Name), t.what, quote(r.Name)).
					hint("schemas of tools are written without references: leave %s out, or bound the type", directToolKey).related(r.Pos)
			} else if n := len(ClientSchema(t.is)); n > MaxClientSchema {
				l.errorf(at, ruleBadDirectTool, "%s cannot be a tool: the schema of its %s has %d bytes, the limit is %d", quote(c.Name), t.what, n, MaxClientSchema).
					hint("leave %s out: programs call it all the same", directToolKey)
			}
		}
	}
}

const directToolKey = "direct_tool"

// recursiveWithin is a type within t that may hold itself; nil for none.
func recursiveWithin(t *Type, seen map[*NamedType]bool) *NamedType {
	switch {
	case t == nil:
		return nil
	case t.Kind == Ref && t.Ref.Recursive:
		return t.Ref
	case t.Kind == Ref && seen[t.Ref]:
		return nil
	case t.Kind == Ref:
		seen[t.Ref] = true
		return recursiveWithin(t.Ref.Type, seen)
	}
	if r := recursiveWithin(t.Items, seen); r != nil {
		return r
	}
	for _, v := range t.Variants {
		if r := recursiveWithin(v, seen); r != nil {
			return r
		}
	}
	for _, p := range t.Properties {
		if r := recursiveWithin(p.Type, seen); r != nil {
			return r
		}
	}
	return nil
}
