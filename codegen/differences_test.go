package codegen_test

import (
	"github.com/capgen/capgen/schema"
)

// verdicts are who accepts a value.
type verdicts struct {
	program bool // the binding of a worker
	wire    bool // the generated decoder, of wire bytes that no binding has checked
	json    bool // the generated decoder, of JSON text
	schema  bool // an independent validator with the effective schema
}

// difference is a form of values that is not meant to be judged alike.
type difference struct {
	name, reason string
	want         verdicts
	// write gives a place of a valid value that form, or tells that the place
	// cannot have it.
	write func(p place) bool
}

func differences() []difference {
	jsonOnly := verdicts{wire: true, json: true, schema: true}
	return []difference{
		{
			"tuple for list", "Starlark's tuples are lists that do not change; a call takes both",
			verdicts{true, true, true, true},
			func(p place) bool { p.program = "("; return p.t.Kind == schema.Array && p.kind == aList },
		},
		{
			"None for nothing", "a program passes on optional arguments without an if; JSON clients leave members out, and null is no value of the schema",
			verdicts{true, true, true, true},
			func(p place) bool {
				if p.t.Kind != schema.Object || p.kind != aDict {
					return false
				}
				for _, property := range p.t.Properties {
					if !property.Required && !takesNull(property.Type) && p.find(property.Name) == nil {
						p.nones = append(p.nones, property.Name)
					}
				}
				return len(p.nones) > 0
			},
		},
		{
			"null for nothing", "in JSON null is a value, of which the schema says nothing; to a program None is nothing",
			verdicts{program: true},
			func(p place) bool { *p.sample = sample{kind: aNull}; return p.optional && !p.unique }, // without it, two items may be one
		},
		{
			"1.0 for an integer", "to JSON 1.0 and 1 are one number (JSON Schema 2020-12, section 4.2.3); a program's float is never an int, for it may have been rounded",
			verdicts{json: true, schema: true},
			func(p place) bool {
				p.program, p.json = p.text+".0", p.text+".0"
				return p.kind == anInt && p.t.Kind == schema.Integer
			},
		},
		{
			"1e0 for an integer", "as 1.0 is",
			verdicts{json: true, schema: true},
			func(p place) bool {
				p.program, p.json = p.text+".0", p.text+"e0"
				return p.kind == anInt && p.t.Kind == schema.Integer
			},
		},
		{
			"base64 text for bytes", "a program has bytes, and text that happens to be base64 is most often a mistake",
			jsonOnly,
			func(p place) bool { ok := p.kind == aBytes; p.kind = aText; return ok },
		},
		{
			"digits for an int64", "a program has ints of any size; digits are for JSON, whose numbers readers round",
			jsonOnly,
			func(p place) bool { ok := p.kind == aWide; p.kind = aText; return ok },
		},
		{
			"a number for an int64", "as above, the other way: JSON readers would round it",
			verdicts{program: true, wire: true},
			func(p place) bool { ok := p.kind == aWide; p.json = p.text; return ok },
		},
		{
			"a number that no float is", "JSON says the nearest float, as RFC 8259 section 6 has it; a program is told that it would be rounded",
			verdicts{json: true, schema: true},
			func(p place) bool {
				p.kind, p.text = anInt, "9007199254740993"
				return p.t.Kind == schema.Number && p.t.NumberMin == "" && p.t.NumberMax == "" && p.t.MultipleOf == ""
			},
		},
		{
			"a wide integer in what is opaque", "readers would round it; JSON Schema has no word for that, the effective schema says x-opaque",
			verdicts{},
			func(p place) bool {
				*p.sample = sample{kind: anInt, text: "9007199254740993"}
				return p.t.Kind == schema.Opaque
			},
		},
	}
}

// write writes a form at one of the places that take it, and tells whether
// there is one.
func (m *maker) write(form difference) bool {
	for _, i := range m.Perm(len(m.places)) {
		p := m.places[i]
		before := *p.sample
		if form.write(p) {
			return true
		}
		*p.sample = before
	}
	return false
}
