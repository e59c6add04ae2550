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
	// Approved tells that the last parameter is a govern.Approved of that type,
	// and GovernPackage is the import path of govern where the method needs it.
	Approved      bool
	GovernPackage string
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
			if c.Step != "" {
				if c.of != nil && c.Step == schema.StepPrepare {
					out = append(out, governedHandlers(n, c.of)...)
				}
				continue
			}
			out = append(out, Handler{
				Capability: c.Capability, Method: c.method, Constraint: c.constraint,
				InputPackage: c.input.pkg, InputLabel: label(c.input), InputName: c.input.name,
				OutputPackage: c.output.pkg, OutputLabel: label(c.output), OutputName: c.output.name,
			})
		}
	}
	return out
}

// governedHandlers are the methods of a capability with an approval.
func governedHandlers(n *namespace, g *governed) []Handler {
	h := Handler{
		Capability: g.Capability, Method: g.method, Constraint: g.prepare.constraint, GovernPackage: governPath,
		InputPackage: g.input.pkg, InputLabel: n.pkg, InputName: g.input.name,
		OutputPackage: governPath, OutputLabel: "govern",
	}
	if plans := g.plans(); plans != "" {
		h.OutputName = plans
		return []Handler{h}
	}
	call, preview := h, h
	call.Approved, call.OutputPackage, call.OutputName = true, g.output.pkg, g.output.name
	if call.OutputLabel = n.pkg; g.output.pkg != g.input.pkg {
		call.OutputLabel = "types"
	}
	if g.preview == "" {
		return []Handler{call}
	}
	preview.Method, preview.OutputName = g.preview, "Preview"
	return []Handler{call, preview}
}
