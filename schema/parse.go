package schema

import "strings"

// parse reads one of the files into a tree; nil means that there is none,
// with the reason reported.
func parse(r *report, l limits, files map[string][]byte, name string) *node {
	text, ok := files[name]
	if !ok {
		names := make([]string, 0, len(files))
		for f := range files {
			names = append(names, f)
		}
		f := r.errorf(Position{File: name}, ruleFileMissing, "no such file")
		r.nearest(f, name, names)
		return nil
	}
	src := newSource(name, text)
	if !src.check(r, l.fileBytes) {
		return nil
	}
	if strings.HasSuffix(name, ".json") {
		return readJSON(r, l, src)
	}
	return readYAML(r, l, src)
}
