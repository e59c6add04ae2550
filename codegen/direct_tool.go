package codegen

import (
	"github.com/dave/jennifer/jen"

	"github.com/capgen/capgen/schema"
)

// directToolMembers
//
//	Tool: &runtime.DirectTool{
//		Name:   "records_lookup",
//		Input:  `{"type":"object",…}`,
//		Output: `{"type":"object",…}`,
//	},
func directToolMembers(c *schema.Capability) []jen.Code {
	if !c.DirectTool {
		return nil
	}
	members := []jen.Code{
		jen.Id("Name").Op(":").Add(text(c.ToolName())),
		jen.Id("Input").Op(":").Add(text(string(schema.ClientSchema(c.Parameters())))),
	}
	if promisesObject(c) {
		members = append(members, jen.Id("Output").Op(":").Add(text(string(schema.ClientSchema(c.Result())))))
	}
	return []jen.Code{jen.Id("Tool").Op(":").Op("&").Qual(runtimePath, "DirectTool").Add(multiline("{", "}", members))}
}

// promisesObject tells whether every result is an object that its schema
// takes: only then may a tool have an output schema (MCP specification, Tools,
// output schema).
func promisesObject(c *schema.Capability) bool {
	if c.OutputCheck == schema.Report {
		return false
	}
	switch resolved(c.Result()).Kind {
	case schema.Object, schema.Map, schema.FreeObject:
		return true
	}
	return false
}
