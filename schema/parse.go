package schema

import "strings"

// parse reads the text of a file into a tree; nil means that there is none,
// with the reason reported.
func parse(r *report, l limits, name string, text []byte) *node {
	src := newSource(name, text)
	if !src.check(r, l.fileBytes) {
		return nil
	}
	if strings.HasSuffix(name, ".json") {
		return readJSON(r, l, src)
	}
	return readYAML(r, l, src)
}
