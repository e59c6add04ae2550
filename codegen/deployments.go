package codegen

import "github.com/capgen/capgen/schema"

// checkDeployments refuses what no code is generated for yet.
func (p *planner) checkDeployments(m *schema.Manifest) {
	for _, d := range m.Deployments {
		if d.Name != schema.DefaultDeployment || len(d.Capabilities) != len(m.Capabilities) || len(d.Require)+len(d.Credentials) > 0 {
			p.fail(d.Pos, "unsupported", "write deployments: {default: {}}", "code for deployment %s is not generated yet by this version", d.Name)
		}
	}
}
