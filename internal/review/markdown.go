package review

import (
	"fmt"
	"io"
	"strings"

	"github.com/capgen/capgen/schema/breaking"
)

const (
	// maxRows bounds the tables of the sections that may be cut.
	maxRows = 200
	// maxCell bounds a quoted value in them, in bytes.
	maxCell = 160
)

// WriteMarkdown writes the summary of a pull request. Sections 1 and 2, what
// may be done and what models read, are whole however long; the others are
// bounded, and say what they leave out.
func (r *Review) WriteMarkdown(w io.Writer) error {
	m := &markdown{}
	m.line("# Review of the contract")
	r.verdict(m)
	r.authority(m)
	r.words(m)
	r.contract(m)
	r.deployments(m)
	r.provenance(m)
	r.evidence(m)
	r.cost(m)
	_, err := io.WriteString(w, m.b.String())
	return err
}

// markdown is a document under construction. Texts of manifests reach it by
// span and pre only.
type markdown struct{ b strings.Builder }

func (m *markdown) line(format string, args ...any) {
	fmt.Fprintf(&m.b, format+"\n", args...)
}

// section begins one, with an empty line around its heading.
func (m *markdown) section(n int, title string) { m.line("\n## %d. %s\n", n, title) }

// head begins a table.
func (m *markdown) head(columns ...string) {
	m.line("| %s |", strings.Join(columns, " | "))
	m.line("|%s", strings.Repeat("---|", len(columns)))
}

func (m *markdown) row(cells ...string) { m.line("| %s |", strings.Join(cells, " | ")) }

// verdict is the section that says whether the change may pass.
func (r *Review) verdict(m *markdown) {
	m.section(0, "Verdict")
	if r.Failed() {
		m.line("**Not compatible.**\n")
	} else {
		m.line("**Compatible.**\n")
	}
	m.line("- breaking findings: %d without a waiver, %d with one; warnings: %d; notes: %d",
		r.count(breaking.Breaking, false), r.count(breaking.Breaking, true), r.count(breaking.Warning, false), r.count(breaking.Note, false))
	for _, category := range []breaking.Category{breaking.Authz, breaking.Wire, breaking.Canon, breaking.Name, breaking.Go, breaking.Prompt} {
		n := 0
		for _, i := range r.Unwaived() {
			if i.Category == category {
				n++
			}
		}
		if n > 0 {
			m.line("- without a waiver in %s: %d", category, n)
		}
	}
	if len(r.Problems) > 0 {
		m.line("- problems of waivers: %d, see section 6", len(r.Problems))
	}
	switch {
	case !r.GeneratedKnown:
		m.line("- generated files: not looked at")
	case len(r.Generated) == 0:
		m.line("- generated files: in sync")
	default:
		m.line("- generated files: **stale**, %d of them; run capgen generate, and commit what it writes", len(r.Generated))
	}
	m.line("")
	m.head("", "Base", "Head")
	m.row("Manifest", span(r.BaseName), span(r.HeadName))
	m.row("Contract", span(r.BaseContract), span(r.HeadContract))
	m.row("Capabilities", fmt.Sprint(len(r.Input.Base.Declared())), fmt.Sprint(len(r.Input.Head.Declared())))
}

// bounded is a value for a table that may be cut.
func bounded(s string) string {
	if len(s) <= maxCell {
		return span(s)
	}
	cut := maxCell
	for cut > 0 && s[cut]&0xc0 == 0x80 {
		cut--
	}
	return span(s[:cut]) + fmt.Sprintf("… (%d bytes)", len(s))
}

// contract lists the findings.
func (r *Review) contract(m *markdown) {
	m.section(3, "Contract")
	if len(r.Items) == 0 {
		m.line("No difference.")
		return
	}
	m.head("Level", "Rule", "Where", "Before", "After", "Breaks")
	for n, i := range r.Items {
		if n == maxRows {
			m.line("\nFindings left out: %d; capgen breaking --format json has them.", len(r.Items)-n)
			break
		}
		level := string(i.Level)
		if i.Level == breaking.Breaking {
			level = "**breaking**"
		}
		if i.Waiver != nil {
			level = "waived"
		}
		where := bounded(i.Target())
		if n := len(i.Reaches); n > 0 {
			where += fmt.Sprintf(", in %d capabilities", n)
		}
		m.row(level, i.ID, where, bounded(i.Before), bounded(i.After), parties(i.Breaks))
	}
}
