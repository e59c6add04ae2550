package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/capgen/capgen/codegen"
	"github.com/capgen/capgen/schema"
	"github.com/capgen/capgen/schema/breaking"
)

// authority is the section that says what may be done, by whom, and where. It
// is never cut.
func (r *Review) authority(m *markdown) {
	m.section(1, "Authority")
	type row struct {
		name  string
		cells []string
	}
	var rows []row
	for _, p := range r.Pairs {
		before, after := r.authorityOf(r.Input.Base, p.Base), r.authorityOf(r.Input.Head, p.Head)
		if slices.EqualFunc(before, after, slices.Equal) {
			continue
		}
		cells := []string{span(p.Head.Name)}
		if p.Base.Name != p.Head.Name {
			cells[0] = span(p.Base.Name) + " → " + span(p.Head.Name)
		}
		for i := range before {
			cells = append(cells, turned(spans(before[i]), spans(after[i])))
		}
		rows = append(rows, row{p.Head.Name, cells})
	}
	for _, c := range r.Added {
		cells := []string{span(c.Name) + " **new**"}
		for _, a := range r.authorityOf(r.Input.Head, c) {
			cells = append(cells, spans(a))
		}
		rows = append(rows, row{c.Name, cells})
	}
	for _, c := range r.Removed {
		cells := []string{span(c.Name) + " **gone**"}
		for _, a := range r.authorityOf(r.Input.Base, c) {
			cells = append(cells, spans(a))
		}
		rows = append(rows, row{c.Name, cells})
	}
	if len(rows) == 0 {
		m.line("No capability has another effect, scope, deployment, limit or rule than before. Section 3 has what inputs take.")
	} else {
		slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.name, b.name) })
		m.head("Capability", "Effect", "Scopes", "Deployments", "Approval", "Limits and timeouts", "Besides")
		for _, row := range rows {
			m.row(row.cells...)
		}
	}
	r.secrets(m)
}

// turned is a cell: what it was and what it is.
func turned(before, after string) string {
	if before == after {
		return after
	}
	return before + " → **" + after + "**"
}

// authorityOf are the columns of a capability.
func (r *Review) authorityOf(m *schema.Manifest, c *schema.Capability) [][]string {
	var approval []string
	if c.Approval != nil {
		approval = []string{c.Approval.Text()}
	}
	limits, besides := []string{}, []string{"idempotency=" + c.Idempotency, "world=" + c.World, "id=" + c.ID}
	for _, rule := range codegen.Rules(c) {
		text := rule.Name + " " + rule.Text
		switch rule.Name {
		case "timeout", "limits":
			limits = append(limits, text)
		case "pagination", "approval":
		default:
			besides = append(besides, text)
		}
	}
	for _, tag := range c.Tags {
		besides = append(besides, "tag="+tag)
	}
	if c.Source != nil {
		besides = append(besides, "mcp tool "+c.Source.Tool)
	}
	return [][]string{{c.Effect}, c.Scopes, m.Reach(c), approval, limits, besides}
}

// secrets are the hosts and credentials of each deployment, and what it
// requires.
func (r *Review) secrets(m *markdown) {
	var names []string
	for _, side := range []*schema.Manifest{r.Input.Base, r.Input.Head} {
		for _, d := range side.Deployments {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	m.line("")
	m.head("Deployment", "Requires", "Hosts and credentials")
	for _, name := range slices.Compact(names) {
		b, h := r.Input.Base.Deployment(name), r.Input.Head.Deployment(name)
		title := span(name)
		switch {
		case b == nil:
			title += " **new**"
			b = &schema.Deployment{}
		case h == nil:
			title += " **gone**"
			h = &schema.Deployment{}
		}
		m.row(title, turned(spans(b.Require), spans(h.Require)), turned(spans(credentials(b)), spans(credentials(h))))
	}
}

func credentials(d *schema.Deployment) []string {
	var out []string
	for _, c := range d.Credentials {
		out = append(out, breaking.CredentialText(c))
	}
	return out
}

// deployments counts what each deployment gained, lost and has changed.
func (r *Review) deployments(m *markdown) {
	m.section(4, "Deployments")
	m.head("Deployment", "+", "−", "~")
	changed := map[string]*schema.Capability{}
	for _, p := range r.changed() {
		changed[p.Head.Name] = p.Head
	}
	baseName := map[string]string{}
	for _, p := range r.Pairs {
		baseName[p.Head.Name] = p.Base.Name
	}
	var names []string
	for _, side := range []*schema.Manifest{r.Input.Base, r.Input.Head} {
		for _, d := range side.Deployments {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		held := map[string]*schema.Capability{} // of the base
		if d := r.Input.Base.Deployment(name); d != nil {
			for _, c := range r.Input.Base.DeclaredIn(d) {
				held[c.Name] = c
			}
		}
		more, less, other := effects{}, effects{}, effects{}
		if d := r.Input.Head.Deployment(name); d != nil {
			for _, c := range r.Input.Head.DeclaredIn(d) {
				switch old := baseName[c.Name]; {
				case held[old] == nil:
					more[c.Effect]++
				case changed[c.Name] != nil:
					other[c.Effect]++
				}
				delete(held, baseName[c.Name])
			}
		}
		for _, c := range held {
			less[c.Effect]++
		}
		m.row(span(name), more.String(), less.String(), other.String())
	}
}

// effects count capabilities by effect.
type effects map[string]int

func (e effects) String() string {
	var words []string
	for _, effect := range []string{"read", "write", "destroy", "change", "run"} {
		if e[effect] > 0 {
			words = append(words, fmt.Sprintf("%d %s", e[effect], effect))
		}
	}
	if len(words) == 0 {
		return "0"
	}
	return strings.Join(words, ", ")
}
