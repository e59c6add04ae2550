package codegen

import (
	"encoding/json"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/schema"
)

// Description is what describe_api answers about c, as JSON: what a model reads
// of it, and pays for. m has to be one that Generate accepts.
func Description(c *schema.Capability) []byte {
	type deprecation struct {
		Since       string `json:"since"`
		RemoveAfter string `json:"remove_after,omitempty"`
		Use         string `json:"use,omitempty"`
	}
	d := struct {
		Name        string          `json:"name"`
		Signature   string          `json:"signature"`
		Summary     string          `json:"summary"`
		Description string          `json:"description,omitempty"`
		Input       json.RawMessage `json:"input"`
		Output      json.RawMessage `json:"output"`
		Errors      json.RawMessage `json:"errors,omitempty"`
		Effect      string          `json:"effect"`
		Deprecated  *deprecation    `json:"deprecated,omitempty"`
		Example     string          `json:"example,omitempty"`
	}{
		Name: c.Name, Signature: Signature(c), Summary: c.Summary,
		Input: json.RawMessage(describeInput(c.Parameters())), Output: json.RawMessage(describeResult(c)),
		Effect: c.Effect, Deprecated: (*deprecation)(c.Deprecated), Example: describeExample(c),
	}
	if c.Description != c.Summary {
		d.Description = c.Description
	}
	if len(c.Errors) > 0 {
		texts := make(map[string]string, len(c.Errors)) // written sorted by code, as they are declared
		for _, e := range c.Errors {
			texts[e.Code] = e.Text
		}
		d.Errors = json.RawMessage(jsonText(texts))
	}
	return []byte(jsonText(d))
}

// BindingTable is the table by which a worker binds the calls of programs, of
// all capabilities of m. With it a program is checked without a server.
func BindingTable(m *schema.Manifest) (*binding.Table, error) {
	entries := make([]binding.Entry, 0, len(m.Capabilities))
	for _, c := range m.Capabilities {
		entries = append(entries, binding.Entry{Name: c.Name, ID: c.ID, Binding: bindingJSON(c), Was: c.Was})
	}
	return binding.ParseTable(binding.EncodeTable(entries))
}
