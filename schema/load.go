package schema

import (
	"cmp"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// Load reads the manifest called name from files, which holds every file it
// includes or refers to, by slash-separated path. A name that ends in .json is
// read as JSON, any other as YAML; the two forms of one manifest give equal
// results but for positions. With an error among the diagnostics the manifest
// is nil, and only then; warnings alone leave it. The diagnostics are sorted
// and at most MaxDiagnostics, a closing count aside.
//
// Load is a pure function: it touches no file and no clock, and its time and
// memory are bounded whatever the bytes are (see defaultLimits). It may be
// called from several goroutines at once.
func Load(files map[string][]byte, name string) (*Manifest, []Diagnostic) {
	return load(files, name, defaultLimits())
}

func load(files map[string][]byte, name string, l limits) (*Manifest, []Diagnostic) {
	text, ok := files[name]
	if !ok {
		r := newReport()
		r.nearest(r.errorf(Position{File: name}, ruleFileMissing, "no such file"), name, slices.Collect(maps.Keys(files)))
		return nil, r.diagnostics()
	}
	return loadFrom(text, name, l, func(p string) ([]byte, error) {
		if text, ok := files[path.Join(path.Dir(name), p)]; ok {
			return text, nil
		}
		return nil, fs.ErrNotExist
	})
}

// LoadFrom is Load of a manifest with that text and name, which reads the
// files that the manifest includes or refers to by open: at most 255, each
// once. open gets paths that satisfy fs.ValidPath, relative to the manifest's
// directory, and has to keep to what lies below it whatever links say. It
// should stop reading at MaxFileBytes; its errors are told where the path
// stands, an fs.ErrNotExist in words of our own.
func LoadFrom(text []byte, name string, open func(path string) ([]byte, error)) (*Manifest, []Diagnostic) {
	return loadFrom(text, name, defaultLimits(), open)
}

// MaxFileBytes is how long one file of a manifest may be, in bytes.
const MaxFileBytes = 4 << 20

func loadFrom(text []byte, name string, l limits, open func(path string) ([]byte, error)) (*Manifest, []Diagnostic) {
	ld := newLoader(name, l, open)
	m := ld.load(text)
	return m, ld.diagnostics()
}

func newLoader(name string, l limits, open func(path string) ([]byte, error)) *loader {
	ld := &loader{
		report: newReport(),
		limits: l,
		words:  newWords(),
		names:  newNames(),
		types:  make(map[string]*NamedType),

		typeNodes:   make(map[*NamedType]*node),
		foldedTypes: make(map[string]*NamedType),

		documents:  make(map[string]*document),
		documentOf: make(map[*node]*document),

		shownOf:   make(map[*Type]*shownValues),
		defaultOf: make(map[*Property]*node),
	}
	ld.files = newSourceFiles(ld.report, l, name, open)
	return ld
}

// load is the manifest with that text; nil with what is wrong reported.
func (l *loader) load(text []byte) *Manifest {
	root := l.files.manifest(text)
	if root == nil {
		return nil
	}
	m := l.manifest(root)
	if l.failed {
		return nil
	}
	expand(m)
	return m
}

// loader is one run of Load.
type loader struct {
	*report
	limits limits
	words  words
	names  names
	files  *sourceFiles

	// types are the entries of `types`; Type is nil until it is lowered, and
	// for good if it cannot be.
	types map[string]*NamedType
	// typeNames are the same, sorted, for nearest.
	typeNames []string
	// typeNodes are the schemas of all named types as written, for allOf.
	typeNodes map[*NamedType]*node
	// foldedTypes are all named types by name in lower case.
	foldedTypes map[string]*NamedType
	// documents are the schema files by path, inlined those inside the
	// manifest; documentOf tells where a reference stands, without an entry
	// for one to a type of the manifest.
	documents  map[string]*document
	inlined    []*document
	documentOf map[*node]*document
	// defined are the types that are definitions, of which the first lowered
	// are lowered.
	defined []*NamedType
	lowered int
	// refs are the references met so far; merged are those of allOf.
	refs, merged []reference
	// nullables are the schemas that are null or another one.
	nullables []*Type
	// shown are the examples of schemas, shownOf the same by type.
	shown   []*shownValues
	shownOf map[*Type]*shownValues
	// uniques are the arrays whose items differ.
	uniques []unique
	// unions wait until all types are lowered.
	unions []*Type
	// owner is the named type that is being lowered, nil in capabilities.
	owner *NamedType
	// indirect counts the lists around what is being lowered.
	indirect int
	// defaults wait until all types are lowered.
	defaults  []*Property
	defaultOf map[*Property]*node
	// use is what the values that are checked are.
	use valueUse
	// examples wait too, until defaults can be filled in.
	examples []writtenExample
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
	l.contents(m, n)
	if v := n.get("lint"); v != nil {
		m.Allowances = l.allowances(v)
	}
	// Each step relies on the one before: measuring on an order without
	// endless types, defaults on types that are neither deep nor huge.
	l.nullTwice()
	l.uniqueWithoutDefaults()
	l.resolveUnions()
	if order, ok := l.resolve(m); ok && l.measureShapes(m, order) && l.checkDefaults() && l.checkShown() && l.checkExamples() {
		l.measureTexts(m, order)
		if !l.failed {
			l.directTools(m)
		}
	}
	slices.SortFunc(m.Types, func(a, b *NamedType) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(m.Capabilities, func(a, b *Capability) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), a.Pos.compare(b.Pos))
	})
	l.deployments(n.get("deployments"), m)
	return m
}
