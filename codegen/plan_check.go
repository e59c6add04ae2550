package codegen

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/mod/module"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/schema"
)

// Bounds of one capability's generated form. A manifest beyond them would make
// code that no one reviews, or, by types that refer to types, a table that
// grows exponentially.
const (
	maxProperties = 256 // what canon.Seen holds
	maxExpanded   = 10_000
	maxNesting    = 32 // the runtime's MaxValueDepth
	maxEnum       = 10_000
	maxName       = 64
	maxID         = 256
	maxMember     = 256
)

var (
	capabilityName = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$`)
	memberName     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// checkPackage guards the import path, which reaches import declarations.
func (p *planner) checkPackage(pkg string) {
	if err := module.CheckImportPath(pkg); err != nil {
		p.fail(schema.Position{}, "go-package", "write the import path of the generated directory, such as example.com/tools/generated", "go.package: %v", err)
	}
}

// checkModel refuses what the emitters could not write. schema.Load refuses
// most of it with better positions; a model made by hand has only this.
func (p *planner) checkModel(types []*schema.NamedType, caps []*schema.Capability) {
	for _, t := range types {
		p.known[t] = true
		if !memberName.MatchString(t.Name) {
			p.fail(t.Pos, "type-name", "", "%s is not a name of letters, digits and _", strconv.Quote(t.Name))
		}
	}
	for _, t := range types {
		p.measureNamed(&schema.Type{Kind: schema.Ref, Ref: t, Pos: t.Pos}, map[*schema.NamedType]bool{}, 0)
	}
	names := map[string]*schema.Capability{}
	namespaces := map[string]*schema.Capability{}
	for _, c := range caps {
		p.checkName(c)
		p.checkWords(c)
		p.checkErrors(c)
		if c.Input == nil || c.Output == nil {
			p.fail(c.Pos, "incomplete", "", "%s has no input or no output", c.Name)
			continue
		}
		if first, ok := names[c.Name]; ok {
			p.fail(c.Pos, "duplicate-capability", "", "capability %s is declared twice", c.Name)
			p.diags[len(p.diags)-1].Related = &first.Pos
		}
		ns := c.Namespace()
		names[c.Name], namespaces[ns] = c, c
		if n := p.measure(c.Input, map[*schema.NamedType]bool{}, 0) + p.measure(c.Output, map[*schema.NamedType]bool{}, 0); n > maxExpanded {
			p.fail(c.Pos, "expanded-size", "refer to fewer types, or make them smaller",
				"%s has more than %d fields once its types are written out", c.Name, maxExpanded)
		}
		if len(p.diags) == 0 && resolved(c.Input).Kind != schema.Object {
			p.fail(c.Input.Pos, "input-kind", "", "%s: an input is an object", c.Name)
		}
		if len(p.diags) == 0 {
			p.checkExamples(c)
		}
	}
	for _, c := range caps {
		if other, ok := namespaces[c.Name]; ok {
			p.fail(c.Pos, "name-is-namespace", "", "%s is also the namespace of %s", c.Name, other.Name)
		}
	}
}

// checkWords guards what becomes identifiers of the runtime, and texts.
func (p *planner) checkWords(c *schema.Capability) {
	for _, w := range []struct {
		what, value string
		known       []string
	}{
		{"effect", c.Effect, []string{"read", "write", "destroy"}},
		{"idempotency", c.Idempotency, []string{"natural", "key", "none"}},
		{"world", c.World, []string{"closed", "open"}},
	} {
		if !slices.Contains(w.known, w.value) {
			p.fail(c.Pos, "unknown-"+w.what, "", "%s: %s is no %s of this version", c.Name, strconv.Quote(w.value), w.what)
		}
	}
	if c.ID == "" || len(c.ID) > maxID {
		p.fail(c.Pos, "id", "", "%s: an id has 1 to %d bytes", c.Name, maxID)
	}
	p.checkLifecycle(c)
	p.checkTexts(c.Pos, append(append([]string{c.ID, c.Summary, c.Description}, c.Search...), c.Scopes...)...)
	p.checkTexts(c.Pos, sourceTexts(c.Source)...)
}

func (p *planner) checkTexts(pos schema.Position, texts ...string) {
	for _, t := range texts {
		if !utf8.ValidString(t) {
			p.fail(pos, "text-utf8", "", "%s is not UTF-8", strconv.QuoteToASCII(t[:min(len(t), 64)]))
		}
	}
}

func (p *planner) checkName(c *schema.Capability) {
	if !capabilityName.MatchString(c.Name) || len(c.Name) > maxName {
		p.fail(c.Pos, "capability-name", "", "%s is not a dotted name of at most %d bytes", strconv.Quote(c.Name), maxName)
		return
	}
	ns := c.Namespace()
	segments := strings.Split(ns, ".")
	switch segments[0] {
	case "types", "catalog", "fake", "lock":
		p.fail(c.Pos, "reserved-namespace", "", "%s: the namespace %s is a package of the generated code itself", c.Name, segments[0])
	}
	for _, s := range segments {
		switch s {
		case "internal", "vendor", "testdata":
			p.fail(c.Pos, "reserved-namespace", "", "%s: Go gives directories called %s a meaning of their own", c.Name, s)
		}
	}
	importPath := path.Join(p.pkg, strings.Join(segments, "/"))
	if err := module.CheckImportPath(importPath); err != nil && len(p.diags) == 0 {
		p.fail(c.Pos, "reserved-namespace", "", "%s: the go command refuses its package: %v", c.Name, err) // a/con, say
	}
	switch importPath {
	case runtimePath, canonPath:
		p.fail(c.Pos, "reserved-namespace", "", "%s would be generated into a package of the runtime", c.Name)
	}
}

// measure counts the nodes of t with references written out, up to a little
// beyond maxExpanded. within holds the named types around t.
func (p *planner) measure(t *schema.Type, within map[*schema.NamedType]bool, depth int) int {
	if t == nil {
		p.fail(schema.Position{}, "incomplete", "", "a type is missing")
		return 1
	}
	if depth > maxNesting {
		p.fail(t.Pos, "nesting", "", "types are nested more than %d deep", maxNesting)
		return 1
	}
	p.checkTexts(t.Pos, slices.Concat([]string{t.Description, t.Title, t.Pattern}, t.Enum, t.Examples)...)
	n := 1
	switch t.Kind {
	case schema.Ref:
		n += p.measureNamed(t, within, depth)
	case schema.Nullable:
		n += p.measure(t.Items, within, depth)
		p.checkNullable(t)
	case schema.Union:
		n += p.measureUnion(t, within, depth)
	case schema.Map:
		if t.Keys == nil || t.Keys.Kind != schema.String || len(t.Keys.Enum) > 0 {
			p.fail(t.Pos, "map-keys", "", "the keys of a map are strings")
		} else {
			p.measure(t.Keys, within, depth+1)
		}
		n += p.measure(t.Items, within, depth+1)
	case schema.Array:
		n += p.measure(t.Items, within, depth+1)
	case schema.Object:
		n += p.measureProperties(t, within, depth)
	case schema.String, schema.Integer, schema.Int64, schema.Bytes, schema.Number, schema.Boolean, schema.Opaque, schema.FreeObject:
		if t.Format != "" && canon.Format(t.Format).MaxLength() == 0 {
			p.fail(t.Pos, "unknown-format", "", "%s is no format of this version", strconv.Quote(t.Format))
		}
		if len(t.Enum) > maxEnum {
			p.fail(t.Pos, "enum-size", "", "an enum has at most %d values, not %d", maxEnum, len(t.Enum))
		}
	default:
		p.fail(t.Pos, "unknown-kind", "", "%s is no kind of this version", strconv.Quote(string(t.Kind)))
	}
	return min(n, maxExpanded+1)
}

// measureUnion counts the variants, and refuses a union that emitters could
// not tell apart.
func (p *planner) measureUnion(t *schema.Type, within map[*schema.NamedType]bool, depth int) int {
	if len(t.Variants) < 2 || len(t.Variants) > binding.MaxVariants || t.Tag != "" && len(t.Tags) != len(t.Variants) {
		p.fail(t.Pos, "union", "", "a union has 2 to %d variants, each with a tag or none", binding.MaxVariants)
		return 1
	}
	n := 0
	for _, v := range t.Variants {
		n = min(n+p.measure(v, within, depth), maxExpanded+1)
		if inner := schema.Resolve(v); inner == nil || schema.JSONType(inner) == "" || t.Tag != "" && inner.Kind != schema.Object {
			p.fail(t.Pos, "union", "", "a variant of a union has one JSON type, and is an object where a tag tells")
		}
	}
	p.checkTexts(t.Pos, append([]string{t.Tag}, t.Tags...)...)
	return n
}

// checkNullable refuses null beside a type that takes it already.
func (p *planner) checkNullable(t *schema.Type) {
	inner := t.Items
	if inner != nil && inner.Kind == schema.Ref && inner.Ref != nil {
		inner = inner.Ref.Type
	}
	if inner != nil && (inner.Kind == schema.Nullable || inner.Kind == schema.Opaque) {
		p.fail(t.Pos, "null-twice", "", "null stands beside a type that takes it already")
	}
}

func (p *planner) measureProperties(t *schema.Type, within map[*schema.NamedType]bool, depth int) int {
	if len(t.Properties) > maxProperties {
		p.fail(t.Pos, "too-many-properties", "", "an object has at most %d properties, not %d", maxProperties, len(t.Properties))
	}
	n := 0
	for _, prop := range t.Properties {
		if !memberName.MatchString(prop.Name) || len(prop.Name) > maxMember {
			p.fail(prop.Pos, "property-name", "", "%s is not a name of at most %d letters, digits and _", strconv.Quote(prop.Name), maxMember)
		}
		p.checkTexts(prop.Pos, prop.Default)
		n = min(n+p.measure(prop.Type, within, depth+1), maxExpanded+1)
	}
	return n
}

func (p *planner) measureNamed(t *schema.Type, within map[*schema.NamedType]bool, depth int) int {
	if t.Ref == nil || !p.known[t.Ref] {
		p.fail(t.Pos, "incomplete", "", "a type refers to one that the manifest does not list")
		return 1
	}
	if n, ok := p.sizes[t.Ref]; ok {
		return n
	}
	if within[t.Ref] && t.Ref.Recursive {
		return 1
	}
	if within[t.Ref] {
		p.fail(t.Pos, "recursive-type", "", "type %s refers to itself and is not marked as recursive", t.Ref.Name)
		return 1
	}
	inner := maps.Clone(within)
	inner[t.Ref] = true
	if t.Ref.Recursive {
		depth = 0 // its values are bounded when they are read
	}
	n := p.measure(t.Ref.Type, inner, depth)
	p.sizes[t.Ref] = n
	return n
}
