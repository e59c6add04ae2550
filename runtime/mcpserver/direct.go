package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime"
)

// directTools are the runtime's tools by name. A name that one of the three
// tools has is refused, and so is one that stands twice: the SDK would put the
// last in the place of the first.
func directTools(rt Runtime) (map[string]runtime.Tool, error) {
	tools := map[string]runtime.Tool{}
	for _, t := range rt.Tools() {
		switch _, twice := tools[t.Name]; {
		case t.Name == SearchTool || t.Name == DescribeTool || t.Name == ExecuteTool:
			return nil, fmt.Errorf("mcpserver: capability %s cannot be the tool %s, which every server has", t.ID, t.Name)
		case twice:
			return nil, fmt.Errorf("mcpserver: two capabilities would be the tool %s", t.Name)
		}
		tools[t.Name] = t
	}
	return tools, nil
}

// directDefinition is a capability as clients see it.
func directDefinition(t runtime.Tool) *mcp.Tool {
	d := &mcp.Tool{
		Name:        t.Name,
		Description: directText(t),
		InputSchema: json.RawMessage(t.Input),
		Annotations: annotations(t.Hints),
	}
	if t.Output != "" {
		d.OutputSchema = json.RawMessage(t.Output)
	}
	return d
}

// directText is the description, with what describe_api says in members of
// their own.
func directText(t runtime.Tool) string {
	var b strings.Builder
	b.WriteString(t.Description)
	if d := t.Deprecated; d != nil {
		fmt.Fprintf(&b, "\n\nDeprecated since %s.", d.Since)
		if d.Use != "" {
			fmt.Fprintf(&b, " Use %s.", d.Use)
		}
	}
	if len(t.Errors) > 0 {
		b.WriteString("\n\nFails with:")
		for _, e := range t.Errors {
			fmt.Fprintf(&b, "\n%s: %s", e.Code, e.Text)
		}
	}
	return b.String()
}

// callDirectly answers a call of a tool that is a capability. The arguments are
// the runtime's to read.
func (t *Tools) callDirectly(ctx context.Context, subject authz.Subject, tool runtime.Tool, arguments json.RawMessage, options []runtime.ExecuteOption) (Answer, error) {
	x, err := t.runtime.Call(ctx, subject, tool.ID, arguments, append(slices.Clone(t.execution), options...)...)
	if err == nil {
		var answer Answer
		if answer, err = directAnswer(tool, x, t.keep(ctx, subject, x.Result)); err == nil {
			return answer, nil
		}
	}
	answer := t.failed(ctx, err, x)
	answer.textOnly = true // it fits no output schema but its own
	return answer, nil
}

// directAnswer is the result alone, as its schema has it. What else is to be
// said stands in a text of its own.
//
// A result that is kept elsewhere is left out of the texts, which models read.
// A tool with an output schema promises structured content, and has it all the
// same (MCP specification, Tools, output schema).
func directAnswer(tool runtime.Tool, x runtime.Execution, kept *link) (Answer, error) {
	if !json.Valid(x.Result) {
		return Answer{}, fmt.Errorf("mcpserver: the result of execution %s is not JSON", x.Receipt.Execution)
	}
	receipt, err := encode(withCalls(x.Receipt))
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{Content: x.Result, Receipt: receipt, link: kept, notes: resultNotes(x), textOnly: x.Result[0] != '{'}
	if kept != nil {
		answer.notes, answer.linkOnly = append(answer.notes, kept.note()), true
		answer.textOnly = answer.textOnly || tool.Output == ""
	}
	return answer, nil
}
