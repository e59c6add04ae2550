package mcpserver

import (
	"strconv"

	"github.com/capgen/capgen/runtime"
)

// The schemas are written by hand: no $ref and no union with null, which some
// clients cannot read, and no required member in an output, since clients
// check failures against the same schema.

func inputSchema(tool string) string {
	name := `{"type":"string","minLength":1,"maxLength":` + strconv.Itoa(runtime.MaxNameBytes) + `,"description":"Exact dotted name, as search_api gives it."}`
	var properties string
	switch tool {
	case SearchTool:
		return `{"type":"object","additionalProperties":false,"required":["query"],"properties":{` +
			`"query":{"type":"string","description":"A few words, or a dotted name. Empty answers with the namespaces."}}}`
	case DescribeTool:
		properties = `"name":` + name +
			`,"names":{"type":"array","minItems":1,"maxItems":` + strconv.Itoa(runtime.MaxDescribeNames) +
			`,"items":` + name + `,"description":"Several names at once. Give either name or names."}`
		return `{"type":"object","additionalProperties":false,"properties":{` + properties + `}}`
	default:
		return `{"type":"object","additionalProperties":false,"required":["source"],"properties":{` +
			`"source":{"type":"string","description":"The whole program."}}}`
	}
}

func outputSchema(tool string) string {
	var properties string
	switch tool {
	case SearchTool:
		properties = `"results":{"type":"array","description":"Best first.","items":{"type":"object","properties":{` +
			`"name":{"type":"string"},"signature":{"type":"string"},"summary":{"type":"string"}}}},` +
			`"truncated":{"type":"boolean","description":"More matched than is shown."},` +
			`"weak":{"type":"boolean","description":"Even the best result shares little with the query."},` +
			`"namespaces":{"type":"array","description":"What there is, when nothing matches.","items":{"type":"object","properties":{` +
			`"name":{"type":"string"},"count":{"type":"integer"}}}}`
	case DescribeTool:
		properties = `"capabilities":{"type":"array","items":{"type":"object","properties":{` +
			`"name":{"type":"string"},"signature":{"type":"string"},"summary":{"type":"string"},"description":{"type":"string"},` +
			`"effect":{"type":"string"},"input":{"type":"array","items":{"type":"object"}},"output":{"type":"object"}}}},` +
			`"not_found":{"type":"array","description":"Names of no capability.","items":{"type":"string"}},` +
			`"truncated":{"type":"array","description":"Names left out for size; ask for fewer at a time.","items":{"type":"string"}}`
	default:
		properties = `"result":{"description":"What main returned."},` +
			`"notes":{"type":"array","description":"What to know of the result.","items":{"type":"string"}},` +
			`"receipt":` + receiptSchema
	}
	return `{"type":"object","additionalProperties":false,"properties":{` + properties + `,"error":` + errorSchema + `}}`
}

const errorSchema = `{"type":"object","properties":{` +
	`"class":{"type":"string"},` +
	`"message":{"type":"string"},` +
	`"hint":{"type":"string","description":"What to do instead."},` +
	`"line":{"type":"integer"},` +
	`"column":{"type":"integer"},` +
	`"path":{"type":"string","description":"Of the argument."},` +
	`"capability":{"type":"string"},` +
	`"code":{"type":"string","description":"What the capability calls its failure."},` +
	`"limit":{"type":"string"},` +
	`"bound":{"type":"integer"},` +
	`"trace":{"type":"array","description":"Call stack of the program, innermost last.","items":{"type":"string"}}}}`

const receiptSchema = `{"type":"object","description":"What was done before the failure.","properties":{` +
	`"execution":{"type":"string"},` +
	`"deployment":{"type":"string"},` +
	`"catalog":{"type":"string"},` +
	`"calls":{"type":"array","items":{"type":"object","properties":{` +
	`"sequence":{"type":"integer"},"id":{"type":"string"},"name":{"type":"string"},` +
	`"state":{"type":"string","enum":["not_dispatched","done","failed","unknown"]},` +
	`"count":{"type":"integer","description":"So many calls in a row ended like this."},` +
	`"duration_us":{"type":"integer"},"error":{"type":"string"}}}},` +
	`"duration_us":{"type":"integer"},` +
	`"steps":{"type":"integer"}}}`
