package schema

import "slices"

const refPrefix = "#/types/"

// reference is one $ref, from a named type or, with owner nil, a capability.
type reference struct {
	owner, target *NamedType
	at            Position
	direct        bool // not inside of a list
}

// lowerRef lowers {$ref: "#/types/Name"}, or a reference to a definition.
func (l *loader) lowerRef(n *node) *Type {
	l.refSiblings(n)
	target := l.target(n, 0)
	if target == nil {
		return nil
	}
	l.refs = append(l.refs, reference{l.owner, target, n.get("$ref").pos, l.indirect == 0})
	t := &Type{Kind: Ref, Ref: target, Pos: n.pos}
	t.Description, t.DescriptionAt = l.description(n)
	return t
}

// refSiblings reports what may not stand beside $ref.
func (l *loader) refSiblings(n *node) {
	for i := range n.members {
		m := &n.members[i]
		if m.key != "$ref" && m.key != "description" && m.key != "deprecated" && slices.Contains(l.words.schema.known, m.key) {
			l.errorf(m.pos, ruleRefSibling, "%s beside $ref", quote(m.key)).
				hint("only description and deprecated may stand there; the rest belongs to the type")
		}
	}
}

// resolve checks what the references make of the types together: that nothing
// is unused, and which types hold themselves. It returns the types in groups
// that refer to each other, so sorted that each group comes after those it
// refers to; ok is false if a type can never end.
func (l *loader) resolve(m *Manifest) (order [][]*NamedType, ok bool) {
	uses := make(map[*NamedType][]reference)
	direct := make(map[*NamedType][]reference)
	for _, r := range l.refs {
		uses[r.owner] = append(uses[r.owner], r)
		if r.direct {
			direct[r.owner] = append(direct[r.owner], r)
		}
	}
	l.unused(m.Types, slices.Concat(l.refs, l.merged))
	order = components(m.Types, uses)
	ok = true
	for _, group := range order {
		if isCycle(group, uses) {
			ok = l.recursive(group) && ok
		}
	}
	for _, group := range components(m.Types, direct) {
		if isCycle(group, direct) {
			for _, t := range group {
				t.Boxed = true
			}
		}
	}
	return order, ok
}

// components groups the types that refer to each other, each group after those
// it refers to. It is Tarjan's algorithm with a stack of its own: a chain of
// references may be as long as the file allows.
func components(types []*NamedType, uses map[*NamedType][]reference) (order [][]*NamedType) {
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
				order = append(order, component)
			}
			frames = frames[:len(frames)-1]
		}
	}
	return order
}

// unused warns of types that no capability reaches.
func (l *loader) unused(types []*NamedType, refs []reference) {
	uses := make(map[*NamedType][]reference)
	for _, r := range refs {
		uses[r.owner] = append(uses[r.owner], r)
	}
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
