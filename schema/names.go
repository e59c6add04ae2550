package schema

import (
	"slices"
	"strings"

	"github.com/capgen/capgen/runtime/binding"
)

// Longest names, in bytes.
const (
	maxName = 64
	maxID   = 128
)

// names is what the rules about names look up.
type names struct {
	roots, keywords, namespaces, directories []string
}

func newNames() names {
	return names{binding.ReservedRoots(), languageKeywords(), reservedNamespaces(), reservedDirectories()}
}

// isSegment tells whether s is [a-z][a-z0-9_]*.
func isSegment(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || i > 0 && (c >= '0' && c <= '9' || c == '_')) {
			return false
		}
	}
	return s != ""
}

// isPropertyName tells whether s is [A-Za-z_][A-Za-z0-9_]* with a letter as
// the first character that is no underscore: what follows the underscores
// becomes a Go name.
func isPropertyName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && c != '_' && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	s = strings.TrimLeft(s, "_")
	return s != "" && isLetter(s[0])
}

// isTypeName tells whether s is [A-Z][A-Za-z0-9]*.
func isTypeName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && s[0] <= 'Z'
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// capabilityName checks the form of a name and what it must leave alone.
func (l *loader) capabilityName(n *node) (string, bool) {
	s, ok := l.str(n, "the name of a capability")
	if !ok {
		return "", false
	}
	segments := strings.Split(s, ".")
	if len(s) > maxName || len(segments) < 2 || !allOf(segments, isSegment) {
		f := l.errorf(n.pos, ruleBadName, "%s is no name for a capability", quote(s))
		switch {
		case len(s) > maxName:
			f.hint("a name has at most %d bytes", maxName)
		case len(segments) < 2 && isSegment(s):
			f.hint("a name has at least two segments: namespace.verb")
		default:
			f.hint("two or more segments joined by dots; each starts with a-z and goes on with a-z, 0-9 and _")
			f.Nearest = repairedName(s)
		}
		return "", false
	}
	namespace := segments[:len(segments)-1]
	for _, segment := range segments {
		if slices.Contains(l.names.keywords, segment) {
			l.errorf(n.pos, ruleReservedName, "%s in %s is a keyword of the program language", quote(segment), quote(s)).
				hint("choose another word")
			return "", false
		}
	}
	if slices.Contains(l.names.roots, segments[0]) {
		l.errorf(n.pos, ruleReservedName, "%s cannot start a name: programs have %s of their own", quote(segments[0]), quote(segments[0])).
			hint("choose another first segment; later ones are free")
		return "", false
	}
	if slices.Contains(l.names.namespaces, segments[0]) {
		l.errorf(n.pos, ruleReservedName, "%s cannot start a name: the generated code has a directory of that name", quote(segments[0])).
			hint("choose another first segment")
		return "", false
	}
	for _, segment := range namespace {
		if slices.Contains(l.names.directories, segment) {
			l.errorf(n.pos, ruleReservedName, "%s cannot be part of a namespace: it becomes a Go package, and Go or Windows gives that name a meaning", quote(segment)).
				hint("choose another word")
			return "", false
		}
	}
	return s, true
}

// repairedName is a name in another convention written in ours: Notes/Find-All
// is notes.find_all. Empty when that gives no name.
func repairedName(s string) string {
	s = strings.NewReplacer("/", ".", ":", ".", "-", "_", " ", "_").Replace(strings.ToLower(s))
	if segments := strings.Split(s, "."); len(segments) > 1 && allOf(segments, isSegment) {
		return s
	}
	return ""
}

func allOf(list []string, f func(string) bool) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return !f(s) })
}

// capabilityID checks the form of an id.
func (l *loader) capabilityID(n *node) (string, bool) {
	s, ok := l.str(n, "the id of a capability")
	if !ok {
		return "", false
	}
	if s == "" || len(s) > maxID || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		l.errorf(n.pos, ruleBadID, "%s is no id", quote(s)).
			hint("1 to %d printable ASCII characters without spaces; left out, the id is the name", maxID)
		return "", false
	}
	return s, true
}

// named is a capability with the places of its name and id, and the node that
// it was read from.
type named struct {
	*Capability
	nameAt, idAt Position
	node         *node
}

// uniqueNames reports names that stand twice or are another's namespace, and
// ids that stand twice or are another's name.
func (l *loader) uniqueNames(all []named) {
	byName := make(map[string]*named, len(all))
	byID := make(map[string]*named, len(all))
	for i := range all {
		c := &all[i]
		if first := byName[c.Name]; first != nil {
			l.errorf(c.nameAt, ruleNameCollision, "capability %s stands twice, first at %s", quote(c.Name), first.nameAt).
				hint("rename one of the two").related(first.nameAt)
			continue
		}
		byName[c.Name] = c
		// Ids are compared without case: a policy store or a file system
		// may not tell them apart.
		folded := strings.ToLower(c.ID)
		if first := byID[folded]; first != nil {
			l.errorf(c.idAt, ruleIDCollision, "id %s stands twice, first at %s", quote(c.ID), first.idAt).
				hint("ids differ in more than case; give one of the two another").related(first.idAt)
			continue
		}
		byID[folded] = c
	}
	for i := range all {
		c := &all[i]
		for j := range len(c.Name) {
			if c.Name[j] != '.' {
				continue
			}
			if other := byName[c.Name[:j]]; other != nil {
				l.errorf(c.nameAt, ruleNameCollision, "%s is a capability (%s) and cannot be the namespace of %s too",
					quote(other.Name), other.nameAt, quote(c.Name)).
					hint("rename one of the two").related(other.nameAt)
			}
		}
		if other := byName[strings.ToLower(c.ID)]; other != nil && other != c && c.ID != c.Name {
			l.errorf(c.idAt, ruleIDCollision, "id %s is the name of another capability, at %s", quote(c.ID), other.nameAt).
				hint("ids and names are accepted in the same places: choose another id").related(other.nameAt)
		}
	}
	l.partsCollide(all, byName, byID)
}
