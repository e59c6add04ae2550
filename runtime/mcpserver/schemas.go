package mcpserver

import (
	"strconv"

	"github.com/capgen/capgen/runtime"
)

// The schemas are written by hand: no $ref and no union with null, which some
// clients cannot read, and no required member in an output, since clients
// check failures against the same schema.

func inputSchema(tool string) string {
	name := `{"type":"string","maxLength":` + strconv.Itoa(runtime.MaxNameBytes) + `}`
	var properties string
	switch tool {
	case SearchTool:
		return `{"type":"object","additionalProperties":false,"required":["query"],"properties":{` +
			`"query":{"type":"string","description":"A few words, or a dotted name. Empty answers with the namespaces."},` +
			`"namespace":{"type":"string"},` +
			`"limit":{"type":"integer","minimum":1,"maximum":` + strconv.Itoa(runtime.DefaultMaxSearchResults) + `,"default":` + strconv.Itoa(runtime.DefaultSearchResults) + `}}}`
	case DescribeTool:
		properties = `"name":` + name +
			`,"names":{"type":"array","minItems":1,"maxItems":` + strconv.Itoa(runtime.MaxDescribeNames) +
			`,"items":` + name + `,"description":"Give either name or names."}`
		return `{"type":"object","additionalProperties":false,"properties":{` + properties + `}}`
	default:
		return `{"type":"object","additionalProperties":false,"required":["source"],"properties":{` +
			`"source":{"type":"string"},` +
			`"data":{"type":"object","description":"Read as data."},` +
			`"timeout_ms":{"type":"integer","minimum":1},` +
			`"check":{"type":"boolean","description":"Only check it; nothing runs."},` +
			`"idempotency_key":{"type":"string","minLength":1,"maxLength":` + strconv.Itoa(runtime.MaxIdempotencyKeyBytes) +
			`,"description":"The same for each repetition of one run."}}}`
	}
}

// outputSchema says which members an answer has. What they hold is said by the
// answer itself, and a model pays for every word here in each session.
func outputSchema(tool string) string { return outputWith(tool, "") }

// printsOutput is a member more, of execute.
const printsOutput = `"prints":{"type":"object"},`

// outputWith is outputSchema with more members.
func outputWith(tool, more string) string {
	const objects = `{"type":"array","items":{"type":"object"}}`
	const names = `{"type":"array","items":{"type":"string"}}`
	var properties string
	switch tool {
	case SearchTool:
		properties = `"results":` + objects + `,"truncated":{"type":"boolean"},"weak":{"type":"boolean"},"namespaces":` + objects
	case DescribeTool:
		properties = `"capabilities":` + objects + `,"not_found":` + names + `,"renamed":{"type":"object"},"truncated":` + names
	default:
		properties = `"result":{},"check":{"type":"object"},"receipt":{"type":"object"}`
	}
	return `{"type":"object","additionalProperties":false,"properties":{` + more + properties + `,"error":{"type":"object"}}}`
}
