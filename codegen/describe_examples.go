package codegen

import (
	"encoding/json"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/schema"
)

// examples are those of a schema as a program has them: an integer of 64 bits is
// a number, as far as a client's reader keeps it.
func (d describer) examples(t *schema.Type) []json.RawMessage {
	var out []json.RawMessage
	for _, canonical := range t.Examples {
		text := canonical
		if v, err := parseJSON(canonical); err == nil && !d.json {
			if v, err = resultOf(t, v); err == nil {
				text = jsonText(v)
			}
		}
		out = append(out, json.RawMessage(text))
	}
	return out
}

// shown writes the examples of the schema at path, a line each.
func (l lockWriter) shown(path string, t *schema.Type) {
	for _, canonical := range t.Examples {
		l.line(path+" example", visible.Text(canonical))
	}
}
