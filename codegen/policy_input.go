package codegen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/capgen/capgen/schema"
)

// inputHead is what every schema begins with; the first line says who wrote it.
const inputHead = jsonHeader + `
"$schema": "https://json-schema.org/draft/2020-12/schema",
"title": "What a policy sees of a call",
"type": "object",
"required": ["subject", "capability", "arguments"],
"additionalProperties": false,
"properties": {
"subject": {
"type": "object",
"required": ["name", "kind", "all_scopes", "scopes"],
"additionalProperties": false,
"properties": {
"name": {"type": "string", "description": "The flat form: local, development, shared-token or oidc:<issuer>#<sub>."},
"kind": {"enum": ["local", "demo", "development", "oidc"]},
"issuer": {"type": "string"},
"id": {"type": "string"},
"all_scopes": {"type": "boolean"},
"scopes": {"type": "array", "items": {"type": "string"}}
}
},
"capability": {
"type": "object",
"required": ["id", "name", "effect", "idempotency", "world", "tags"],
"additionalProperties": false,
"properties": {
"id": {"type": "string"},
"name": {"type": "string"},
"effect": {"type": "string"},
"idempotency": {"type": "string"},
"world": {"type": "string"},
"tags": {"type": "array", "items": {"type": "string"}}
}
},
"arguments": {"type": "object", "description": "The canonical arguments. An integer of 64 bits is its decimal text."}
},
"anyOf": [`

// jsonHeader is the first line of a JSON file that capgen wrote.
const jsonHeader = `{"$comment": "` + header + `",`

// policyInput is a JSON Schema (2020-12) of what policies see: subject,
// capability and arguments, which differ by capability, one a line.
//
//	{"properties":{"capability":{"properties":{"id":{"const":"records.lookup"}}},"arguments":{…}}},
func policyInput(capabilities []*schema.Capability) []byte {
	var b strings.Builder
	b.WriteString(inputHead)
	used := make(map[*schema.NamedType]bool)
	for i, c := range capabilities {
		facts := []string{}
		for _, f := range []struct{ name, is string }{{"id", c.ID}, {"name", c.Name}, {"effect", c.Effect}, {"idempotency", c.Idempotency}, {"world", c.World}} {
			facts = append(facts, fmt.Sprintf(`"%s":{"const":%s}`, f.name, jsonText(f.is)))
		}
		fmt.Fprintf(&b, "%s\n"+`{"properties":{"capability":{"properties":{%s}},"arguments":%s}}`,
			map[bool]string{true: ","}[i > 0], strings.Join(facts, ","), schema.EffectiveDocument(c.Input, nil))
		schema.References(c.Input, used)
	}
	b.WriteString("\n],\n\"$defs\": {")
	defs := make([]*schema.NamedType, 0, len(used))
	for t := range used {
		defs = append(defs, t)
	}
	slices.SortFunc(defs, func(a, b *schema.NamedType) int { return cmp.Compare(a.Name, b.Name) })
	for i, t := range defs {
		fmt.Fprintf(&b, "%s\n%s:%s", map[bool]string{true: ","}[i > 0], jsonText(t.Name), schema.EffectiveDocument(t.Type, nil))
	}
	b.WriteString("\n}\n}\n")
	return []byte(b.String())
}
