package schema

import "slices"

// maxParts is how many schemas one allOf may merge, however they are nested: a
// few lines of types that list each other twice would otherwise never end.
const maxParts = 256

// lowerAllOf lowers allOf of objects to the one object that has the properties
// of all. It merges what is written, not what it is lowered to, so that a type
// may stand further down. What its parts say of themselves (title,
// description, being closed) does not carry over.
func (l *loader) lowerAllOf(n *node, what string, property bool) *Type {
	l.only(n, "allOf", "type", "title", "description", "default", "deprecated", "examples", "properties", "required", "additionalProperties")
	m := &merger{loader: l, at: n.pos, seen: make(map[string]Position), required: make(map[string]bool)}
	if !m.object(n) || m.failed {
		return nil
	}
	t := l.annotated(n, Object, property)
	l.lowerObject(t, &node{kind: mappingNode, pos: n.pos, members: []member{
		{key: "properties", pos: n.pos, value: &node{kind: mappingNode, pos: n.pos, members: m.properties}},
		{key: "required", pos: n.pos, value: &node{kind: listNode, pos: n.pos, items: m.names}},
	}}, what)
	return t
}

// merger gathers the properties of the parts, each part's before those of the
// object that lists it.
type merger struct {
	*loader
	properties []member
	seen       map[string]Position // of properties
	names      []*node             // required
	required   map[string]bool
	within     []*NamedType // types that are being merged
	at         Position     // of the outermost schema
	parts      int
	failed     bool
}

func (m *merger) fail(at Position, rule, hint, format string, args ...any) bool {
	m.failed = true
	m.errorf(at, rule, format, args...).hint("%s", hint)
	return false
}

// object merges an object's parts and what stands beside them.
func (m *merger) object(n *node) bool {
	if list := n.get("allOf"); list != nil {
		if !m.kind(list, listNode, "allOf") {
			return false
		}
		if len(list.items) == 0 || len(list.items) > maxVariants {
			return m.fail(list.pos, ruleLimit, "list the objects to merge", "%d schemas in allOf, not 1 to %d", len(list.items), maxVariants)
		}
		for _, part := range list.items {
			if !m.part(part) {
				return false
			}
		}
	}
	if v := n.get("type"); v != nil && (v.kind != stringNode || v.text != string(Object)) {
		return m.fail(v.pos, ruleNotInSubset, "allOf merges objects; take the bounds together in one schema", "allOf merges objects only")
	}
	if v := n.get("additionalProperties"); v != nil && (v.kind != boolNode || v.text != "false") {
		return m.fail(v.pos, ruleNotInSubset, "declare the properties", "allOf merges objects with declared properties only")
	}
	return m.members(n)
}

// part merges one schema of allOf: a reference to an object, or one in place.
func (m *merger) part(n *node) bool {
	if m.parts++; m.parts > maxParts {
		return m.fail(m.at, ruleLimit, "merge fewer objects", "more than %d schemas are merged, those of references included", maxParts)
	}
	if !m.mapping(n, &m.words.schema, "a schema in allOf") {
		return false
	}
	v := n.get("$ref")
	if v == nil {
		for _, x := range n.members {
			if !slices.Contains([]string{"type", "properties", "required", "additionalProperties", "allOf"}, x.key) && slices.Contains(m.words.schema.known, x.key) {
				return m.fail(x.pos, ruleWrongKeyword, "a part has type: object, properties and required; the rest stands beside allOf", "%s inside of allOf", quote(x.key))
			}
		}
		return m.object(n)
	}
	t := m.lowerRef(n)
	if t == nil {
		return false
	}
	// Merging is no reference: the type is used, but not held.
	m.refs = m.refs[:len(m.refs)-1]
	m.merged = append(m.merged, reference{m.owner, t.Ref, v.pos, true})
	if slices.Contains(m.within, t.Ref) || t.Ref == m.owner {
		return m.fail(v.pos, ruleEndlessType, "refer to it in a property instead", "type %s is merged into itself", quote(t.Ref.Name))
	}
	target := m.typeNodes[t.Ref]
	if target == nil || target.kind != mappingNode {
		return false // reported where it stands
	}
	if target.get("allOf") == nil && (target.get("type") == nil || target.get("type").text != string(Object)) {
		return m.fail(v.pos, ruleNotInSubset, "allOf merges objects; take the bounds together in one schema", "type %s is no object: allOf merges objects only", quote(t.Ref.Name))
	}
	m.within = append(m.within, t.Ref)
	ok := m.object(target)
	m.within = m.within[:len(m.within)-1]
	return ok
}

// members adds the properties and required names of n itself.
func (m *merger) members(n *node) bool {
	if v := n.get("properties"); v != nil {
		if !m.kind(v, mappingNode, "properties") {
			return false
		}
		for _, p := range v.members {
			if first, twice := m.seen[p.key]; twice {
				m.failed = true
				m.errorf(p.pos, ruleMergeConflict, "property %s comes twice into what allOf merges, first at %s", quote(p.key), first).
					hint("leave it in one of them").related(first)
				return false
			}
			m.seen[p.key] = p.pos
			m.properties = append(m.properties, p)
		}
	}
	if v := n.get("required"); v != nil {
		if !m.kind(v, listNode, "required") {
			return false
		}
		for _, item := range v.items {
			if item.kind == stringNode && m.required[item.text] {
				continue // two parts may both require it
			}
			m.required[item.text] = item.kind == stringNode
			m.names = append(m.names, item)
		}
	}
	return true
}
