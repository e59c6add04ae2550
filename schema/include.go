package schema

import "slices"

// contents lowers types and capabilities of the manifest and of the parts that
// it includes. What a part declares is declared for all: names are one set,
// and which file holds what makes no difference to the result.
func (l *loader) contents(m *Manifest, n *node) {
	files := []*node{n}
	if v := n.get("include"); v != nil {
		files = append(files, l.parts(v)...)
	} else {
		l.need(n, "capabilities", "a manifest", "capabilities is the list of what programs may call")
	}
	var declared []declaration
	for _, file := range files {
		if v := file.get("types"); v != nil {
			declared = append(declared, l.declareTypes(v)...)
		}
	}
	m.Types = l.lowerTypes(declared)
	var items []*node
	for _, file := range files {
		if v := file.get("capabilities"); v != nil {
			items = append(items, l.capabilityItems(v)...)
		}
	}
	m.Capabilities = l.capabilities(items)
	l.lowerDefinitions()
	l.unusedDefinitions()
	m.Types = append(m.Types, l.defined...)
	m.Programs = l.programs(files)
	if len(m.Capabilities) == 0 && !l.failed {
		l.errorf(n.pos, ruleMissingField, "neither the manifest nor its parts have capabilities").
			hint("a server has at least one capability")
	}
}

// parts reads the files that include lists.
func (l *loader) parts(n *node) []*node {
	if !l.kind(n, listNode, "include") {
		return nil
	}
	if len(n.items) == 0 {
		l.errorf(n.pos, ruleBadInclude, "include is empty").hint("list the files that belong to the manifest, or leave it out")
	}
	seen := make(map[string]Position, len(n.items))
	var parts []*node
	for _, item := range n.items {
		written, ok := l.str(item, "a path in include")
		if !ok {
			continue
		}
		name, ok := l.files.resolve(item.pos, written)
		if !ok {
			continue
		}
		if first, twice := seen[name]; twice {
			l.errorf(item.pos, ruleBadInclude, "%s is included twice, first at %s", quote(name), first).hint("remove one of the two").related(first)
			continue
		}
		seen[name] = item.pos
		if l.files.isManifest(name) {
			l.errorf(item.pos, ruleBadInclude, "the manifest includes itself").hint("remove it")
			continue
		}
		if part := l.files.read(name, item.pos); part != nil && l.part(part, item.pos) {
			parts = append(parts, part)
		}
	}
	return parts
}

// part checks the keys of a part, which at includes.
func (l *loader) part(n *node, at Position) bool {
	if n.kind == mappingNode {
		// What belongs to the manifest gets a hint of its own.
		for _, key := range []string{"include", "capgen", "go", "server", "deployments"} {
			m := n.member(key)
			if m == nil {
				continue
			}
			hint := "it stands in the manifest only: a part has types, capabilities and programs"
			if key == "include" {
				hint = "list the file in the manifest: a part includes nothing, so that one list shows every file"
			}
			l.errorf(m.pos, ruleBadInclude, "%s in a part of a manifest, included at %s", quote(key), at).hint("%s", hint).related(at)
			n.members = slices.DeleteFunc(slices.Clone(n.members), func(m member) bool { return m.key == key })
		}
	}
	if !l.mapping(n, &l.words.part, "a part of a manifest") {
		return false
	}
	if len(n.members) == 0 {
		l.errorf(n.pos, ruleBadInclude, "the part that is included at %s declares nothing", at).hint("it holds types or capabilities").related(at)
	}
	return true
}
