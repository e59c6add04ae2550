package codegen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/schema"
)

// CedarSchemaFile and PolicyInputFile are the paths, relative to the generated
// root, of what policies may rely on: the schema that Cedar's validator takes,
// and a JSON Schema of the document that is `input` in Rego.
const (
	CedarSchemaFile = "policy/capabilities.cedarschema"
	PolicyInputFile = "policy/input.schema.json"
)

// cedarHead declares what every schema has. Nothing in it is the manifest's.
const cedarHead = `// ` + header + `

// Who calls: Subject::"local", Subject::"oidc:<issuer>#<sub>" and the like.
entity Subject = {
  "kind": String,
  "issuer"?: String,
  "id"?: String,
  "all_scopes": Bool,
  "scopes": Set<String>,
};

// What is called: Capability::"<id>". Its action has the same id.
entity Capability = {
  "name": String,
  "effect": String,
  "idempotency": String,
  "world": String,
  "tags": Set<String>,
};

// The context of an action holds the canonical arguments. A number is its
// decimal text. What may be null is absent then, and name_isnull tells. A list
// is its length, its items by index and, of scalars, the set of them; a map is
// the set of its pairs.
`

// capabilities are those of all namespaces, by name.
func (p *plan) capabilities() []*schema.Capability {
	var all []*schema.Capability
	for _, n := range p.namespaces {
		for _, c := range n.capabilities {
			all = append(all, c.Capability)
		}
	}
	slices.SortFunc(all, func(a, b *schema.Capability) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// cedarSchema writes an action for each capability, and for one that has none
// why, without a place: a place moves with every edit.
//
//	// records.lookup, effect read: Look up one record by key.
//	action "records.lookup" appliesTo {
//	  principal: [Subject],
//	  resource: [Capability],
//	  context: {
//	    "key": String,
//	  },
//	};
func cedarSchema(capabilities []*schema.Capability) []byte {
	var b strings.Builder
	b.WriteString(cedarHead)
	for _, c := range capabilities {
		context, none := cedarContext(c.Input)
		b.WriteByte('\n')
		for _, line := range commentLines(fmt.Sprintf("%s, effect %s: %s", c.Name, c.Effect, c.Summary)) {
			b.WriteString("// " + line + "\n")
		}
		if none != nil {
			for _, line := range commentLines("It has no action, and no policy permits a call of it: " + none.why) {
				b.WriteString("// " + line + "\n")
			}
			continue
		}
		fmt.Fprintf(&b, "action %s appliesTo {\n  principal: [Subject],\n  resource: [Capability],\n  context: %s,\n};\n", cedarString(c.ID), context)
	}
	return []byte(b.String())
}

// CedarRefusal says why c has no action in the Cedar schema, and where; ok is
// false for one that has. c is of a manifest that Generate accepts.
func CedarRefusal(c *schema.Capability) (at schema.Position, why string, ok bool) {
	if _, none := cedarContext(c.Input); none != nil {
		return none.at, none.why, true
	}
	return schema.Position{}, "", false
}

// noImage is why a type has no exact image in Cedar.
type noImage struct {
	at  schema.Position
	why string
}

// cedarContext is the record of an input's arguments, a line each.
func cedarContext(input *schema.Type) (string, *noImage) {
	if isRecursive(input) {
		return "", &noImage{input.Pos, "the input holds values of its own type"}
	}
	fields, none := cedarFields(schema.Resolve(input))
	if none != nil || len(fields) == 0 {
		return "{}", none
	}
	return "{\n    " + strings.Join(fields, ",\n    ") + ",\n  }", none
}

// isNull is what stands beside a field that may be null.
const isNull = "_isnull"

// cedarFields are the attributes of an object.
func cedarFields(t *schema.Type) (fields []string, none *noImage) {
	names := make(map[string]bool, len(t.Properties))
	for _, p := range t.Properties {
		names[p.Name] = true
	}
	for _, p := range t.Properties {
		if names[p.Name+isNull] {
			return nil, &noImage{p.Pos, fmt.Sprintf("%q stands beside %q, by which Cedar would tell that it is null", p.Name+isNull, p.Name)}
		}
		some, none := cedarField(p.Name, p.Type, !p.Required && p.Default == "")
		if none != nil {
			none.why = fmt.Sprintf("%q: %s", p.Name, none.why)
			if none.at.Line == 0 {
				none.at = p.Pos
			}
			return nil, none
		}
		fields = append(fields, some...)
	}
	return fields, nil
}

// cedarField is one attribute, or two of a type that may be null.
//
//	"key"?: String
//	"note"?: String, "note_isnull": Bool
func cedarField(name string, t *schema.Type, optional bool) ([]string, *noImage) {
	mark := map[bool]string{true: "?"}
	inner, nullable := withoutNull(t)
	image, none := cedarType(inner)
	if none != nil {
		return nil, none
	}
	fields := []string{cedarString(name) + mark[optional || nullable] + ": " + image}
	if nullable {
		fields = append(fields, cedarString(name+isNull)+mark[optional]+": Bool")
	}
	return fields, nil
}

// withoutNull is t without references and null, and whether it takes null. A
// reference to a type that may hold itself stays.
func withoutNull(t *schema.Type) (inner *schema.Type, nullable bool) {
	for {
		switch {
		case t.Kind == schema.Ref && !isRecursive(t):
			t = t.Ref.Type
		case t.Kind == schema.Nullable:
			t, nullable = t.Items, true
		default:
			return t, nullable
		}
	}
}

// cedarType is the exact image of a type that is neither a reference nor takes
// null: two values that differ have images that differ.
func cedarType(t *schema.Type) (string, *noImage) {
	switch t.Kind {
	case schema.String, schema.Bytes, schema.Number:
		return "String", nil
	case schema.Integer, schema.Int64:
		return "Long", nil
	case schema.Boolean:
		return "Bool", nil
	case schema.Object:
		fields, none := cedarFields(t)
		return "{" + strings.Join(fields, ", ") + "}", none
	case schema.Map:
		return cedarPairs(cedarString("key")+": String", "value", t.Items)
	case schema.Array:
		return cedarList(t.Items)
	case schema.Union:
		return "", &noImage{t.Pos, "Cedar has no unions"}
	case schema.Ref:
		return "", &noImage{t.Pos, "Cedar has no types that hold themselves"}
	}
	return "", &noImage{t.Pos, "nothing is known of what it holds"}
}

// cedarPairs is a set of records with a key and something else.
//
//	Set<{"key": String, "value": Long}>
func cedarPairs(key, name string, t *schema.Type) (string, *noImage) {
	fields, none := cedarField(name, t, false)
	return "Set<{" + strings.Join(append([]string{key}, fields...), ", ") + "}>", none
}

// cedarList is a list, of which Cedar has no other image. The set of the items
// is what policies compare with; it is there for scalars only, which also keeps
// lists of lists from doubling.
//
//	{"length": Long, "at": Set<{"index": Long, "item": String}>, "items": Set<String>}
func cedarList(item *schema.Type) (string, *noImage) {
	at, none := cedarPairs(cedarString("index")+": Long", "item", item)
	if none != nil {
		return "", none
	}
	fields := []string{cedarString("length") + ": Long", cedarString("at") + ": " + at}
	if inner, _ := withoutNull(item); slices.Contains([]schema.Kind{schema.String, schema.Bytes, schema.Number, schema.Integer, schema.Int64, schema.Boolean}, inner.Kind) {
		scalar, _ := cedarType(inner)
		fields = append(fields, cedarString("items")+": Set<"+scalar+">")
	}
	return "{" + strings.Join(fields, ", ") + "}", nil
}

// cedarString is a string literal of Cedar. Its escapes are Rust's: what is no
// printable ASCII is written by its number.
func cedarString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x80 && visible.Readable(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
