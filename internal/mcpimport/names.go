package mcpimport

import (
	"strings"

	"github.com/capgen/capgen/internal/verbs"
)

// Namespace is the default for a document's file name: docs-server.json is
// docs_server. Empty when the name gives none.
func Namespace(file string) string {
	if i := strings.LastIndexAny(file, `/\`); i >= 0 {
		file = file[i+1:]
	}
	if i := strings.IndexByte(file, '.'); i > 0 {
		file = file[:i]
	}
	return strings.Join(verbs.Words(file), "_")
}

// camel is words as the start of a type's name: DocsServer.
func camel(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}
