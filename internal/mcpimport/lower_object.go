package mcpimport

import (
	"slices"
	"strconv"

	"github.com/capgen/capgen/schema"
)

func (l *lowerer) arrayType(v *value, p place) (*value, *flaw) {
	out := typed("array")
	least, most, bad := l.sizes(v, "minItems", "maxItems", schema.MaxItems, p)
	if bad != nil {
		return nil, bad
	}
	items := opaque()
	if m := v.get("items"); m != nil {
		lowered, bad := l.schema(m, p.to("items"))
		switch {
		case bad != nil && bad.never && least == 0:
			most = 0 // only the empty list is left
		case bad != nil:
			return nil, bad
		default:
			items = lowered
		}
	}
	if least > most {
		return nil, l.never(v, p)
	}
	out.set("items", items)
	setSize(out, v, "minItems", least)
	if most < schema.MaxItems {
		out.set("maxItems", number(strconv.Itoa(most)))
	}
	if u := v.get("uniqueItems"); u != nil && !u.isBool("false") {
		if u.kind != boolKind {
			return nil, l.flaw(u, p.to("uniqueItems"), "uniqueItems is true or false")
		}
		out.set("uniqueItems", u)
	}
	return out, nil
}

// objectType lowers an object: declared properties, then closed; else a map,
// or any members.
func (l *lowerer) objectType(v *value, p place) (*value, *flaw) {
	declared := v.get("properties")
	if declared != nil && declared.kind != objectKind {
		return nil, l.flaw(declared, p.to("properties"), "properties is an object")
	}
	required, bad := l.requiredOf(v, p)
	if bad != nil {
		return nil, bad
	}
	more := v.get("additionalProperties")
	if more == nil || more.is(objectKind) && len(more.members) == 0 {
		more = boolean(true)
	}
	if more.kind != boolKind && more.kind != objectKind {
		return nil, l.flaw(more, p.to("additionalProperties"), "additionalProperties is true, false or a schema")
	}
	none := declared == nil || len(declared.members) == 0
	if none && len(required) == 0 && p.at != "" && !more.isBool("false") {
		return l.mapType(v, more, p)
	}
	return l.structType(v, declared, more, required, p)
}

func (l *lowerer) requiredOf(v *value, p place) ([]string, *flaw) {
	m := v.get("required")
	if m == nil {
		return nil, nil
	}
	if m.kind != listKind {
		return nil, l.flaw(m, p.to("required"), "required is a list of names")
	}
	var names []string
	for _, item := range m.items {
		if item.kind != stringKind {
			return nil, l.flaw(item, p.to("required"), "required is a list of names")
		}
		if !slices.Contains(names, item.text) {
			names = append(names, item.text)
		}
	}
	return names, nil
}

// mapType lowers an object whose keys are data.
func (l *lowerer) mapType(v, more *value, p place) (*value, *flaw) {
	if d := v.get("dependentRequired"); d != nil {
		return nil, l.flaw(d, p.to("dependentRequired"), "dependentRequired without properties")
	}
	least, most, bad := l.sizes(v, "minProperties", "maxProperties", schema.MaxMembers, p)
	if bad != nil {
		return nil, bad
	}
	names := v.get("propertyNames")
	if more.isBool("true") && names == nil && least == 0 && most == schema.MaxMembers {
		return object(member{"type", text("object")}, member{"additionalProperties", boolean(true)}), nil
	}
	if enum := names.get("enum"); enum.is(listKind) && len(names.members) == 1 && v.get("minProperties") == nil && v.get("maxProperties") == nil {
		return l.mapOfNames(v, enum, more, p)
	}
	out := typed("object")
	values, bad := l.schema(more, p.to("additionalProperties"))
	switch {
	case bad != nil && bad.never && least == 0:
		return object(member{"type", text("object")}, member{"properties", object()}), nil
	case bad != nil:
		return nil, bad
	}
	out.set("additionalProperties", values)
	if names != nil {
		keys, bad := l.keys(names, p.to("propertyNames"))
		if bad != nil {
			return nil, bad
		}
		if len(keys.members) > 0 {
			out.set("propertyNames", keys)
		}
	}
	setSize(out, v, "minProperties", least)
	if most < schema.MaxMembers {
		setSize(out, v, "maxProperties", most)
	}
	return out, nil
}

// keys lowers what a schema says of the keys of a map.
func (l *lowerer) keys(v *value, p place) (*value, *flaw) {
	out := object()
	for _, m := range v.members {
		switch {
		case m.key == "type" && m.value.isText("string"), isAnnotation(m.key):
		case slices.Contains([]string{"minLength", "maxLength", "pattern"}, m.key):
			if m.key == "pattern" && (m.value.kind != stringKind || hasDot(m.value.text)) {
				return nil, l.flaw(m.value, p.to(m.key), "a pattern with a dot outside of a class")
			}
			out.set(m.key, m.value)
		default:
			return nil, l.flaw(m.value, p.to(m.key), "%s in propertyNames", quote(m.key))
		}
	}
	if v.kind != objectKind {
		return nil, l.flaw(v, p, "propertyNames is a schema of strings")
	}
	return out, nil
}

// mapOfNames lowers a map whose keys are listed: an object with these
// properties, each of which may be left out.
func (l *lowerer) mapOfNames(v, enum, more *value, p place) (*value, *flaw) {
	properties := object()
	for _, name := range enum.items {
		if name.is(stringKind) && properties.get(name.text) == nil {
			properties.set(name.text, more)
		}
	}
	return l.properties(v, properties, nil, func(string) place { return p.to("additionalProperties") }, p)
}

// structType lowers declared properties, and those that are only required. It
// closes the object, which narrows it where the server left it open.
func (l *lowerer) structType(v, declared, more *value, required []string, p place) (*value, *flaw) {
	all := object()
	if declared != nil {
		all.members = slices.Clone(declared.members)
	}
	undeclared := map[string]bool{}
	for _, name := range required {
		if all.get(name) == nil {
			if more.isBool("false") {
				return nil, l.never(v, p)
			}
			undeclared[name] = true
			all.set(name, more)
		}
	}
	for _, key := range []string{"propertyNames", "minProperties", "maxProperties"} {
		m := v.get(key)
		if m == nil {
			continue
		}
		r, ok := rational(m)
		implied := ok && r.IsInt() && r.Num().IsInt64() &&
			(key == "minProperties" && r.Num().Int64() <= int64(len(required)) || key == "maxProperties" && r.Num().Int64() >= int64(len(all.members)))
		if !implied {
			return nil, l.flaw(m, p.to(key), "%s beside properties", key)
		}
	}
	required, dropped, bad := l.dependent(v, all, required, p)
	if bad != nil {
		return nil, bad
	}
	for _, name := range dropped {
		all = all.without(name)
	}
	return l.properties(v, all, required, func(name string) place {
		if undeclared[name] {
			return p.to("additionalProperties")
		}
		return p.to("properties", name)
	}, p)
}

// dependent takes dependentRequired away: a property that needs others that
// are not required anyway is left out, or they are required if it is.
func (l *lowerer) dependent(v, all *value, required []string, p place) (now, dropped []string, bad *flaw) {
	m := v.get("dependentRequired")
	if m == nil {
		return required, nil, nil
	}
	if m.kind != objectKind {
		return nil, nil, l.flaw(m, p.to("dependentRequired"), "dependentRequired is an object of lists")
	}
	now = slices.Clone(required)
	for again := true; again; {
		again = false
		for _, d := range m.members {
			if all.get(d.key) == nil || slices.Contains(dropped, d.key) {
				continue
			}
			if d.value.kind != listKind {
				return nil, nil, l.flaw(d.value, p.to("dependentRequired", d.key), "dependentRequired is an object of lists")
			}
			for _, need := range d.value.items {
				there := need.is(stringKind) && all.get(need.text) != nil && !slices.Contains(dropped, need.text)
				switch {
				case there && slices.Contains(now, need.text):
					continue
				case there && slices.Contains(now, d.key):
					now = append(now, need.text)
				case slices.Contains(now, d.key):
					return nil, nil, l.never(v, p)
				default:
					l.left = append(l.left, l.flaw(d.value, p.to("dependentRequired", d.key),
						"the optional property %s is left out: where it stands others must", quote(d.key)).problem)
					dropped = append(dropped, d.key)
				}
				again = true
				break
			}
		}
	}
	return now, dropped, nil
}

// properties lowers each property. An optional one that cannot be lowered is
// left out, which narrows the object, and is listed.
func (l *lowerer) properties(v, all *value, required []string, placeOf func(string) place, p place) (*value, *flaw) {
	properties, names := object(), list()
	for _, m := range all.members {
		at := placeOf(m.key)
		at.property = true
		must := slices.Contains(required, m.key)
		lowered, bad := l.property(m, at, p)
		switch {
		case bad == nil:
			properties.set(m.key, lowered)
			if must {
				names.items = append(names.items, text(m.key))
			}
		case must && bad.never:
			return nil, l.never(v, p)
		case must:
			return nil, bad
		case !bad.never: // what no value satisfies is not missed
			bad.reason = "the optional property " + quote(m.key) + " is left out: " + bad.reason
			l.left = append(l.left, bad.problem)
		}
	}
	out := typed("object")
	if len(names.items) > 0 {
		out.set("required", names)
	}
	out.set("properties", properties)
	return out, nil
}

// property lowers a property of the object at p.
func (l *lowerer) property(m member, at, p place) (*value, *flaw) {
	lowered, bad := l.schema(m.value, at)
	if bad != nil {
		return nil, bad
	}
	if !schema.IsPropertyName(m.key) {
		return nil, l.flaw(m.value, at, "its name is none for programs and Go")
	}
	if p.at == "" && schema.IsKeyword(m.key) {
		return nil, l.flaw(m.value, at, "its name is a keyword of the program language")
	}
	return lowered, nil
}
