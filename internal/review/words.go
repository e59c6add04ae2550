package review

import (
	"fmt"
	"slices"
	"sync"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/internal/lint"
	"github.com/capgen/capgen/runtime/search"
	"github.com/capgen/capgen/schema"
)

// words is the section of everything that a model reads. A change of words
// alone can turn what a model does, so that it is never cut.
func (r *Review) words(m *markdown) {
	m.section(2, "Words the model reads")
	d := &differ{budget: diffBudget}
	changes := 0
	for _, o := range r.owners() {
		all := o.changes()
		if len(all) == 0 {
			continue
		}
		m.line("### %s\n", o.title)
		for _, c := range all {
			changes++
			m.line("%s\n", span(c.pointer))
			m.b.WriteString(d.html(c.before, c.after) + "\n")
		}
	}
	if changes == 0 {
		m.line("No word changed.\n")
	}
	r.lint(m)
	r.ranks(m)
}

// lint shows what capgen lint finds in the head and not in the base, and counts
// the rest.
func (r *Review) lint(m *markdown) {
	type hit struct{ rule, target, message string }
	before := map[hit]int{}
	var base, head []lint.Finding
	var wg sync.WaitGroup
	wg.Go(func() { base = lint.Check(r.Input.Base) })
	wg.Go(func() { head = lint.Check(r.Input.Head) })
	wg.Wait()
	for _, f := range base {
		before[hit{f.Rule, f.Target, f.Message}]++
	}
	var rows [][]string
	known := 0
	for _, f := range head {
		h := hit{f.Rule, f.Target, f.Message}
		if before[h] > 0 {
			before[h]--
			known++
			continue
		}
		rows = append(rows, []string{string(f.Severity), f.Rule, span(f.Target), span(f.Message)})
	}
	m.line("Findings of lint: %d new, %d as before.\n", len(rows), known)
	if len(rows) > 0 {
		m.head("Level", "Rule", "Target", "Finding")
		for _, row := range rows {
			m.row(row...)
		}
		m.line("")
	}
}

// maxQueries bounds how often the two indexes are asked. Capabilities that
// changed come first.
const maxQueries = 1_000

// ranks tells where search finds capabilities for their stored phrases, before
// and after: another capability's words may push one down.
func (r *Review) ranks(m *markdown) {
	base, head := codegen.SearchIndex(r.Input.Base), codegen.SearchIndex(r.Input.Head)
	type asked struct{ base, head *schema.Capability }
	var changed, others []asked
	for _, c := range r.Added {
		changed = append(changed, asked{nil, c})
	}
	for _, p := range r.Pairs {
		if r.base.capabilities[p.Base.Name] != r.head.capabilities[p.Head.Name] {
			changed = append(changed, asked{p.Base, p.Head})
		} else {
			others = append(others, asked{p.Base, p.Head})
		}
	}
	queries, left, kept := 0, 0, 0
	var rows [][]string
	for _, a := range append(changed, others...) {
		phrases := slices.Clone(a.head.Search)
		if a.base != nil {
			for _, phrase := range a.base.Search {
				if !slices.Contains(phrases, phrase) {
					phrases = append(phrases, phrase)
				}
			}
		}
		for _, phrase := range phrases {
			if queries == maxQueries {
				left++
				continue
			}
			queries++
			before, after := rank(base, phrase, a.base), rank(head, phrase, a.head)
			if before == after {
				kept++
				continue
			}
			rows = append(rows, []string{span(phrase), span(a.head.Name), before, after})
		}
	}
	m.line("Rank of stored queries, which are the search phrases: %d asked, %d as before, %d changed.", queries, kept, len(rows))
	if left > 0 {
		m.line("Not asked, of capabilities that did not change: %d.", left)
	}
	if len(rows) > 0 {
		m.line("")
		m.head("Query", "Capability", "Before", "After")
		for _, row := range rows {
			m.row(row...)
		}
	}
}

// rank is where a capability stands for a query.
func rank(x *search.Index, query string, c *schema.Capability) string {
	if c == nil {
		return "new"
	}
	n := x.Rank(query, c.Called())
	if n == 0 {
		return "not found"
	}
	return fmt.Sprint(n)
}
