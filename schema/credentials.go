package schema

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	maxCredentials = 32
	maxVariable    = 128
	maxSecretPath  = 1_024
	maxHost        = 253
)

// credentials reads references to secrets. What is written where a reference
// belongs may be a secret: messages never quote it.
func (l *loader) credentials(n *node) []Credential {
	if !l.kind(n, mappingNode, "credentials") {
		return nil
	}
	if len(n.members) > maxCredentials {
		l.errorf(n.members[maxCredentials].pos, ruleLimit, "%d credentials, the limit is %d", len(n.members), maxCredentials).
			hint("leave out what no handler uses")
		return nil
	}
	var list []Credential
	for _, entry := range n.members {
		if !isSegment(entry.key) || len(entry.key) > maxName {
			l.errorf(entry.pos, ruleBadName, "%s is no name for a credential", quote(entry.key)).
				hint("a-z, then a-z, 0-9 and _, at most %d: handlers ask for it by that name", maxName)
			continue
		}
		if c, ok := l.credential(entry); ok {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b Credential) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// literals are keys under which people write a secret out.
func literals() []string {
	return []string{"value", "literal", "secret", "token", "password", "key", "credential"}
}

func (l *loader) credential(entry member) (c Credential, ok bool) {
	what := "credential " + quote(entry.key)
	n := entry.value
	const hint = "refer to it: {from: env, name: RECORDS_TOKEN, host: records.example.com}"
	if n.kind == stringNode || n.kind == numberNode {
		l.errorf(n.pos, ruleLiteralSecret, "%s is written out", what).hint(hint)
		return c, false
	}
	for _, m := range n.members {
		if slices.Contains(literals(), m.key) {
			l.errorf(m.pos, ruleLiteralSecret, "%s has %s: a secret is never written out", what, quote(m.key)).hint(hint)
			return c, false
		}
	}
	if !l.mapping(n, &l.words.credential, what) {
		return c, false
	}
	c = Credential{Name: entry.key, Pos: entry.pos}
	from := l.need(n, "from", what, hint)
	name := l.need(n, "name", what, hint)
	host := l.need(n, "host", what, hint)
	if from == nil || name == nil || host == nil {
		return c, false
	}
	if c.From, ok = l.word(from, "from", []string{"env", "file"}, nil); !ok {
		return c, false
	}
	if c.Source, ok = l.str(name, "name"); !ok {
		return c, false
	}
	switch {
	case c.From == "env" && (!variableName.MatchString(c.Source) || len(c.Source) > maxVariable):
		l.errorf(name.pos, ruleBadValue, "name of %s is no variable of the environment", what).
			hint("letters, digits and _, at most %d, and not the secret itself", maxVariable)
		ok = false
	case c.From == "file" && (!path.IsAbs(c.Source) || path.Clean(c.Source) != c.Source || len(c.Source) > maxSecretPath || strings.ContainsFunc(c.Source, func(r rune) bool { return r < ' ' || r > '~' })):
		l.errorf(name.pos, ruleBadValue, "name of %s is no path of a file", what).
			hint("an absolute path of printable ASCII without . and .., at most %d bytes", maxSecretPath)
		ok = false
	}
	if c.Host, _ = l.str(host, "host"); c.Host == "" || !hostName.MatchString(c.Host) || len(c.Host) > maxHost {
		l.errorf(host.pos, ruleBadValue, "host of %s is no name of a host", what).
			hint("the one host that gets the secret, in lower case, with a port if it is a special one: records.example.com:8443")
		ok = false
	}
	return c, ok
}

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	hostName     = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:[1-9][0-9]{0,4})?$`)
)
