//lint:file-ignore SA1019 the suite asks for what the protocol deprecates

package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A picture of one pixel and a moment of silence, in base64 as JSON has them.
const (
	picture = `iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==`
	silence = `UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=`
)

// fixtures adds what the suite expects of a server under test: tools, prompts
// and resources by name (the suite's README, "SDK Integration").
func fixtures(s *mcp.Server) {
	for name, content := range map[string]string{
		"test_simple_text":            `[{"type":"text","text":"This is a simple text response for testing."}]`,
		"test_image_content":          `[{"type":"image","data":"` + picture + `","mimeType":"image/png"}]`,
		"test_audio_content":          `[{"type":"audio","data":"` + silence + `","mimeType":"audio/wav"}]`,
		"test_embedded_resource":      `[{"type":"resource","resource":{"uri":"test://embedded-resource","mimeType":"text/plain","text":"This is an embedded resource content."}}]`,
		"test_multiple_content_types": `[{"type":"text","text":"Multiple content types test:"},{"type":"image","data":"` + picture + `","mimeType":"image/png"},{"type":"resource","resource":{"uri":"test://mixed-content-resource","mimeType":"application/json","text":"{}"}}]`,
		"test_streaming_elicitation":  `[{"type":"text","text":"nothing is asked"}]`,
		"test_x_mcp_header":           `[{"type":"text","text":"called"}]`,
		"json_schema_2020_12_tool":    `[{"type":"text","text":"called"}]`,
	} {
		result := new(mcp.CallToolResult)
		if err := json.Unmarshal([]byte(`{"content":`+content+`}`), result); err != nil {
			panic(err)
		}
		tool(s, name, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return result, nil })
	}
	tool(s, "test_error_handling", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r := text("This tool intentionally returns an error for testing")
		r.IsError = true
		return r, nil
	})
	tool(s, "test_tool_with_logging", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, said := range []string{"started", "processing", "completed"} {
			if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: "Tool " + said}); err != nil {
				return nil, err
			}
			time.Sleep(50 * time.Millisecond)
		}
		return text("logged"), nil
	})
	tool(s, "test_logging_tool", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text("logged, if that was asked for"), r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: "logged"})
	})
	tool(s, "test_tool_with_progress", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		token := r.Params.GetProgressToken()
		for _, percent := range []float64{0, 50, 100} {
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: percent, Total: 100}); err != nil {
				return nil, err
			}
			time.Sleep(50 * time.Millisecond)
		}
		return text(fmt.Sprint(token)), nil
	})
	tool(s, "test_trigger_tool_change", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		tool(s, "another_tool", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text(""), nil })
		return text("changed"), nil
	})
	tool(s, "test_trigger_prompt_change", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		prompt(s, &mcp.Prompt{Name: "another_prompt"}, func(map[string]string) string { return `[]` })
		return text("changed"), nil
	})
	tool(s, "test_reconnection", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if r.Extra.CloseSSEStream != nil {
			r.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
		}
		time.Sleep(100 * time.Millisecond)
		return text("reconnected"), nil
	})
	asking(s)
	rounds(s)
	resources(s)
	prompts(s)
}

func text(t string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: t}}}
}

// schemas are of the tools whose input the suite looks at.
var schemas = map[string]string{
	"test_x_mcp_header": `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`,
	"json_schema_2020_12_tool": `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","additionalProperties":false,
		"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
		"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]}}`,
}

func tool(s *mcp.Server, name string, handle mcp.ToolHandler) {
	schema := schemas[name]
	if schema == "" {
		schema = `{"type":"object"}`
	}
	s.AddTool(&mcp.Tool{Name: name, Description: "A fixture of the conformance suite.", InputSchema: json.RawMessage(schema)}, handle)
}

func resources(s *mcp.Server) {
	contents := func(uri string) *mcp.ResourceContents {
		switch {
		case uri == "test://static-text":
			return &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "This is the content of the static text resource."}
		case uri == "test://static-binary":
			c := new(mcp.ResourceContents)
			if err := json.Unmarshal([]byte(`{"uri":"`+uri+`","mimeType":"image/png","blob":"`+picture+`"}`), c); err != nil {
				panic(err)
			}
			return c
		case uri == "test://watched-resource":
			return &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "watched"}
		}
		id := strings.TrimSuffix(strings.TrimPrefix(uri, "test://template/"), "/data")
		return &mcp.ResourceContents{URI: uri, MIMEType: "application/json", Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id)}
	}
	read := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents(r.Params.URI)}}, nil
	}
	for _, name := range []string{"static-text", "static-binary", "watched-resource"} {
		s.AddResource(&mcp.Resource{Name: name, URI: "test://" + name}, read)
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data"}, read)
}

func prompts(s *mcp.Server) {
	const said = `{"role":"user","content":{"type":"text","text":%q}}`
	prompt(s, &mcp.Prompt{Name: "test_simple_prompt"}, func(map[string]string) string {
		return fmt.Sprintf("["+said+"]", "This is a simple prompt for testing.")
	})
	prompt(s, &mcp.Prompt{Name: "test_prompt_with_arguments", Arguments: []*mcp.PromptArgument{{Name: "arg1", Required: true}, {Name: "arg2", Required: true}}}, func(a map[string]string) string {
		return fmt.Sprintf("["+said+"]", fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"]))
	})
	prompt(s, &mcp.Prompt{Name: "test_prompt_with_embedded_resource", Arguments: []*mcp.PromptArgument{{Name: "resourceUri", Required: true}}}, func(a map[string]string) string {
		return fmt.Sprintf(`[{"role":"user","content":{"type":"resource","resource":{"uri":%q,"mimeType":"text/plain","text":"Embedded resource content for testing."}}},`+said+`]`, a["resourceUri"], "Please process it.")
	})
	prompt(s, &mcp.Prompt{Name: "test_prompt_with_image"}, func(map[string]string) string {
		return fmt.Sprintf(`[{"role":"user","content":{"type":"image","data":"`+picture+`","mimeType":"image/png"}},`+said+`]`, "Please analyze it.")
	})
	s.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: "A fixture of the conformance suite."}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		answer := accepted(r.Params.InputResponses, "user_context")
		if answer == nil {
			return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"user_context": elicit("What about?", "context", "string")}}, nil
		}
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: fmt.Sprint("Context: ", answer["context"])}}}}, nil
	})
}

// prompt adds one whose messages are JSON.
func prompt(s *mcp.Server, p *mcp.Prompt, messages func(arguments map[string]string) string) {
	p.Description = "A fixture of the conformance suite."
	s.AddPrompt(p, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		result := new(mcp.GetPromptResult)
		return result, json.Unmarshal([]byte(`{"messages":`+messages(r.Params.Arguments)+`}`), result)
	})
}
