package schema

import "fmt"

// MaxClientSchema bounds the schema of a direct tool, in bytes: a model may
// read it in every session.
const MaxClientSchema = 64 << 10

// ClientSchema is EffectiveSchema in the form that MCP clients read: references
// are written out, what may be null is anyOf [T, null], and there are no
// keywords of ours. It takes and refuses the same values, but for two things
// that JSON Schema has no words for and only the server judges: the range and
// the step of a 64-bit integer, which are in its description, and which integers an opaque
// value may hold. No type of t may hold itself.
func ClientSchema(t *Type) []byte {
	w := schemaWriter{client: true}
	w.schema(t, "")
	return []byte(w.b.String())
}

// clientType is t without a reference, and with what only a description says.
// What a reference says of itself stands instead of what its type says.
func clientType(t *Type) *Type {
	c := *t
	for c.Kind == Ref {
		title, description := c.Title, c.Description
		c = *c.Ref.Type
		if title != "" {
			c.Title = title
		}
		if description != "" {
			c.Description = description
		}
	}
	if c.Kind == Int64 {
		rules := fmt.Sprintf("The decimal digits of an integer from %d to %d", c.Minimum, c.Maximum)
		if c.MultipleOf != "" {
			rules += ", a multiple of " + c.MultipleOf
		}
		c.Description, c.MultipleOf = joinSentences(c.Description, rules+"."), ""
	}
	return &c
}

func joinSentences(first, second string) string {
	if first == "" {
		return second
	}
	return first + " " + second
}
