package codegen

import (
	"path"

	"github.com/capgen/capgen/schema"
)

// Handler is the method by which a host implements a capability.
type Handler struct {
	*schema.Capability
	// Method is its name; InputName and InputPackage are the type and the
	// import path of its last parameter, OutputName and OutputPackage those of
	// its first result. InputLabel and OutputLabel are what those packages call
	// themselves.
	Method                                 string
	InputPackage, InputLabel, InputName    string
	OutputPackage, OutputLabel, OutputName string
	// Constraint is the build constraint of the file that the method belongs
	// into; empty where every build has the capability.
	Constraint string
}

// Handlers are those of a manifest that Generate accepts, sorted by the names
// of their capabilities.
func Handlers(m *schema.Manifest) []Handler {
	p, diags := newPlan(m)
	if schema.HasErrors(diags) {
		return nil
	}
	var out []Handler
	for _, n := range p.namespaces {
		label := func(t *goType) string {
			if t.pkg == path.Join(p.pkg, "types") {
				return "types"
			}
			return n.pkg
		}
		for _, c := range n.capabilities {
			out = append(out, Handler{
				Capability: c.Capability, Method: c.method, Constraint: c.constraint,
				InputPackage: c.input.pkg, InputLabel: label(c.input), InputName: c.input.name,
				OutputPackage: c.output.pkg, OutputLabel: label(c.output), OutputName: c.output.name,
			})
		}
	}
	return out
}
