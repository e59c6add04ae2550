package schema

import (
	"slices"
	"strings"
)

// declaration is one entry of `types` that waits to be lowered.
type declaration struct {
	named *NamedType
	node  *node
}

// declareTypes gathers the names of one file's `types`. All names are gathered
// before one schema is lowered, so that a type may refer to one further down,
// or in another file.
func (l *loader) declareTypes(n *node) []declaration {
	if !l.kind(n, mappingNode, "types") {
		return nil
	}
	declared := make([]declaration, 0, len(n.members))
	for _, m := range n.members {
		if !isTypeName(m.key) || len(m.key) > maxName {
			l.errorf(m.pos, ruleBadName, "%s is no name for a type", quote(m.key)).
				hint("a capital letter, then letters and digits, at most %d: Record", maxName)
		}
		t := &NamedType{Name: m.key, Pos: m.pos}
		if !l.claimType(t) && l.types[m.key] != nil {
			continue // two types of one name: the second is in the way of nothing
		}
		l.types[m.key] = t
		l.typeNames = append(l.typeNames, m.key)
		declared = append(declared, declaration{t, m.value})
	}
	return declared
}

// claimType takes the name of t for it, or reports that it is taken.
func (l *loader) claimType(t *NamedType) bool {
	low := strings.ToLower(t.Name)
	switch first := l.foldedTypes[low]; {
	case first == nil:
		l.foldedTypes[low] = t
		return true
	case first.Name == t.Name:
		l.errorf(t.Pos, ruleNameCollision, "type %s stands twice, first at %s", quote(t.Name), first.Pos).
			hint("rename one of the two: the last one never wins").related(first.Pos)
	default:
		l.errorf(t.Pos, ruleNameCollision, "type %s differs from %s (%s) in case only", quote(t.Name), quote(first.Name), first.Pos).
			hint("each type becomes a file, and file systems may ignore case").related(first.Pos)
	}
	return false
}

// lowerTypes lowers what was declared.
func (l *loader) lowerTypes(declared []declaration) []*NamedType {
	slices.Sort(l.typeNames)
	types := make([]*NamedType, 0, len(declared))
	for i := range declared {
		declared[i].node = l.inline(declared[i].node)
		l.typeNodes[declared[i].named] = declared[i].node
	}
	for _, d := range declared {
		types = append(types, d.named)
		l.owner = d.named
		if ref := d.node.member("$ref"); ref != nil {
			l.errorf(ref.pos, ruleUnsupported, "type %s is only another name for a type; that is not supported yet", quote(d.named.Name)).
				hint("refer to the other type where %s is used", d.named.Name)
			continue
		}
		d.named.Type = l.lower(d.node, "type "+quote(d.named.Name), false)
	}
	l.owner = nil
	l.lowerDefinitions()
	return types
}
