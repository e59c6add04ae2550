package schema

import (
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

// document is a schema with definitions of its own: a schema file, or an
// input, an output or an entry of types that has $defs. A definition that is
// referred to becomes a named type with its own name, as if it stood under
// types.
type document struct {
	file  string // path below the manifest's directory; empty inside of it
	root  *node  // without what only a root has; nil for nothing but $defs
	defs  map[string]member
	named map[string]*NamedType // by definition, nil for a bad one; the root's is ""
	// pending are definitions whose reference is being followed.
	pending map[string]bool
}

const (
	defsPrefix = "#/$defs/"
	// dialect is the only JSON Schema there is here.
	dialect = "https://json-schema.org/draft/2020-12/schema"
	// maxAliases is how many references may stand for each other in a row.
	maxAliases = 32
)

// without is a copy of n without some keys.
func without(n *node, keys ...string) *node {
	c := *n
	c.members = slices.DeleteFunc(slices.Clone(n.members), func(m member) bool { return slices.Contains(keys, m.key) })
	return &c
}

// inline makes n, an input, an output or an entry of types, a document if it
// has $defs, and returns the schema to lower.
func (l *loader) inline(n *node) *node {
	defs := n.get("$defs")
	if defs == nil {
		return n
	}
	d := l.newDocument("", n, "$defs")
	l.inlined = append(l.inlined, d)
	return d.root
}

// newDocument gathers the definitions of a document and remembers which
// references stand in it. rootKeys are what its root has beside a schema.
func (l *loader) newDocument(file string, n *node, rootKeys ...string) *document {
	d := &document{
		file: file, root: without(n, rootKeys...), defs: make(map[string]member),
		named: make(map[string]*NamedType), pending: make(map[string]bool),
	}
	if v := n.get("$defs"); v != nil && l.kind(v, mappingNode, "$defs") {
		for _, m := range v.members {
			d.defs[m.key] = m
		}
	}
	l.mark(n, d)
	if d.root.get("$ref") != nil {
		l.documentOf[d.root] = d
	}
	if len(d.root.members) == 0 {
		d.root = nil
	}
	return d
}

// mark remembers of each reference inside of n that it stands in d.
func (l *loader) mark(n *node, d *document) {
	for _, m := range n.members {
		if m.key == "$ref" {
			l.documentOf[n] = d
		}
		l.mark(m.value, d)
	}
	for _, item := range n.items {
		l.mark(item, d)
	}
}

// schemaFile reads a file that a reference leads into; nil with the reason
// reported. Nothing is ever fetched: $id names a schema for others.
func (l *loader) schemaFile(name string, at Position) *document {
	if d, known := l.documents[name]; known {
		return d
	}
	l.documents[name] = nil
	tree := l.files.read(name, at)
	if tree == nil || !l.mapping(tree, &l.words.schemaFile, "a schema file") {
		return nil
	}
	if v := tree.get("$schema"); v != nil {
		if s, ok := l.str(v, "$schema"); ok && strings.TrimSuffix(s, "#") != dialect {
			l.errorf(v.pos, ruleBadValue, "%s is another JSON Schema than 2020-12", quote(s)).hint("bring the file up to %s", dialect)
		}
	}
	if v := tree.get("$id"); v != nil {
		l.str(v, "$id")
	}
	l.documents[name] = l.newDocument(name, tree, "$schema", "$id", "$defs")
	return l.documents[name]
}

// target finds the type that a reference, which stands in n, leads to; nil
// with the reason reported. It follows definitions that are nothing but
// another reference, aliases in a row so far.
func (l *loader) target(n *node, aliases int) *NamedType {
	v := n.get("$ref")
	s, ok := l.str(v, "$ref")
	if !ok {
		return nil
	}
	d := l.documentOf[n]
	file, fragment, _ := strings.Cut(s, "#")
	switch {
	case aliases > maxAliases:
		l.errorf(v.pos, ruleEndlessType, "more than %d references that stand for each other", maxAliases).hint("write the schema out in one of them")
		return nil
	case strings.HasPrefix(s, refPrefix):
		return l.declared(d, s[len(refPrefix):], v.pos)
	case strings.Contains(file, "://") || strings.HasPrefix(file, "urn:"):
		l.errorf(v.pos, ruleBadRef, "%s is not in a file of this manifest, and nothing is fetched", quote(s)).
			hint("keep a copy beside the manifest and refer to it by its path")
		return nil
	case file == "" && d == nil, file != "" && path.Ext(file) == "" && !strings.Contains(file, "/"):
		f := l.errorf(v.pos, ruleBadRef, "%s is no reference to a type", quote(s))
		if strings.HasPrefix(s, defsPrefix) {
			f.hint("$defs stands at the root of an input, an output, an entry of types or a schema file; elsewhere write #/types/NAME")
		} else {
			f.hint("write #/types/NAME, or the path of a schema file: ./record.schema.json#/$defs/NAME")
		}
		return nil
	case file != "":
		name, ok := l.files.resolve(v.pos, file)
		if !ok {
			return nil
		}
		if d = l.schemaFile(name, v.pos); d == nil {
			return nil
		}
	}
	name, isDef := strings.CutPrefix("#"+fragment, defsPrefix)
	switch {
	case isDef:
		return l.definition(d, name, v.pos, aliases)
	case fragment == "" && d.file != "":
		return l.wholeFile(d, v.pos, aliases)
	}
	l.errorf(v.pos, ruleBadRef, "%s is no reference to a type", quote(s)).hint("a reference leads to #/$defs/NAME or to a whole schema file")
	return nil
}

// declared is an entry of types.
func (l *loader) declared(d *document, name string, at Position) *NamedType {
	if d != nil && d.file != "" {
		l.errorf(at, ruleBadRef, "a schema file knows nothing of the manifest's types").
			hint("refer to #/$defs/NAME, or to another schema file")
		return nil
	}
	t := l.types[name]
	if t == nil {
		f := l.errorf(at, ruleBadRef, "no type %s", quote(name)).hint("declare it under types")
		l.nearest(f, name, l.typeNames)
	}
	return t
}

// definition is an entry of a document's $defs.
func (l *loader) definition(d *document, name string, at Position, aliases int) *NamedType {
	m, ok := d.defs[name]
	if !ok {
		f := l.errorf(at, ruleBadRef, "no definition %s", quote(name)).hint("declare it under $defs")
		l.nearest(f, name, slices.Sorted(maps.Keys(d.defs)))
		return nil
	}
	if t, known := d.named[name]; known {
		return t
	}
	if m.value.get("$ref") != nil {
		return l.alias(d, name, m.value, at, aliases)
	}
	if !isTypeName(name) || len(name) > maxName {
		l.errorf(m.pos, ruleBadName, "definition %s is no name for a type", quote(name)).
			hint("a capital letter, then letters and digits, at most %d: it becomes a Go type of that name", maxName).related(at)
		d.named[name] = nil
		return nil
	}
	return l.define(d, name, &NamedType{Name: name, Pos: m.pos}, m.value)
}

// wholeFile is the type of a schema file's root, which is called as the file.
func (l *loader) wholeFile(d *document, at Position, aliases int) *NamedType {
	if t, known := d.named[""]; known {
		return t
	}
	switch name := fileTypeName(d.file); {
	case d.root == nil:
		l.errorf(at, ruleBadRef, "%s has nothing but $defs", quote(d.file)).hint("refer to one of them: %s#/$defs/NAME", plain(d.file, maxQuoted))
	case d.root.get("$ref") != nil:
		return l.alias(d, "", d.root, at, aliases)
	case !isTypeName(name) || len(name) > maxName:
		l.errorf(at, ruleBadName, "the file name %s makes no name for a type", quote(path.Base(d.file))).
			hint("a whole file is a type called as the file, Record for record.schema.json; or put the schema under $defs")
	default:
		return l.define(d, "", &NamedType{Name: name, Pos: d.root.pos}, d.root)
	}
	d.named[""] = nil
	return nil
}

// alias is what a definition that is nothing but a reference stands for.
func (l *loader) alias(d *document, name string, n *node, at Position, aliases int) *NamedType {
	if d.pending[name] {
		l.errorf(at, ruleEndlessType, "the definition that this refers to stands for itself").hint("write the schema out in one of them")
		return nil
	}
	l.refSiblings(n)
	d.pending[name] = true
	d.named[name] = l.target(n, aliases+1)
	return d.named[name]
}

// fileTypeName is OrderLine for a/order_line.schema.json.
func fileTypeName(file string) string {
	base, _, _ := strings.Cut(path.Base(file), ".")
	var b strings.Builder
	for _, word := range strings.FieldsFunc(base, func(r rune) bool { return r == '_' || r == '-' }) {
		b.WriteRune(unicode.ToUpper(rune(word[0])))
		b.WriteString(word[1:])
	}
	return b.String()
}

// define makes t the type of a definition, to be lowered when what is being
// lowered is done.
func (l *loader) define(d *document, name string, t *NamedType, n *node) *NamedType {
	l.claimType(t)
	d.named[name] = t
	l.typeNodes[t] = n
	l.defined = append(l.defined, t)
	return t
}

// lowerDefinitions lowers the definitions that were referred to, and those
// that they refer to.
func (l *loader) lowerDefinitions() {
	owner, indirect := l.owner, l.indirect
	for ; l.lowered < len(l.defined); l.lowered++ {
		l.owner, l.indirect = l.defined[l.lowered], 0
		l.owner.Type = l.lower(l.typeNodes[l.owner], "type "+quote(l.owner.Name), false)
	}
	l.owner, l.indirect = owner, indirect
}

// unusedDefinitions warns of definitions inside the manifest that nothing
// refers to. Schema files are others' as well: what is not used there is not
// looked at.
func (l *loader) unusedDefinitions() {
	for _, d := range l.inlined {
		for _, name := range slices.Sorted(maps.Keys(d.defs)) {
			if _, used := d.named[name]; !used {
				l.warnf(d.defs[name].pos, ruleUnusedType, "nothing refers to the definition %s", quote(name)).hint("remove it")
			}
		}
	}
}
