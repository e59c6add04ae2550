package codegen

import (
	"fmt"
	"strings"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/schema"
)

// noted tells whether there is something to say of the deployments.
func (b *builds) noted() bool {
	d := b.deployments[0]
	return b.tagged || len(d.Require)+len(d.Credentials) > 0
}

// catalogLock is what a reviewer reads of the deployments. Which of them hold a
// capability stands in the lock file of its namespace.
//
//	default capabilities 5: read 3, destroy 2
//	prod capabilities 3: read 3
//	prod require authorizer sandbox
//	prod credential store env "STORE_TOKEN" for "store.example.com"
func (p *plan) catalogLock() []byte {
	var b strings.Builder
	b.WriteString("# " + header + "\n")
	list := p.builds.deployments
	if p.builds.tagged && !p.builds.mustName {
		list = append(list[:len(list):len(list)], p.builds.common)
	}
	for _, d := range list {
		fmt.Fprintf(&b, "\n%s capabilities %d%s\n", d.Name, len(d.Capabilities), effects(d.Capabilities))
		if len(d.Require) > 0 {
			fmt.Fprintf(&b, "%s require %s\n", d.Name, strings.Join(d.Require, " "))
		}
		for _, c := range d.Credentials {
			fmt.Fprintf(&b, "%s credential %s %s %s for %s\n", d.Name, visible.Text(c.Name), visible.Text(c.From), visible.Quote(c.Source), visible.Quote(c.Host))
		}
	}
	return []byte(b.String())
}

// effects counts capabilities by effect.
func effects(caps []*schema.Capability) string {
	var out []string
	for _, effect := range []string{"read", "write", "destroy"} {
		n := 0
		for _, c := range caps {
			if c.Effect == effect {
				n++
			}
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("%s %d", effect, n))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return ": " + strings.Join(out, ", ")
}
