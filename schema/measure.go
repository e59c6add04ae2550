package schema

// measure is how large a type is with every reference written out: generated
// code, descriptions and binding tables write them out. A few lines of types
// that refer to each other twice would otherwise grow without bound.
type measure struct {
	depth int // containers of a value, one inside the other
	parts int // schemas
	bytes int // texts, enum values and defaults
	// reported says that something inside crosses a limit, which is
	// reported there: one mistake is one finding.
	reported bool
}

// saturated keeps sums from overflowing; it is above every limit.
const saturated = 1 << 40

func (m *measure) add(n measure) {
	m.depth = max(m.depth, n.depth)
	m.parts = min(saturated, m.parts+n.parts)
	m.bytes = min(saturated, m.bytes+n.bytes)
	m.reported = m.reported || n.reported
}

// measureType recurses through inline schemas only, which nest no deeper than
// the file; named types are looked up.
func measureType(t *Type, known map[*NamedType]measure) measure {
	if t == nil {
		return measure{}
	}
	m := measure{parts: 1, bytes: len(t.Title) + len(t.Description) + len(t.Pattern)}
	for _, e := range t.Enum {
		m.bytes += len(e)
	}
	for _, e := range t.Examples {
		m.bytes += len(e)
	}
	switch t.Kind {
	case Ref:
		m.add(known[t.Ref])
	case Map:
		m.add(measureType(t.Keys, known))
		m.add(measureType(t.Items, known))
		m.depth++
	case Array:
		m.add(measureType(t.Items, known))
		m.depth++
	case Nullable:
		m.add(measureType(t.Items, known))
	case Union:
		for _, v := range t.Variants {
			m.add(measureType(v, known))
		}
	case FreeObject:
		m.depth++
	case Object:
		for _, p := range t.Properties {
			m.add(measureType(p.Type, known))
			m.add(measure{bytes: len(p.Name) + len(p.Default)})
		}
		m.depth++
	}
	return m
}

// measureGroup is of types that refer to each other: they are written out once,
// together, and their values are bounded when they are read.
func measureGroup(group []*NamedType, known map[*NamedType]measure) measure {
	var m measure
	for _, t := range group {
		m.add(measureType(t.Type, known))
	}
	return m
}

// measureShapes reports types and capabilities that are too deep or have too
// many parts; false if there is one.
func (l *loader) measureShapes(m *Manifest, order [][]*NamedType) bool {
	fine := true
	judge := func(at Position, what string, x measure) measure {
		if x.reported {
			return x
		}
		if x.depth > l.limits.valueDepth {
			l.errorf(at, ruleTooDeep, "values of %s nest %d deep, the limit is %d", what, x.depth, l.limits.valueDepth).
				hint("flatten the schema: no such value could be passed")
			x.reported = true
		}
		if x.parts > l.limits.schemaParts {
			l.errorf(at, ruleTooLarge, "%s has more than %d parts with its references written out", what, l.limits.schemaParts).
				hint("return less, or keys that another capability looks up")
			x.reported = true
		}
		fine = fine && !x.reported
		return x
	}
	known := make(map[*NamedType]measure, len(order))
	for _, group := range order {
		x := judge(group[0].Pos, "type "+quote(group[0].Name), measureGroup(group, known))
		for _, t := range group {
			known[t] = x
		}
	}
	total := 0
	for _, c := range m.Capabilities {
		x := measureType(c.Input, known)
		x.add(measureType(c.Output, known))
		x = judge(c.Pos, "capability "+quote(c.Name), x)
		if x.reported {
			continue
		}
		before := total
		total = min(saturated, total+x.parts)
		if before <= l.limits.allParts && total > l.limits.allParts {
			l.errorf(c.Pos, ruleTooLarge, "the capabilities have more than %d schema parts together, with references written out", l.limits.allParts).
				hint("split the manifest into several servers")
			fine = false
		}
	}
	return fine
}

// measureTexts reports a manifest whose texts are too large together.
func (l *loader) measureTexts(m *Manifest, order [][]*NamedType) {
	known := make(map[*NamedType]measure, len(order))
	for _, group := range order {
		x := measureGroup(group, known)
		for _, t := range group {
			known[t] = x
		}
	}
	total := len(m.Server.Instructions)
	for _, p := range m.Programs {
		total += len(p.Title) + len(p.Source) + len(p.Result)
	}
	for _, c := range m.Capabilities {
		x := measure{bytes: len(c.ID) + len(c.Name) + len(c.Summary) + len(c.Description)}
		for _, s := range c.Search {
			x.bytes += len(s)
		}
		for _, e := range c.Errors {
			x.bytes += len(e.Code) + len(e.Text)
		}
		x.add(measureType(c.Input, known))
		x.add(measureType(c.Output, known))
		if total = min(saturated, total+x.bytes); total > l.limits.textBytes {
			l.errorf(c.Pos, ruleTooLarge, "the texts of the manifest have more than %d bytes, with references written out", l.limits.textBytes).
				hint("shorten descriptions, above all of types that many capabilities use")
			return
		}
	}
}
