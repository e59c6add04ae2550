package mcpimport

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/capgen/capgen/internal/verbs"
)

// maxChain is how many references may follow one another.
const maxChain = 32

// gatherReferences names every schema that a reference points to. Such a schema
// becomes a type, also where it stands: so recursion ends, and shared schemas
// stay shared.
func (l *lowerer) gatherReferences() (bad *flaw) {
	l.named, l.placeOf, l.asked = map[string]string{}, map[string]string{}, map[string]bool{}
	var walk func(v *value)
	walk = func(v *value) {
		for _, item := range v.items {
			walk(item)
		}
		for _, m := range v.members {
			if slices.Contains([]string{"enum", "const", "default", "examples"}, m.key) {
				continue
			}
			if m.key == "$ref" && m.value.is(stringKind) {
				if to, reason := l.follow(v); reason == "" {
					name := l.typeName(to)
					if first, twice := l.placeOf[name]; twice && first != to {
						bad = l.flaw(m.value, place{}, "the schemas at %s and %s would both be the type %s", first, to, name)
					}
					l.named[to], l.placeOf[name] = name, to
				}
			}
			walk(m.value)
		}
	}
	walk(l.tool.input)
	return bad
}

// follow goes along references that stand for references. to
// is where the schema is that v means; where there is none, bad says why.
func (l *lowerer) follow(v *value) (to, bad string) {
	for range maxChain {
		pointer, local := strings.CutPrefix(textOf(v.get("$ref")), "#")
		if !local {
			return "", "a reference out of this schema"
		}
		decoded, err := url.PathUnescape(pointer)
		if err != nil || decoded != "" && !strings.HasPrefix(decoded, "/") {
			return "", "a reference that is no JSON pointer"
		}
		if v, to = l.resolve(decoded); v == nil {
			return "", "a reference to what is not there"
		}
		if v.get("$ref") == nil {
			return to, ""
		}
	}
	return "", "references that lead in a circle"
}

// resolve finds the schema at a JSON pointer into inputSchema, and writes the
// pointer in its one form. nil when there is none.
func (l *lowerer) resolve(pointer string) (*value, string) {
	v, at := l.tool.input, ""
	if pointer == "" {
		return v, at
	}
	for _, token := range strings.Split(pointer[1:], "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch v.kind {
		case objectKind:
			v = v.get(token)
		case listKind:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v.items) || strconv.Itoa(i) != token {
				return nil, ""
			}
			v = v.items[i]
		default:
			return nil, ""
		}
		if v == nil {
			return nil, ""
		}
		at += "/" + escapePointer(token)
	}
	if v.kind != objectKind && v.kind != boolKind {
		return nil, ""
	}
	return v, at
}

// reference lowers a schema that is $ref.
func (l *lowerer) reference(v, ref *value, p place) (*alternatives, *flaw) {
	to, reason := l.follow(v)
	if reason != "" {
		return nil, l.flaw(ref, p.to("$ref"), "%s", reason)
	}
	return l.referTo(to, v, p)
}

func (l *lowerer) referTo(to string, v *value, p place) (*alternatives, *flaw) {
	target, _ := l.resolve(to)
	if target == nil {
		return nil, l.flaw(v, p, "a reference to what is not there")
	}
	// How a union tells it from others; empty for what is of several types.
	jsonType := ""
	if t := target.get("type"); t.is(stringKind) {
		jsonType = t.text
	}
	return &alternatives{all: []alternative{{jsonType, l.refer(to), v, p}}}, nil
}

// refer is a schema that stands for the type at a pointer.
func (l *lowerer) refer(at string) *value {
	return object(member{"$ref", text(typesPrefix + l.named[at])})
}

const typesPrefix = "#/types/"

// want adds the types that v refers to and that nobody asked for before: what
// was left out on the way asks for none.
func (l *lowerer) want(v *value) {
	if ref := v.get("$ref"); ref.is(stringKind) {
		if name := strings.TrimPrefix(ref.text, typesPrefix); !l.asked[name] {
			l.asked[name] = true
			l.wanted = append(l.wanted, l.placeOf[name])
		}
	}
	for _, m := range v.members {
		l.want(m.value)
	}
	for _, item := range v.items {
		l.want(item)
	}
}

// typeName is after the tool and the place: NotesFindFilterItem.
func (l *lowerer) typeName(at string) string {
	var last []string
	for _, token := range strings.Split(at, "/") {
		switch token {
		case "", "properties", "$defs", "definitions":
		case "items":
			last = append(last, "item")
		default:
			last = append(last, verbs.Words(token)...)
		}
	}
	if len(last) == 0 {
		last = []string{"input"}
	}
	return l.tool.typePrefix + camel(last)
}
