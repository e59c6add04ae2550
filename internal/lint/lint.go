package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/schema"
)

// Finding is something that a rule found. What its message quotes of the
// manifest is escaped.
type Finding struct {
	schema.Diagnostic
	// Target is what it is about: the name of a capability, types.NAME,
	// server or programs. An allowance names it.
	Target string
}

const (
	targetServer   = "server"
	targetPrograms = "programs"
	typePrefix     = "types."
)

// maxFindings bounds what is held of a manifest of nothing but mistakes.
const maxFindings = 10_000

// Check returns what the rules find in a manifest, which has to come from
// schema.Load, without what its allowances accept, sorted by place. At most
// 10,000 findings are kept. Its time and memory are linear in the manifest, and
// it may be called from several goroutines at once.
func Check(m *schema.Manifest) []Finding {
	declared := *m
	declared.Capabilities = m.Declared() // parts of them have no words of their own
	m = &declared
	l := &linter{Manifest: m, levels: make(map[string]schema.Severity), patterns: newPatterns(), hosts: declaredHosts(m)}
	for _, r := range Rules() {
		l.levels[r.ID] = r.Level
	}
	l.gatherTools()
	for t := range l.texts {
		if t.kind == prose {
			l.prose(t)
		}
		l.anyText(t)
	}
	l.types()
	for _, c := range m.Capabilities {
		l.capability(c)
	}
	l.catalog()
	l.allow()
	slices.SortStableFunc(l.findings, compare)
	return slices.CompactFunc(l.findings, func(a, b Finding) bool { return compare(a, b) == 0 })
}

func compare(a, b Finding) int {
	return cmp.Or(
		strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
		strings.Compare(a.Rule, b.Rule), strings.Compare(a.Target, b.Target), strings.Compare(a.Message, b.Message),
	)
}

// linter is one run of Check.
type linter struct {
	*schema.Manifest
	*patterns
	levels   map[string]schema.Severity
	hosts    map[string]bool
	findings []Finding
	// names are the capabilities by name; tools the names, of more than one
	// word, by which other servers know imported ones.
	names map[string]*schema.Capability
	tools map[string]*schema.Capability
}

// find adds a finding. What of the message is the manifest's is in quotes.
func (l *linter) find(rule, target string, at schema.Position, hint, format string, args ...any) {
	level, ok := l.levels[rule]
	if !ok || len(l.findings) == maxFindings {
		return
	}
	l.findings = append(l.findings, Finding{schema.Diagnostic{
		Position: at, Severity: level, Rule: rule, Message: fmt.Sprintf(format, args...), Hint: hint,
	}, target})
}

// quote is text of the manifest for a message: escaped, and cut.
func quote(s string) string {
	const most = 80
	if r := []rune(s[:min(len(s), 4*most)]); len(r) > most {
		return visible.Quote(string(r[:most])) + "…"
	}
	return visible.Quote(s)
}

// list names a few of many.
func list(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// place is where a field of a capability stands, or the capability itself.
func place(c *schema.Capability, key string) schema.Position {
	if at, ok := c.At[key]; ok {
		return at
	}
	return c.Pos
}
