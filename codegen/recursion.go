package codegen

import (
	"cmp"
	"slices"

	"github.com/capgen/capgen/schema"
)

// isRecursive tells whether t refers to a type that may hold itself, which is
// named wherever it stands instead of being written out.
func isRecursive(t *schema.Type) bool { return t.Kind == schema.Ref && t.Ref.Recursive }

// member is the Go type of a property: a pointer where a value would otherwise
// be part of itself.
//
//	Next canon.Optional[*Node]
func (p *planner) member(pkg, name string, t *schema.Type) *goType {
	g := p.typ(pkg, name, t, false)
	held := g
	if t.Kind == schema.Nullable {
		held, t = g.items, t.Items
	}
	held.pointer = t.Kind == schema.Ref && t.Ref.Boxed
	return g
}

// recursiveTypes are the types that may hold themselves and that one of roots
// refers to, however indirectly, sorted by name.
func recursiveTypes(roots ...*schema.Type) []*schema.NamedType {
	seen := map[*schema.NamedType]bool{}
	for _, t := range roots {
		schema.References(t, seen)
	}
	var out []*schema.NamedType
	for t := range seen {
		if t.Recursive {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *schema.NamedType) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
