package repotest

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// documents are the Markdown files a reader meets.
func (tr *tree) documents() []string {
	var out []string
	for _, name := range tr.files {
		if strings.HasSuffix(name, ".md") && !strings.Contains("/"+name, "/testdata/") {
			out = append(out, name)
		}
	}
	return out
}

// block is one fenced block of a document.
type block struct {
	file string
	line int    // of the fence or, where there is one, of the source line above it
	lang string // go, sh, yaml, json, python, text
	from string // the file it is an excerpt of
	// expect is what a line <!-- error: rule-id --> says of a manifest.
	expect string
	// project is what a line <!-- project: … --> says of a block that belongs
	// into a new project: a script of cmd/capgen does what it says.
	project string
	// part is what a line <!-- part: path --> says of a block: manifests of the
	// same document include it, or refer to it, under that path.
	part string
	text string
}

func (b block) at() string { return fmt.Sprintf("%s:%d", b.file, b.line) }

var (
	fromLine    = regexp.MustCompile(`^<!-- from (\S+) -->$`)
	errorLine   = regexp.MustCompile(`^<!-- error: (\S+) -->$`)
	partLine    = regexp.MustCompile(`^<!-- part: (\S+) -->$`)
	projectLine = regexp.MustCompile(`^<!-- project: (.+) -->$`)
)

func (tr *tree) blocks() []block {
	var out []block
	for _, name := range tr.documents() {
		var open *block
		var from, expect, project, part string
		start := 0
		for i, line := range strings.Split(tr.read(name), "\n") {
			switch {
			case open != nil && line == "```":
				out = append(out, *open)
				open = nil
			case open != nil:
				open.text += line + "\n"
			case strings.HasPrefix(line, "```"):
				if start == 0 {
					start = i + 1
				}
				open = &block{file: name, line: start, lang: strings.TrimPrefix(line, "```"), from: from, expect: expect, project: project, part: part}
				from, expect, project, part, start = "", "", "", "", 0
			default:
				from, expect, project, part, start = "", "", "", "", 0
				if m := fromLine.FindStringSubmatch(line); m != nil {
					from, start = m[1], i+1
				}
				if m := errorLine.FindStringSubmatch(line); m != nil {
					expect, start = m[1], i+1
				}
				if m := partLine.FindStringSubmatch(line); m != nil {
					part, start = m[1], i+1
				}
				if m := projectLine.FindStringSubmatch(line); m != nil {
					project, start = m[1], i+1
				}
			}
		}
	}
	return out
}

// codeBlocks: a block is an excerpt of a file of this repository, byte by byte
// and whole lines, or of a kind that another test loads or runs (sh in
// and python in commands_test.go, yaml in manifests_test.go).
func codeBlocks(tr *tree) []string {
	var out []string
	for _, b := range tr.blocks() {
		switch {
		case b.from != "" && !tr.has(b.from):
			out = append(out, fmt.Sprintf("%s: %s, which it is from, is not there", b.at(), b.from))
		case b.from != "" && !strings.Contains("\n"+tr.read(b.from), "\n"+b.text):
			out = append(out, fmt.Sprintf("%s: not an excerpt of %s", b.at(), b.from))
		case b.from != "":
		case b.project != "":
			if !tr.played(b.file) {
				out = append(out, fmt.Sprintf("%s: for a new project, but no script of cmd/capgen has a line page $CHECKOUT/%s", b.at(), b.file))
			}
		case b.lang == "go":
			out = append(out, b.at()+": go block without a line <!-- from FILE --> above it")
		case b.lang == "json":
			if !json.Valid([]byte(b.text)) {
				out = append(out, b.at()+": not valid JSON")
			}
		case !slices.Contains([]string{"sh", "yaml", "python", "text"}, b.lang):
			out = append(out, fmt.Sprintf("%s: nothing checks a %s block; use text for output", b.at(), b.lang))
		}
	}
	return out
}

// played tells whether a script of cmd/capgen does what a document says in a
// new project.
func (tr *tree) played(document string) bool {
	return slices.ContainsFunc(tr.files, func(name string) bool {
		return path.Dir(name) == "cmd/capgen/testdata" && strings.Contains(tr.read(name), "page $CHECKOUT/"+document+"\n")
	})
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// links: what a document points at inside the repository is there.
func links(tr *tree) []string {
	var out []string
	for _, name := range tr.documents() {
		for _, m := range link.FindAllStringSubmatch(tr.read(name), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			full := path.Join(path.Dir(name), target)
			if !tr.has(full) && !slices.ContainsFunc(tr.files, func(f string) bool { return strings.HasPrefix(f, full+"/") }) {
				out = append(out, fmt.Sprintf("%s: link to %s, which is not there", name, target))
			}
		}
	}
	return out
}

// firstPage: what a newcomer and continuous integration look for.
func firstPage(tr *tree) []string {
	var out []string
	if !strings.Contains(tr.read(".ci/run"), "make ci") {
		out = append(out, ".ci/run: does not run make ci")
	}
	for _, line := range strings.Split(tr.read(".gitattributes"), "\n") {
		if !strings.HasPrefix(line, "#") && strings.Contains(line, "linguist-generated") && strings.Contains(line, "generated/") {
			out = append(out, ".gitattributes: generated/ of hand-declared capabilities must stay in reviews, not linguist-generated")
		}
	}
	for _, name := range []string{"CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md"} {
		text := tr.read(name)
		switch {
		case text == "":
			out = append(out, name+": missing")
		case name == "LICENSE" && !strings.Contains(text, "Apache License\n                           Version 2.0, January 2004"):
			out = append(out, name+": not the Apache License 2.0")
		case name == "README.md":
			for _, command := range []string{"make run", "make test"} {
				if !strings.Contains(text, command) {
					out = append(out, fmt.Sprintf("%s: does not show `%s`", name, command))
				}
			}
		}
	}
	return out
}

var target = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):([^=\n]*)$`)

// makeTargets: each target says what it does, and each `make X` in a document
// is one.
func makeTargets(tr *tree) []string {
	var out []string
	targets := map[string]bool{}
	for _, m := range target.FindAllStringSubmatch(tr.read("Makefile"), -1) {
		targets[m[1]] = true
		if !strings.Contains(m[2], "## ") {
			out = append(out, fmt.Sprintf("Makefile: target %s has no ## help text", m[1]))
		}
	}
	for _, b := range tr.blocks() {
		if b.lang != "sh" {
			continue
		}
		for _, line := range strings.Split(b.text, "\n") {
			if name, ok := strings.CutPrefix(line, "make "); ok {
				if name, _, _ = strings.Cut(name, " "); !targets[name] {
					out = append(out, fmt.Sprintf("%s: make %s is not a target of the Makefile", b.at(), name))
				}
			}
		}
	}
	return out
}
