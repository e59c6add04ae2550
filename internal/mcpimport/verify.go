package mcpimport

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/schema"
)

// maxRounds bounds how often a manifest is judged anew without the tools that
// were refused.
const maxRounds = 100

// trial is what the manifest under judgement is called.
const trial = "import.yaml"

// verify leaves out the tools that the loader or the generator refuses, with
// what they say. false means that they refuse more than tools.
func (im *importer) verify(entries []*entry) ([]*entry, bool) {
	for range maxRounds {
		if len(entries) == 0 {
			return entries, true
		}
		w := im.writeAs(entries, true, "example.com/import/generated")
		m, diags := schema.Load(map[string][]byte{trial: w.text()}, trial)
		if m != nil {
			_, diags = codegen.Generate(m)
		}
		if !schema.HasErrors(diags) {
			return entries, true
		}
		refused := map[int]string{}
		for _, d := range diags {
			if d.Severity != schema.SeverityError || d.Line == 0 {
				continue
			}
			i, ok := w.entryAt(d.Line)
			if !ok {
				im.find(problem{reason: "the manifest of all that is imported is refused: " + d.Message}, schema.SeverityError, ruleDocument, cmp.Or(d.Hint, "import fewer tools at a time"))
				return nil, false
			}
			if refused[i] == "" {
				refused[i] = w.named(d.Message) + " [" + d.Rule + "]"
			}
		}
		if len(refused) == 0 {
			im.find(problem{reason: "the manifest is refused: " + diags[len(diags)-1].Message}, schema.SeverityError, ruleDocument, "")
			return nil, false
		}
		var kept []*entry
		for i, e := range entries {
			if reason := refused[i]; reason != "" {
				im.leave(problem{e.tool.pointer, e.tool.at.offset, reason}, e.tool.name, e.tool.pointer)
				continue
			}
			kept = append(kept, e)
		}
		entries = kept
	}
	im.find(problem{reason: "too many tools are refused one after the other"}, schema.SeverityError, ruleDocument, "import fewer at a time")
	return nil, false
}

// written is a manifest with the lines at which entries begin.
type written struct {
	yaml    *yamlWriter
	entries []*entry
	starts  []start
}

type start struct{ line, entry int }

func (w *written) text() []byte { return []byte(w.yaml.b.String()) }

// entryAt is the entry, or its type, on a line; false above all of them.
func (w *written) entryAt(line int) (int, bool) {
	i, found := slices.BinarySearchFunc(w.starts, line, func(s start, line int) int { return s.line - line })
	if !found {
		i--
	}
	if i < 0 || w.starts[i].entry < 0 {
		return 0, false
	}
	return w.starts[i].entry, true
}

// named puts tools where a message names places of the trial.
func (w *written) named(message string) string {
	return regexp.MustCompile(regexp.QuoteMeta(trial)+`:(\d+):\d+`).ReplaceAllStringFunc(message, func(place string) string {
		line, _ := strconv.Atoi(regexp.MustCompile(`:(\d+):`).FindStringSubmatch(place)[1])
		if i, ok := w.entryAt(line); ok {
			return "the tool " + quote(w.entries[i].tool.name)
		}
		return "another place"
	})
}

func (im *importer) write(entries []*entry, confirmed bool) *written {
	return im.writeAs(entries, confirmed, im.Package)
}

// writeAs writes the manifest, whole with a package, else a part.
func (im *importer) writeAs(entries []*entry, confirmed bool, pkg string) *written {
	w := &written{yaml: newYAMLWriter(), entries: entries}
	y := w.yaml
	y.write("# Imported from a tools/list document by capgen import mcp. Names are pinned: they\n# stay when the document changes.\n")
	if !confirmed {
		y.write("# Effects are proposals: check each, correct it, and remove its line inferred.\n")
	}
	if pkg != "" {
		y.write("capgen: 1\n")
		y.members(object(member{"go", object(member{"package", text(pkg)})},
			member{"server", object(member{"name", text(im.Namespace)}, member{"version", text("0.1.0")})}), 0)
	}
	if slices.ContainsFunc(entries, func(e *entry) bool { return len(e.types) > 0 }) {
		y.write("types:\n")
		for i, e := range entries {
			for _, t := range e.types {
				w.starts = append(w.starts, start{y.line, i})
				y.members(object(t), 2)
			}
		}
	}
	w.starts = append(w.starts, start{y.line, -1})
	y.write("capabilities:")
	if len(entries) == 0 {
		y.write(" []")
	}
	y.write("\n")
	for i, e := range entries {
		c := e.capability
		if confirmed {
			c = c.without("inferred")
		}
		w.starts = append(w.starts, start{y.line, i})
		y.write("  -")
		y.entry(c, 4)
	}
	return w
}

// entry writes an object behind a dash, its first member on the same line.
func (w *yamlWriter) entry(v *value, indent int) {
	for i, m := range v.members {
		if i == 0 {
			w.write(" ")
		} else {
			for range indent {
				w.write(" ")
			}
		}
		w.write(w.word(m.key) + ":")
		w.after(m.value, indent)
	}
}
