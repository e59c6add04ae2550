package review

import (
	"fmt"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/runtime/program"
	"github.com/capgen/capgen/schema"
)

// provenance tells of capabilities that were imported.
func (r *Review) provenance(m *markdown) {
	m.section(5, "Import provenance")
	imported := func(of *schema.Manifest) (n int) {
		for _, c := range of.Declared() {
			if c.Source != nil {
				n++
			}
		}
		return n
	}
	m.line("- imported capabilities: %d → %d; a tool that changed is a finding `source-changed`", imported(r.Input.Base), imported(r.Input.Head))
	m.line("- source digests, skipped operations, overlay entries: not available")
}

// evidence tells what was tried, and by whose leave findings pass.
func (r *Review) evidence(m *markdown) {
	m.section(6, "Evidence")
	examples := 0
	for _, c := range r.Input.Head.Declared() {
		examples += len(c.Examples)
	}
	m.line("- examples: %d, each checked against the schemas of its capability; the generated tests run them", examples)
	r.programs(m)
	m.line("- waivers: %d", len(r.Waivers))
	if len(r.Waivers) > 0 {
		m.line("")
		m.head("Waiver", "Rule", "Target", "State", "Approver", "Expires", "Reason")
		for _, w := range r.Waivers {
			m.row(bounded(w.Pos.File), bounded(w.Rule), bounded(w.Target), r.state(w), bounded(w.Approver), span(w.Expires), bounded(w.Reason))
		}
	}
	if len(r.Problems) > 0 {
		m.line("")
		for _, p := range r.Problems {
			m.line("- %s: %s; %s", p.Rule, span(p.Message), span(p.Hint))
		}
	}
}

// programs checks the stored programs of both sides against the head, without
// running them: those of the base are what callers have written.
func (r *Review) programs(m *markdown) {
	table, err := codegen.BindingTable(r.Input.Head)
	if err != nil {
		m.line("- stored programs: not checked, %s", bounded(err.Error()))
		return
	}
	var rows [][]string
	check := func(of string, programs []*schema.Program) (fine int) {
		for _, p := range programs {
			report, failure := program.Check(program.Program{Source: p.Source, Limits: checkLimits()}, table)
			switch {
			case failure != nil:
				rows = append(rows, []string{of, bounded(p.Title), bounded(failure.Error())})
			case len(report.Problems) > 0:
				f := report.Problems[0]
				rows = append(rows, []string{of, bounded(p.Title), fmt.Sprintf("line %d: %s", f.Line, bounded(f.Error()))})
			default:
				fine++
			}
		}
		return fine
	}
	base, head := check("base", r.Input.Base.Programs), check("head", r.Input.Head.Programs)
	m.line("- stored programs that pass the check of the head: %d of %d of the base, %d of %d of the head",
		base, len(r.Input.Base.Programs), head, len(r.Input.Head.Programs))
	if len(rows) > 0 {
		m.line("")
		m.head("Program of", "Title", "Problem")
		for n, row := range rows {
			if n == maxRows {
				break
			}
			m.row(row...)
		}
		m.line("")
	}
}

// checkLimits are those of a server by default, as far as a check has any.
func checkLimits() program.Limits {
	return program.Limits{
		Steps: 50_000_000, Calls: 1_000, Depth: 32, ValueBytes: 1 << 20, ResultBytes: 8 << 20, SourceBytes: 64 << 10, Parallel: 8,
	}
}

// cost is what a model pays for the descriptions.
func (r *Review) cost(m *markdown) {
	m.section(7, "Cost")
	total := func(of *schema.Manifest) (n int) {
		for _, c := range of.Capabilities {
			n += len(codegen.Description(c))
		}
		return n
	}
	base, head := total(r.Input.Base), total(r.Input.Head)
	m.head("", "Base", "Head", "Difference")
	m.row("Bytes of all descriptions", fmt.Sprint(base), fmt.Sprint(head), fmt.Sprintf("%+d", head-base))
	m.row("Tokens, estimated as a quarter of the bytes", fmt.Sprint(base/4), fmt.Sprint(head/4), fmt.Sprintf("%+d", head/4-base/4))
}
