package mcpimport

import (
	"strings"

	"github.com/capgen/capgen/internal/visible"
)

// jsonText is v on one line, for a reader: what would not show is escaped.
func jsonText(v *value) string {
	switch v.kind {
	case nullKind:
		return "null"
	case stringKind:
		return visible.Quote(v.text)
	case listKind:
		parts := make([]string, len(v.items))
		for i, item := range v.items {
			parts[i] = jsonText(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case objectKind:
		parts := make([]string, len(v.members))
		for i, m := range v.members {
			parts[i] = visible.Quote(m.key) + ": " + jsonText(m.value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return v.text
}
