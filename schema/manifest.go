package schema

import (
	"strings"

	"golang.org/x/mod/module"
)

const (
	maxPackage = 255
	maxVersion = 64
	maxServer  = 64
	maxSearch  = 16
	// maxSearchBytes is of one capability's phrases together.
	maxSearchBytes = 1_024
	maxScopes      = 64
	maxScope       = 128
)

// version checks `capgen: 1`.
func (l *loader) version(n *node) {
	v := l.need(n, "capgen", "a manifest", "it starts with capgen: 1")
	if v == nil || !l.kind(v, numberNode, "capgen, the manifest version,") {
		return
	}
	if i, ok := parseInteger(v.text); !ok || i != 1 {
		l.errorf(v.pos, ruleUnsupported, "manifest version %s is not supported", plain(v.text, maxQuoted)).
			hint("this version of capgen reads capgen: 1")
	}
}

func (l *loader) goPackage(n *node) string {
	if !l.mapping(n, &l.words.goSection, "go") {
		return ""
	}
	v := l.need(n, "package", "go", "package is the import path of the generated code: example.com/tools/generated")
	s, ok := l.str(v, "go.package")
	if !ok {
		return ""
	}
	if len(s) > maxPackage {
		l.errorf(v.pos, ruleBadValue, "go.package has %d bytes, the limit is %d", len(s), maxPackage).hint("shorten it")
		return ""
	}
	if err := module.CheckImportPath(s); err != nil {
		l.errorf(v.pos, ruleBadValue, "%s is no Go import path", quote(s)).
			hint("write the module's path and the directory: example.com/tools/generated")
		return ""
	}
	return s
}

func (l *loader) server(n *node) Server {
	var s Server
	if !l.mapping(n, &l.words.server, "server") {
		return s
	}
	if v := l.need(n, "name", "server", "name: records"); v != nil {
		if text, ok := l.str(v, "server.name"); ok {
			if !isServerName(text) {
				l.errorf(v.pos, ruleBadName, "%s is no name for a server", quote(text)).
					hint("a letter or digit, then letters, digits and . _ -, at most %d", maxServer)
			}
			s.Name = text
		}
	}
	if v := l.need(n, "version", "server", "version: 1.0.0"); v != nil {
		if text, ok := l.str(v, "server.version"); ok {
			if text == "" || len(text) > maxVersion || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
				l.errorf(v.pos, ruleBadValue, "%s is no version", quote(text)).
					hint("1 to %d printable ASCII characters without spaces", maxVersion)
			}
			s.Version = text
		}
	}
	if v := n.get("title"); v != nil {
		s.TitleAt = v.pos
		s.Title, _ = l.line(v, "server.title", maxTitle)
	}
	if v := n.get("instructions"); v != nil {
		s.InstructionsAt = v.pos
		s.Instructions, _ = l.text(v, "server.instructions", maxDescription)
	}
	return s
}

func isServerName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !isLetter(c) && (c < '0' || c > '9') && (i == 0 || !strings.ContainsRune("._-", rune(c))) {
			return false
		}
	}
	return s != "" && len(s) <= maxServer
}
