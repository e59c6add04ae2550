package runtime

import (
	"encoding/json"
	"fmt"
	"slices"
)

// DirectTool says what a capability is called where clients call it as an MCP
// tool of its own, beside programs. Generated code makes it for capabilities
// whose manifest says direct_tool.
type DirectTool struct {
	// Name is 1 to MaxNameBytes letters, digits, _ and -.
	Name string
	// Input and Output are JSON Schemas of type object, without references.
	// Output is empty where a result may be something else, or may break its
	// schema and is delivered all the same.
	Input, Output string
}

// Tool is a capability that clients may call with Server.Call.
type Tool struct {
	DirectTool
	// ID is the capability's.
	ID          string
	Description string
	// Errors are the failures that the manifest declares.
	Errors []DeclaredError
	// Deprecated is nil for a capability that is to stay.
	Deprecated *Deprecation
	// Hints are the capability's own.
	Hints Hints
	// Scopes must all be held by the subject.
	Scopes []string
	// Job: a call starts a job.
	Job bool
}

// Tools are the enabled capabilities that are tools of their own, sorted by
// the names of the capabilities. Like a description, they do not depend on who
// asks.
func (s *Server) Tools() []Tool {
	var out []Tool
	for _, e := range s.catalog.entries {
		if e.info.Tool == nil {
			continue
		}
		out = append(out, Tool{
			DirectTool: *e.info.Tool, ID: e.info.ID, Description: e.info.Description, Errors: slices.Clone(e.info.Errors),
			Deprecated: e.info.Deprecated, Hints: hintsOf(e.info), Scopes: slices.Clone(e.info.Scopes), Job: e.info.Job,
		})
	}
	return out
}

// check says what is wrong with a tool; taken are the names before it.
func (t *DirectTool) check(taken map[string]bool) error {
	if t == nil {
		return nil
	}
	if !isToolName(t.Name) {
		return fmt.Errorf("the name of a tool is 1 to %d letters, digits, _ and -, not %s", MaxNameBytes, quoted(t.Name))
	}
	if taken[t.Name] {
		return fmt.Errorf("the tool %s is there twice", t.Name)
	}
	taken[t.Name] = true
	for _, text := range []string{t.Input, t.Output} {
		var schema struct {
			Type string `json:"type"`
		}
		if text == "" && t.Input != "" {
			continue
		}
		if err := json.Unmarshal([]byte(text), &schema); err != nil || schema.Type != "object" {
			return fmt.Errorf("the tool %s has a schema that is none of an object", t.Name)
		}
	}
	return nil
}

func isToolName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return name != "" && len(name) <= MaxNameBytes
}
