package binding

import "github.com/capgen/capgen/runtime/canon"

// AppendJSON appends c as canonical JSON (RFC 8785), without members that say
// nothing. ParseCapability reads it. c must be one that ParseCapability would
// accept as far as bounds and UTF-8 go; for another it panics, as the mistake
// is the generator's.
func (c *Capability) AppendJSON(dst []byte) []byte {
	return canon.AppendCanonical(dst, capabilityEncoder{c})
}

// capabilityEncoder keeps Encode out of Capability's methods: the wire form of
// a capability is its JSON text inside a table, never an object of its own.
type capabilityEncoder struct{ c *Capability }

// Encode writes the members in the order of canon.CompareKeys, as do the
// functions below.
func (e capabilityEncoder) Encode(w *canon.Writer) {
	w.BeginObject(4 + canon.Count(e.c.Pages != nil, len(e.c.Types) > 0))
	w.Key("id")
	w.String(e.c.ID, 1, maxIDBytes)
	w.Key("input")
	encodeFields(w, e.c.Input)
	w.Key("name")
	w.String(e.c.Name, 1, maxNameBytes)
	w.Key("output")
	encodeShape(w, &e.c.Output, nil)
	if e.c.Pages != nil {
		w.Key("pages")
		e.c.Pages.encode(w)
	}
	if len(e.c.Types) > 0 {
		w.Key("types")
		encodeTypes(w, e.c.Types)
	}
	w.EndObject()
}

func encodeFields(w *canon.Writer, fields []Field) {
	w.BeginArray(len(fields), 0, MaxFields)
	for i := range fields {
		w.Element(i)
		encodeShape(w, &fields[i].Shape, &fields[i])
	}
	w.EndArray()
}

// encodeShape writes a shape, with the members of the field it belongs to.
func encodeShape(w *canon.Writer, s *Shape, f *Field) {
	var o objectEncoder
	o.text("const", s.Const)
	if f != nil {
		o.text("default", f.Default)
	}
	if len(s.Enum) > 0 {
		o.add("enum", func(w *canon.Writer) {
			w.BeginArray(len(s.Enum), 1, MaxEnum)
			for i, v := range s.Enum {
				w.Element(i)
				w.String(v, 0, maxText)
			}
			w.EndArray()
		})
	}
	if len(s.Fields) > 0 {
		o.add("fields", func(w *canon.Writer) { encodeFields(w, s.Fields) })
	}
	o.text("format", s.Format)
	if s.Items != nil {
		o.add("items", func(w *canon.Writer) { encodeShape(w, s.Items, nil) })
	}
	if s.Keys != nil {
		o.add("keys", func(w *canon.Writer) { encodeShape(w, s.Keys, nil) })
	}
	o.text("kind", string(s.Kind))
	o.integer("maxLength", int64(s.MaxLength))
	o.integer("maximum", s.Maximum)
	o.integer("minLength", int64(s.MinLength))
	o.integer("minimum", s.Minimum)
	o.text("multipleOf", s.MultipleOf)
	if f != nil {
		o.text("name", f.Name)
	}
	o.truth("nullable", s.Nullable)
	o.text("pattern", s.Pattern)
	if s.Range != nil {
		o.add("range", s.Range.encode)
	}
	o.text("ref", s.Ref)
	if f != nil {
		o.truth("required", f.Required)
	}
	o.text("tag", s.Tag)
	o.union(s)
	o.write(w)
}

func (v *Range) encode(w *canon.Writer) {
	var o objectEncoder
	o.truth("exclusiveMax", v.ExclusiveMax)
	o.truth("exclusiveMin", v.ExclusiveMin)
	o.text("max", v.Max)
	o.text("min", v.Min)
	o.write(w)
}

// objectEncoder gathers the members that say something, to count them before
// the first is written.
type objectEncoder struct{ members []member }

type member struct {
	key   string
	write func(w *canon.Writer)
}

func (o *objectEncoder) add(key string, write func(w *canon.Writer)) {
	o.members = append(o.members, member{key, write})
}

func (o *objectEncoder) text(key, v string) {
	if v != "" {
		o.add(key, func(w *canon.Writer) { w.String(v, 1, maxText) })
	}
}

func (o *objectEncoder) integer(key string, v int64) {
	if v != 0 {
		o.add(key, func(w *canon.Writer) { w.Int(v, -canon.MaxInteger, canon.MaxInteger) })
	}
}

func (o *objectEncoder) truth(key string, v bool) {
	if v {
		o.add(key, func(w *canon.Writer) { w.Bool(v) })
	}
}

func (o *objectEncoder) write(w *canon.Writer) {
	w.BeginObject(len(o.members))
	for _, m := range o.members {
		w.Key(m.key)
		m.write(w)
	}
	w.EndObject()
}
