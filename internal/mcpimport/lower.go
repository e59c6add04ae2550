package mcpimport

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxParts is how many schemas one tool may hold, references counted where
// they stand.
const maxParts = 10_000

// lowerer turns the input schema of one tool into the JSON Schema of a
// manifest. For every schema it is given, what it returns takes nothing that
// the schema refuses.
type lowerer struct {
	tool  *tool
	parts int
	// named are the schemas that references point to, by pointer.
	named, placeOf map[string]string // and the other way round
	// types are the named schemas that are in use, lowered; asked are all
	// that are in use, and wanted are those of them that wait.
	types  []member
	asked  map[string]bool
	wanted []string
	// left is what was left out, and notes is what was changed otherwise.
	left, notes []problem
}

// place says where a schema stands.
type place struct {
	// at is its pointer inside of inputSchema.
	at string
	// strict: a schema without type is not taken for one of the type that
	// its keywords speak of. Under oneOf that would take a value from one
	// variant and so give it to another. Below a variant that no longer
	// matters: variants are told apart by their types and tags.
	strict bool
	// property: deprecated may stand here.
	property bool
}

func (p place) to(tokens ...string) place {
	at := p.at
	for _, t := range tokens {
		at += "/" + escapePointer(t)
	}
	return place{at: at}
}

// flaw is why a schema cannot be lowered. never: no value satisfies it.
type flaw struct {
	problem
	never bool
}

func (l *lowerer) flaw(v *value, p place, format string, args ...any) *flaw {
	return &flaw{problem: problem{l.tool.pointer + "/inputSchema" + p.at, v.offset, fmt.Sprintf(format, args...)}}
}

func (l *lowerer) never(v *value, p place) *flaw {
	f := l.flaw(v, p, "no value satisfies this schema")
	f.never = true
	return f
}

func (l *lowerer) note(v *value, p place, format string, args ...any) {
	l.notes = append(l.notes, l.flaw(v, p, format, args...).problem)
}

// input lowers the schema of all parameters, and the types it refers to.
func (l *lowerer) input() (*value, *flaw) {
	v := l.tool.input
	if s := v.get("$schema"); s != nil && !slices.ContainsFunc([]string{"/draft-06/", "/draft-07/", "/draft/2019-09/", "/draft/2020-12/"}, func(d string) bool {
		return s.kind == stringKind && strings.HasPrefix(s.text, "http") && strings.Contains(s.text, "json-schema.org"+d)
	}) {
		return nil, l.flaw(s, place{}.to("$schema"), "a dialect of JSON Schema that is not known here")
	}
	if bad := l.gatherReferences(); bad != nil {
		return nil, bad
	}
	out, bad := l.schema(v, place{})
	if bad == nil {
		l.want(out)
	}
	for bad == nil && len(l.wanted) > 0 {
		at := l.wanted[0]
		l.wanted = l.wanted[1:]
		var t *value
		target, _ := l.resolve(at)
		if t, bad = l.define(target, place{at: at, strict: true}); bad == nil {
			l.types = append(l.types, member{l.named[at], t})
			l.want(t)
		}
	}
	return out, bad
}

// schema lowers one schema, or refers to the type that it is.
func (l *lowerer) schema(v *value, p place) (*value, *flaw) {
	if name := l.named[p.at]; name != "" {
		return l.refer(p.at), nil
	}
	return l.define(v, p)
}

func (l *lowerer) define(v *value, p place) (*value, *flaw) {
	a, bad := l.alternatives(v, p)
	if bad != nil {
		return nil, bad
	}
	out, bad := l.assemble(a, v, p)
	if bad != nil {
		return nil, bad
	}
	return l.annotate(out, v, p), nil
}

// alternative is one of the schemas of which a value satisfies one.
type alternative struct {
	jsonType string // integer and number are two
	out      *value
	from     *value // as the server wrote it
	place    place
}

// alternatives is what a schema takes, by JSON type or by variant.
type alternatives struct {
	all []alternative
	// nulls counts how often null stands among them.
	nulls int
	// any: every value is taken.
	any bool
	// exclusive: a value that satisfies two is refused (oneOf).
	exclusive bool
}

func (l *lowerer) alternatives(v *value, p place) (*alternatives, *flaw) {
	if l.parts++; l.parts > maxParts {
		return nil, l.flaw(v, p, "the schema has more than %d parts", maxParts)
	}
	switch {
	case v.isBool("true"):
		return &alternatives{any: true}, nil
	case v.isBool("false"):
		return nil, l.never(v, p)
	case v.kind != objectKind:
		return nil, l.flaw(v, p, "no schema: an object, true or false")
	}
	if bad := l.keywords(v, p); bad != nil {
		return nil, bad
	}
	var used []string
	for _, m := range v.members {
		if !isAnnotation(m.key) && m.key != "not" {
			used = append(used, m.key)
		}
	}
	for _, construct := range []string{"$ref", "anyOf", "oneOf", "allOf"} {
		m := v.get(construct)
		if m == nil {
			continue
		}
		beside := slices.DeleteFunc(slices.Clone(used), func(k string) bool { return k == construct || k == "type" && construct != "$ref" })
		if len(beside) > 0 {
			return nil, l.flaw(v, p.to(beside[0]), "%s beside %s", beside[0], construct)
		}
		switch construct {
		case "$ref":
			return l.reference(v, m, p)
		case "allOf":
			return l.allOf(v, m, p)
		}
		return l.variants(v, m, construct, p)
	}
	return l.byType(v, p, used)
}

// assemble makes one schema of alternatives.
func (l *lowerer) assemble(a *alternatives, v *value, p place) (*value, *flaw) {
	if a.any {
		return opaque(), nil
	}
	if a.nulls > 1 && a.exclusive {
		return nil, l.flaw(v, p, "null satisfies two schemas of oneOf")
	}
	all, bad := l.tellApart(a, v, p)
	if bad != nil {
		return nil, bad
	}
	switch {
	case len(all) == 0 && a.nulls > 0:
		return nil, l.flaw(v, p, "it takes null only")
	case len(all) == 0:
		return nil, l.never(v, p)
	case len(all) == 1 && a.nulls > 0:
		return nullable(all[0].out), nil
	case len(all) == 1:
		return all[0].out, nil
	}
	variants := list()
	for _, alt := range all {
		variants.items = append(variants.items, alt.out)
	}
	if a.nulls > 0 {
		variants.items = append(variants.items, typed("null"))
	}
	return object(member{"oneOf", variants}), nil
}

func nullable(out *value) *value {
	null := text("null")
	t := out.get("type")
	switch enum := out.get("enum"); {
	case !t.is(stringKind) || out.get("const") != nil:
		return object(member{"anyOf", list(out, typed("null"))})
	case enum != nil:
		return out.with("type", list(t, null)).with("enum", list(append(slices.Clone(enum.items), &value{})...))
	}
	return out.with("type", list(t, null))
}

// annotate carries over what is said of a schema. Defaults and examples are
// annotations to JSON Schema, and are told as such: to fill a default in would
// send what the caller did not say, and to an update that is a change.
func (l *lowerer) annotate(out, v *value, p place) *value {
	if v.kind != objectKind {
		return out
	}
	var said []string
	if d := v.get("description"); d.is(stringKind) {
		s, escaped := clean(d.text)
		if escaped {
			l.note(d, p.to("description"), "invisible characters are written as escapes")
		}
		said = append(said, s)
	}
	if before := out.get("description"); before != nil && !slices.Contains(said, before.text) {
		said = append(said, before.text)
	}
	for _, tell := range []struct{ key, how string }{{"default", "The server's default: "}, {"examples", "Examples: "}} {
		m := v.get(tell.key)
		if m == nil || m.kind == nullKind {
			continue
		}
		s, _ := clean(jsonText(m))
		if len(s) > 200 {
			l.note(m, p.to(tell.key), "%s is not carried over: it has more than 200 bytes", tell.key)
			continue
		}
		said = append(said, tell.how+s+".")
	}
	said = slices.DeleteFunc(said, func(s string) bool { return s == "" })
	if len(said) > 0 {
		if out.get("description") != nil {
			out = out.without("description")
		}
		out = placed(out, "description", text(strings.Join(said, "\n")))
	}
	if t := v.get("title"); t.is(stringKind) && out.get("$ref") == nil && out.get("title") == nil {
		if s, escaped := clean(t.text); !escaped && s != "" && !strings.ContainsAny(s, "\n\t") && utf8.RuneCountInString(s) <= 200 {
			out = placed(out, "title", text(s))
		}
	}
	if v.get("deprecated").isBool("true") && p.property {
		out = placed(out, "deprecated", boolean(true))
	}
	return out
}

// placed adds a member behind type, where a reader looks for words.
func placed(out *value, key string, to *value) *value {
	c := *out
	i := min(1, len(c.members))
	c.members = slices.Insert(slices.Clone(c.members), i, member{key, to})
	return &c
}
