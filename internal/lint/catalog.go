package lint

import (
	"slices"
	"strings"

	"github.com/capgen/capgen/internal/verbs"
	"github.com/capgen/capgen/schema"
)

// catalog applies the rules about several capabilities.
func (l *linter) catalog() {
	summaries := make(map[string]*schema.Capability)
	phrases := make(map[string]*schema.Capability)
	names := make(map[string]*schema.Capability)
	for _, c := range l.Capabilities {
		key := plainWords(c.Summary)
		if first := summaries[key]; first != nil {
			l.related("duplicate-summary", c, place(c, "summary"), place(first, "summary"), "say what tells the two apart",
				"%s has the summary of %s", c.Name, first.Name)
		} else {
			summaries[key] = c
		}
		for _, phrase := range c.Search {
			key := plainWords(phrase)
			if first := phrases[key]; first == nil {
				phrases[key] = c
			} else if first != c {
				l.related("shared-search-phrase", c, place(c, "search"), place(first, "search"), "leave it with the one that people mean by it",
					"search phrase %s leads to %s as well as to %s", quote(phrase), c.Name, first.Name)
			}
		}
		key = strings.ReplaceAll(c.Name, "_", "")
		if first := names[key]; first != nil {
			l.related("confusable-names", c, place(c, "name"), place(first, "name"), "rename one of the two", "%s and %s differ in _ only", c.Name, first.Name)
		} else {
			names[key] = c
		}
	}
}

func (l *linter) related(rule string, c *schema.Capability, at, other schema.Position, hint, format string, args ...any) {
	n := len(l.findings)
	l.find(rule, c.Name, at, hint, format, args...)
	if len(l.findings) > n {
		l.findings[n].Related = &other
	}
}

// plainWords is s by its letters and digits only.
func plainWords(s string) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" .,;:!?'\"-_()`\n\t", r) }), " "))
}

// gatherTools notes the names that texts should not use.
func (l *linter) gatherTools() {
	l.names = make(map[string]*schema.Capability, len(l.Capabilities))
	l.tools = make(map[string]*schema.Capability)
	for _, c := range l.Capabilities {
		l.names[c.Name] = c
		if c.Source != nil && len(verbs.Words(c.Source.Tool)) > 1 && !strings.Contains(c.Source.Tool, " ") {
			l.tools[c.Source.Tool] = c
		}
	}
}

// otherTools reports names of tools in a text: of a capability elsewhere, whose
// use is not this one's to steer, and names that programs do not know.
func (l *linter) otherTools(t text) {
	own := l.names[t.target]
	var elsewhere, unknown []string
	note := func(to *[]string, name string) {
		if !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
	for _, word := range strings.FieldsFunc(t.s, func(r rune) bool { return !nameRune(r) }) {
		word = strings.Trim(word, ".-/")
		if c := l.names[word]; c != nil && own != nil && root(c.Name) != root(own.Name) {
			note(&elsewhere, word)
		} else if c := l.tools[word]; c != nil && c != own && l.names[word] == nil {
			note(&unknown, word)
		}
	}
	var named [][]string
	if low := lower(t.s); strings.Contains(low, "tool") || strings.Contains(low, "function") {
		named = l.namedTool.FindAllStringSubmatch(t.s, 16)
	}
	for _, m := range named {
		if name := strings.Trim(m[1], "."); l.names[name] == nil && (own == nil || own.Source == nil || own.Source.Tool != name) && identifier(name) {
			note(&unknown, name)
		}
	}
	if len(elsewhere) > 0 {
		l.find("other-tool", t.target, t.at, "say what this one does; search finds the others", "%s speaks of another namespace: %s", t.what, list(elsewhere))
	}
	if len(unknown) > 0 {
		hint := "write the name that programs know, or leave it out"
		if c := l.tools[unknown[0]]; c != nil {
			hint = "programs know " + unknown[0] + " as " + c.Name
		}
		l.find("unknown-tool", t.target, t.at, hint, "%s names what is called otherwise here, or is not here: %s", t.what, list(unknown))
	}
}

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-/", r)
}

// identifier tells a name in code from a word or a proper name.
func identifier(s string) bool {
	return strings.Contains(s, "_") || s[0] >= 'a' && s[0] <= 'z' && strings.ContainsFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' })
}

func root(name string) string {
	first, _, _ := strings.Cut(name, ".")
	return first
}
