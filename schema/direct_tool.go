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
// specification, Tools, tool names). Of a run as the manifest declares it these
// are the names of its parts, with a space between them.
func (c *Capability) ToolName() string { return strings.Join(c.toolNames(), " ") }

func (c *Capability) toolNames() []string {
	switch {
	case !c.DirectTool:
		return nil
	case c.IsGoverned():
		return []string{toolName(c.Name + dot(StepPrepare)), toolName(c.Name + dot(c.Landing()))}
	}
	return []string{toolName(c.Name)}
}

func toolName(name string) string { return strings.ReplaceAll(name, ".", "_") }

// maxKeySchema is what prepare's key adds to the schema of an input, in bytes.
const maxKeySchema = 128

// toolSchema is a schema that clients read, and what of a capability it is.
type toolSchema struct {
	what string
	is   *Type
}

// directTools refuses tools that clients could not tell apart, or whose schemas
// could not be written without references.
func (l *loader) directTools(m *Manifest) {
	first := make(map[string]*Capability)
	for _, c := range m.Capabilities {
		at := c.At[directToolKey]
		if !c.DirectTool {
			continue
		}
		if c.Approval != nil && c.Run == nil {
			l.errorf(at, ruleBadDirectTool, "%s cannot be a tool: it has approval, and is called in two parts, which only programs do", quote(c.Name)).
				hint("leave %s out", directToolKey)
			continue
		}
		for _, name := range c.toolNames() {
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
		}
		schemas, most := []toolSchema{{"input", c.Parameters()}, {"output", c.Result()}}, MaxClientSchema
		if c.Run != nil { // its parts answer what all runs do
			schemas, most = schemas[:1], MaxClientSchema-maxKeySchema
		}
		for _, t := range schemas {
			if r := recursiveWithin(t.is, map[*NamedType]bool{}); r != nil {
				l.errorf(at, ruleBadDirectTool, "%s cannot be a tool: its %s holds the type %s, which may hold itself", quote(c.Name), t.what, quote(r.Name)).
					hint("schemas of tools are written without references: leave %s out, or bound the type", directToolKey).related(r.Pos)
			} else if n := len(ClientSchema(t.is)); n > most {
				l.errorf(at, ruleBadDirectTool, "%s cannot be a tool: the schema of its %s has %d bytes, the limit is %d", quote(c.Name), t.what, n, most).
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
