package schema

import (
	"cmp"
	"slices"
	"strings"
)

// Load reads the manifest called name from files, which holds every file it
// may refer to, by slash-separated path. A name that ends in .json is read as
// JSON, any other as YAML; the two forms of one manifest give equal results
// but for positions. With an error among the diagnostics the manifest is nil,
// and only then; warnings alone leave it. The diagnostics are sorted and at
// most MaxDiagnostics, a closing count aside.
//
// Load is a pure function: it touches no file and no clock, and its time and
// memory are bounded whatever the bytes are (see defaultLimits). It may be
// called from several goroutines at once.
func Load(files map[string][]byte, name string) (*Manifest, []Diagnostic) {
	return load(files, name, defaultLimits())
}

func load(files map[string][]byte, name string, l limits) (*Manifest, []Diagnostic) {
	ld := &loader{
		report: newReport(),
		limits: l,
		words:  newWords(),
		names:  newNames(),
		types:  make(map[string]*NamedType),

		typeNodes: make(map[string]*node),

		defaultOf: make(map[*Property]*node),
	}
	root := parse(ld.report, l, files, name)
	var m *Manifest
	if root != nil {
		m = ld.manifest(root)
	}
	if ld.failed {
		m = nil
	}
	return m, ld.diagnostics()
}

// loader is one run of Load.
type loader struct {
	*report
	limits limits
	words  words
	names  names

	// types are the named types; Type is nil until it is lowered, and for
	// good if it cannot be.
	types map[string]*NamedType
	// typeNames are the same, sorted, for nearest.
	typeNames []string
	// typeNodes are their schemas as written, for allOf.
	typeNodes map[string]*node
	// refs are the references met so far; merged are those of allOf.
	refs, merged []reference
	// nullables are the schemas that are null or another one.
	nullables []*Type
	// unions wait until all types are lowered.
	unions []*Type
	// owner is the named type that is being lowered, nil in capabilities.
	owner *NamedType
	// indirect counts the lists around what is being lowered.
	indirect int
	// defaults wait until all types are lowered.
	defaults  []*Property
	defaultOf map[*Property]*node
}

// manifest lowers the top level.
func (l *loader) manifest(n *node) *Manifest {
	if !l.mapping(n, &l.words.manifest, "a manifest") {
		return nil
	}
	m := &Manifest{}
	l.version(n)
	if v := l.need(n, "go", "a manifest", "go: {package: example.com/tools/generated}"); v != nil {
		m.Package = l.goPackage(v)
	}
	if v := l.need(n, "server", "a manifest", "server: {name: records, version: 1.0.0}"); v != nil {
		m.Server = l.server(v)
	}
	if v := n.get("types"); v != nil {
		m.Types = l.namedTypes(v)
	}
	if v := l.need(n, "capabilities", "a manifest", "capabilities is the list of what programs may call"); v != nil {
		m.Capabilities = l.capabilities(v)
	}
	if v := n.get("deployments"); v != nil {
		l.deployments(v)
	}
	// Each step relies on the one before: measuring on an order without
	// endless types, defaults on types that are neither deep nor huge.
	l.nullTwice()
	l.resolveUnions()
	if order, ok := l.resolve(m); ok && l.measureShapes(m, order) && l.checkDefaults() {
		l.measureTexts(m, order)
	}
	slices.SortFunc(m.Types, func(a, b *NamedType) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(m.Capabilities, func(a, b *Capability) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), a.Pos.compare(b.Pos))
	})
	return m
}
