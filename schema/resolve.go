package schema

import (
	"slices"
	"strings"
)

const refPrefix = "#/types/"

// reference is one $ref, from a named type or, with owner nil, a capability.
type reference struct {
	owner, target *NamedType
	at            Position
}

// lowerRef lowers {$ref: "#/types/Name"}.
func (l *loader) lowerRef(n *node) *Type {
	for i := range n.members {
		m := &n.members[i]
		if m.key != "$ref" && m.key != "description" && slices.Contains(l.words.schema.known, m.key) {
			l.errorf(m.pos, ruleRefSibling, "%s beside $ref", quote(m.key)).
				hint("only a description may stand there; the rest belongs to the type")
		}
	}
	v := n.get("$ref")
	s, ok := l.str(v, "$ref")
	if !ok {
		return nil
	}
	name, ok := strings.CutPrefix(s, refPrefix)
	if !ok {
		if strings.HasPrefix(s, "#/$defs/") || strings.Contains(s, ".json") {
			l.errorf(v.pos, ruleUnsupported, "a reference to %s is not supported yet by this version", quote(s)).
				hint("move the schema under types and write #/types/NAME")
		} else {
			l.errorf(v.pos, ruleBadRef, "%s is no reference to a type", quote(s)).hint("write #/types/NAME")
		}
		return nil
	}
	target := l.types[name]
	if target == nil {
		f := l.errorf(v.pos, ruleBadRef, "no type %s", quote(name)).hint("declare it under types")
		l.nearest(f, name, l.typeNames)
		return nil
	}
	l.refs = append(l.refs, reference{l.owner, target, v.pos})
	return &Type{Kind: Ref, Ref: target, Description: l.description(n), Pos: n.pos}
}

// resolve checks what the references make of the types together: no cycles
// and nothing unused. It returns the types so sorted that each comes after
// those it refers to; ok is false if there is no such order.
func (l *loader) resolve(m *Manifest) (order []*NamedType, ok bool) {
	uses := make(map[*NamedType][]reference)
	for _, r := range l.refs {
		uses[r.owner] = append(uses[r.owner], r)
	}
	l.unused(m.Types, uses)
	order, cyclic := l.order(m.Types, uses)
	return order, !cyclic
}

// order sorts the types so that each comes after those it refers to, and
// reports cycles. It is Tarjan's algorithm with a stack of its own: a chain of
// references may be as long as the file allows.
func (l *loader) order(types []*NamedType, uses map[*NamedType][]reference) (order []*NamedType, cyclic bool) {
	type state struct {
		index, low int
		onStack    bool
	}
	type frame struct {
		t    *NamedType
		next int
	}
	states := make(map[*NamedType]*state, len(types))
	var stack []*NamedType
	for _, root := range types {
		if states[root] != nil {
			continue
		}
		frames := []frame{{t: root}}
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			s := states[f.t]
			if s == nil {
				s = &state{index: len(states), low: len(states), onStack: true}
				states[f.t] = s
				stack = append(stack, f.t)
			}
			if f.next < len(uses[f.t]) {
				to := uses[f.t][f.next].target
				switch seen := states[to]; {
				case seen == nil:
					frames = append(frames, frame{t: to})
					continue // come back to this reference with its low known
				case seen.onStack:
					s.low = min(s.low, seen.low)
				}
				f.next++
				continue
			}
			if s.low == s.index {
				i := len(stack) - 1
				for stack[i] != f.t {
					i--
				}
				component := stack[i:]
				stack = stack[:i:i]
				for _, t := range component {
					states[t].onStack = false
				}
				order = append(order, component...)
				cyclic = l.cycle(component, uses) || cyclic
			}
			frames = frames[:len(frames)-1]
		}
	}
	return order, cyclic
}

// cycle reports a set of types that refer to each other, if it is one.
func (l *loader) cycle(component []*NamedType, uses map[*NamedType][]reference) bool {
	inside := make(map[*NamedType]bool, len(component))
	for _, t := range component {
		inside[t] = true
	}
	var closing *reference
	for _, t := range component {
		for i := range uses[t] {
			r := &uses[t][i]
			if inside[r.target] && (closing == nil || r.at.compare(closing.at) < 0) {
				closing = r
			}
		}
	}
	if closing == nil {
		return false
	}
	l.errorf(closing.at, ruleUnsupported, "type %s contains itself through this reference to %s (%s); recursive types are not supported yet",
		quote(closing.owner.Name), quote(closing.target.Name), closing.target.Pos).
		hint("break the cycle, for instance by a list of keys").related(closing.target.Pos)
	return true
}

// unused warns of types that no capability reaches.
func (l *loader) unused(types []*NamedType, uses map[*NamedType][]reference) {
	reached := make(map[*NamedType]bool, len(types))
	queue := []*NamedType{nil} // nil is the owner of what capabilities refer to
	for len(queue) > 0 {
		t := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, r := range uses[t] {
			if !reached[r.target] {
				reached[r.target] = true
				queue = append(queue, r.target)
			}
		}
	}
	for _, t := range types {
		if !reached[t] {
			l.warnf(t.Pos, ruleUnusedType, "type %s is used by no capability", quote(t.Name)).hint("remove it")
		}
	}
}
