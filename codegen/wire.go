package codegen

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/capgen/capgen/schema"
)

// The packages that the code of a manifest with approvals refers to beside the
// runtime's.
const (
	governPath = "github.com/capgen/capgen/runtime/govern"
	wirePath   = governPath + "/wire"
)

// Wire is package wire of the runtime: the Go types of what approval brings,
// which are the same for every manifest, by file name. A test compares them
// with those that are there.
func Wire() (map[string][]byte, error) {
	m := &schema.Manifest{Package: governPath, Server: schema.Server{Name: "change", Version: "1"}}
	for name, c := range schema.Family() {
		c := *c
		c.Name = "wire." + wireName(name)
		c.ID = c.Name
		m.Capabilities = append(m.Capabilities, &c)
	}
	p, diags := newPlan(m)
	if schema.HasErrors(diags) {
		return nil, fmt.Errorf("codegen: the types of approval: %s", diags[0])
	}
	files := make(map[string][]byte)
	for _, c := range p.namespaces[0].capabilities {
		f := file(wirePath, "wire", nil)
		for _, d := range c.decls {
			d.lead = strings.ReplaceAll(d.lead, " of wire.", " of ")
			emitDecl(f, d)
		}
		var b bytes.Buffer
		if err := f.Render(&b); err != nil {
			return nil, fmt.Errorf("codegen: render %s: %w", c.Name, err)
		}
		files[c.Leaf()+"_gen.go"] = b.Bytes()
	}
	return files, nil
}

// wireName is what package wire calls a capability of the family: show for
// change.show, run_status for run.status, and start, of which there is one.
func wireName(name string) string {
	name = strings.TrimPrefix(name, "change.")
	if name == "run."+schema.StepStart {
		return schema.StepStart
	}
	return strings.ReplaceAll(name, ".", "_")
}

// wireType is the Go type of what every manifest has alike.
func wireType(name, suffix string) *goType {
	return &goType{form: named, name: goName(name) + suffix, pkg: wirePath}
}
