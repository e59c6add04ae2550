package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/schema"
)

// deploymentForm is what a build holds, and what a server of it needs.
type deploymentForm struct {
	Deployment string `json:"deployment"`
	// Tag is that of the build; empty for a build without one.
	Tag          string           `json:"tag,omitempty"`
	Require      []string         `json:"require"`
	Credentials  []credentialForm `json:"credentials"`
	Effects      map[string]int   `json:"effects"`
	Capabilities []authorityForm  `json:"capabilities"`
	// Without are the capabilities of the manifest that the build lacks.
	Without []string `json:"without"`
}

// credentialForm is a reference, as the manifest has it.
type credentialForm struct {
	Credential string `json:"credential"`
	From       string `json:"from"`
	Name       string `json:"name"`
	Host       string `json:"host"`
}

// authorityForm is what a capability may do.
type authorityForm struct {
	Name   string   `json:"name"`
	ID     string   `json:"id"`
	Effect string   `json:"effect"`
	Scopes []string `json:"scopes"`
}

// showDeployment prints what a build of a deployment holds.
func (t *tool) showDeployment(o *options, m *schema.Manifest) int {
	d := m.Deployment(o.deployment)
	switch {
	case d != nil:
	case o.deployment == schema.Untagged && m.Tagged() && !m.DefaultNone:
		d = m.Common()
	default:
		var known []string
		for _, d := range m.Deployments {
			known = append(known, d.Name)
		}
		fmt.Fprintf(t.stderr, "capgen show: no deployment is called %q%s\n", o.deployment, didYouMean(o.deployment, known))
		return exitFindings
	}
	form := formOf(d, m)
	var err error
	if o.format == schema.FormatJSON {
		err = writeJSON(t.stdout, form)
	} else {
		err = form.writeText(t.stdout)
	}
	if err != nil {
		return t.fail(err)
	}
	return exitClean
}

func formOf(d *schema.Deployment, m *schema.Manifest) deploymentForm {
	f := deploymentForm{
		Deployment: d.Name, Require: append([]string{}, d.Require...), Credentials: []credentialForm{},
		Effects: map[string]int{}, Capabilities: []authorityForm{}, Without: []string{},
	}
	if m.Tagged() && d.Name != schema.Untagged {
		f.Tag = d.Tag()
	}
	for _, c := range d.Credentials {
		f.Credentials = append(f.Credentials, credentialForm{c.Name, c.From, c.Source, c.Host})
	}
	for _, c := range m.Capabilities {
		if !d.Holds(c) {
			f.Without = append(f.Without, c.Name)
			continue
		}
		f.Effects[c.Effect]++
		f.Capabilities = append(f.Capabilities, authorityForm{c.Name, c.ID, c.Effect, append([]string{}, c.Scopes...)})
	}
	return f
}

func (f deploymentForm) writeText(w io.Writer) error {
	var b strings.Builder
	line := func(label, text string) { fmt.Fprintf(&b, "%-12s %s\n", label, visible.Text(text)) }
	orNone := func(list []string) string {
		if len(list) == 0 {
			return "none"
		}
		return strings.Join(list, " ")
	}
	line("deployment", f.Deployment)
	if f.Tag != "" {
		line("tag", f.Tag)
	}
	line("require", orNone(f.Require))
	for _, c := range f.Credentials {
		line("credential", fmt.Sprintf("%s from=%s name=%s host=%s", c.Credential, c.From, c.Name, c.Host))
	}
	var effects []string
	for _, effect := range []string{"read", "write", "destroy"} {
		if n := f.Effects[effect]; n > 0 {
			effects = append(effects, fmt.Sprintf("%s=%d", effect, n))
		}
	}
	line("effects", orNone(effects))
	line("without", orNone(f.Without))
	b.WriteByte('\n')
	for _, c := range f.Capabilities {
		name := c.Name
		if c.ID != c.Name {
			name += " (" + c.ID + ")"
		}
		fmt.Fprintf(&b, "%-8s %s scopes=%s\n", c.Effect, visible.Text(name), visible.Text(strings.Join(strings.Fields(orNone(c.Scopes)), ",")))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
