package schema

import (
	"slices"
	"strings"
)

const (
	maxKeep    = 64
	maxPointer = 512
)

// everyItem is the token of a pointer that stands for every item of an array
// and every value of a map.
const everyItem = "*"

// takeKeep takes keep out of the output's mapping, which is a schema without it.
func takeKeep(n *node) (schema, keep *node) {
	if keep = n.get("keep"); keep == nil {
		return n, nil
	}
	return without(n, "keep"), keep
}

// checkKeep reads the pointers of what is left of a result. Types have to be
// lowered.
func (l *loader) checkKeep(n *node, c *Capability, what string) {
	if !l.kind(n, listNode, "keep") {
		return
	}
	if len(n.items) == 0 || len(n.items) > maxKeep {
		l.errorf(n.pos, ruleLimit, "keep has %d pointers, not 1 to %d", len(n.items), maxKeep).
			hint("list what a program needs of the result: keep: [/name, /items/*/id]")
		return
	}
	for _, item := range n.items {
		s, ok := l.str(item, "a pointer")
		if !ok {
			continue
		}
		tokens, ok := parsePointer(s)
		if !ok || len(s) > maxPointer {
			l.errorf(item.pos, ruleBadPointer, "%s is no pointer to a part of the result", quote(s)).
				hint("RFC 6901, with * for every item: /items/*/id; at most %d bytes", maxPointer)
			continue
		}
		for _, before := range c.Keep {
			if before == s || strings.HasPrefix(s, before+"/") || strings.HasPrefix(before, s+"/") {
				l.errorf(item.pos, ruleBadPointer, "pointers %s and %s keep the same", quote(before), quote(s)).hint("remove one of the two")
				ok = false
				break
			}
		}
		if ok && l.pointsInto(c.Output, tokens, item, what) {
			c.Keep = append(c.Keep, s)
		}
	}
}

// pointsInto reports a pointer to what the output does not have.
func (l *loader) pointsInto(t *Type, tokens []string, at *node, what string) bool {
	path := ""
	for _, token := range tokens {
		t = Resolve(t)
		if t != nil && t.Kind == Nullable {
			t = Resolve(t.Items)
		}
		if t == nil {
			return false // reported already
		}
		where := "the output of " + what
		if path != "" {
			where = quote(path) + " of it"
		}
		switch t.Kind {
		case Object:
			var names []string
			for _, p := range t.Properties {
				names = append(names, p.Name)
			}
			i := slices.Index(names, token)
			if i < 0 {
				f := l.errorf(at.pos, ruleBadPointer, "%s has no property %s", where, quote(token)).hint("a pointer is made of the names of properties, and * for every item")
				l.nearest(f, token, names)
				return false
			}
			t = t.Properties[i].Type
		case Array, Map:
			if token != everyItem {
				l.errorf(at.pos, ruleBadPointer, "%s is %s: %s points to nothing that always is there", where, article(t.Kind), quote(token)).
					hint("write * for every item")
				return false
			}
			t = t.Items
		default:
			l.errorf(at.pos, ruleBadPointer, "%s is %s, of which no part can be kept", where, article(t.Kind)).
				hint("end the pointer there")
			return false
		}
		path += "/" + token
	}
	return true
}

// parsePointer takes apart a JSON pointer (RFC 6901) to a part of a value.
func parsePointer(s string) (tokens []string, ok bool) {
	if !strings.HasPrefix(s, "/") {
		return nil, false
	}
	for token := range strings.SplitSeq(s[1:], "/") {
		for i := range len(token) {
			if token[i] == '~' && (i+1 == len(token) || token[i+1] != '0' && token[i+1] != '1') {
				return nil, false
			}
		}
		tokens = append(tokens, strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
	}
	return tokens, true
}

// kept is t without what no pointer leads to; an empty pointer keeps all of t.
func kept(t *Type, pointers [][]string) *Type {
	if slices.ContainsFunc(pointers, func(p []string) bool { return len(p) == 0 }) {
		return t
	}
	out := *Resolve(t)
	if t.Description != "" {
		out.Description, out.DescriptionAt = t.Description, t.DescriptionAt
	}
	below := func(token string) (rest [][]string) {
		for _, p := range pointers {
			if p[0] == token {
				rest = append(rest, p[1:])
			}
		}
		return rest
	}
	switch out.Kind {
	case Nullable:
		out.Items = kept(out.Items, pointers)
	case Array, Map:
		out.Items = kept(out.Items, below(everyItem))
	case Object:
		properties := out.Properties
		out.Properties = nil
		for _, p := range properties {
			if rest := below(p.Name); rest != nil {
				q := *p
				q.Type = kept(p.Type, rest)
				out.Properties = append(out.Properties, &q)
			}
		}
	}
	return &out
}
