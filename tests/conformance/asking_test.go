//lint:file-ignore SA1019 the suite asks for what the protocol deprecates

package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// asking adds the tools that ask the client something in the middle of a call,
// as sessions allow.
func asking(s *mcp.Server) {
	tool(s, "test_sampling", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var in struct{ Prompt string }
		if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
			return nil, err
		}
		answer, err := r.Session.CreateMessage(ctx, sampling(in.Prompt))
		if err != nil {
			return nil, err
		}
		said, _ := answer.Content.(*mcp.TextContent)
		return text(fmt.Sprintf("LLM response: %v", said)), nil
	})
	for name, properties := range map[string]string{
		"test_elicitation": `{"username":{"type":"string"},"email":{"type":"string"}}`,
		"test_elicitation_sep1034_defaults": `{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},
			"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}`,
		"test_elicitation_sep1330_enums": `{"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
			"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
			"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
			"untitledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
			"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}`,
	} {
		var schema map[string]any
		if err := json.Unmarshal([]byte(`{"type":"object","properties":`+properties+`}`), &schema); err != nil {
			panic(err)
		}
		tool(s, name, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			answer, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Please answer", RequestedSchema: schema})
			if err != nil {
				return nil, err
			}
			return text(fmt.Sprintf("action=%s, content=%v", answer.Action, answer.Content)), nil
		})
	}
	tool(s, "test_missing_capability", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if c := r.ClientCapabilities(); c != nil && c.Sampling != nil {
			return text("the client can"), nil
		}
		return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the client cannot", Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`)}
	})
}

func sampling(prompt string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: prompt}}}}
}

// elicit asks for one required field.
func elicit(message, field, kind string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: message, RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{field: map[string]any{"type": kind}}, "required": []any{field},
	}}
}

// accepted is what the user filled in, or nil.
func accepted(answers mcp.InputResponseMap, key string) map[string]any {
	if a, ok := answers[key].(*mcp.ElicitResult); ok && a != nil && a.Action == "accept" {
		return a.Content
	}
	return nil
}

func sampled(answers mcp.InputResponseMap, key string) (string, bool) {
	a, ok := answers[key].(*mcp.CreateMessageWithToolsResult)
	if !ok || a == nil {
		return "", false
	}
	var said []string
	for _, c := range a.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			said = append(said, t.Text)
		}
	}
	return strings.Join(said, " "), true
}

// rounds adds the tools that need answers of the client and return for them,
// as the era without sessions has it: what a tool must remember is in the
// request's state.
func rounds(s *mcp.Server) {
	asked := func(state string, requests mcp.InputRequestMap) *mcp.CallToolResult {
		return &mcp.CallToolResult{InputRequests: requests, RequestState: state}
	}
	round := func(name string, handle func(r *mcp.CallToolRequest, answers mcp.InputResponseMap, state string) (*mcp.CallToolResult, error)) {
		tool(s, "test_input_required_result_"+name, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return handle(r, r.Params.InputResponses, r.Params.RequestState)
		})
	}
	who := elicit("What is your name?", "name", "string")
	round("elicitation", func(_ *mcp.CallToolRequest, answers mcp.InputResponseMap, _ string) (*mcp.CallToolResult, error) {
		if name, _ := accepted(answers, "user_name")["name"].(string); name != "" {
			return text("Hello, " + name + "!"), nil
		}
		return asked("", mcp.InputRequestMap{"user_name": who}), nil
	})
	round("sampling", func(_ *mcp.CallToolRequest, answers mcp.InputResponseMap, _ string) (*mcp.CallToolResult, error) {
		if said, ok := sampled(answers, "capital_question"); ok {
			return text(said), nil
		}
		return asked("", mcp.InputRequestMap{"capital_question": sampling("What is the capital of France?")}), nil
	})
	round("list_roots", func(_ *mcp.CallToolRequest, answers mcp.InputResponseMap, _ string) (*mcp.CallToolResult, error) {
		if roots, ok := answers["client_roots"].(*mcp.ListRootsResult); ok && roots != nil {
			return text(fmt.Sprint(len(roots.Roots), " roots")), nil
		}
		return asked("", mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}}), nil
	})
	const ours = "a state of this server"
	confirm := mcp.InputRequestMap{"confirm": elicit("Please confirm", "ok", "boolean")}
	confirmed := func(_ *mcp.CallToolRequest, answers mcp.InputResponseMap, state string) (*mcp.CallToolResult, error) {
		switch {
		case state != "" && state != ours:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "this is no state of ours"}
		case state == ours && accepted(answers, "confirm") != nil:
			return text("state-ok"), nil
		}
		return asked(ours, confirm), nil
	}
	round("request_state", confirmed)
	round("tampered_state", confirmed)
	round("multiple_inputs", func(_ *mcp.CallToolRequest, answers mcp.InputResponseMap, _ string) (*mcp.CallToolResult, error) {
		name, _ := accepted(answers, "user_name")["name"].(string)
		said, has := sampled(answers, "greeting")
		roots, ok := answers["client_roots"].(*mcp.ListRootsResult)
		if name != "" && has && ok && roots != nil {
			return text(fmt.Sprint(said, " ", name, " ", len(roots.Roots))), nil
		}
		return asked(ours, mcp.InputRequestMap{"user_name": who, "greeting": sampling("Greet"), "client_roots": &mcp.ListRootsParams{}}), nil
	})
	round("multi_round", func(_ *mcp.CallToolRequest, answers mcp.InputResponseMap, state string) (*mcp.CallToolResult, error) {
		name, second := strings.CutPrefix(state, "second:")
		switch {
		case state == "":
			return asked("first", mcp.InputRequestMap{"step1": who}), nil
		case !second:
			return asked(fmt.Sprint("second:", accepted(answers, "step1")["name"]), mcp.InputRequestMap{"step2": elicit("Which color?", "color", "string")}), nil
		}
		return text(fmt.Sprint(name, " likes ", accepted(answers, "step2")["color"])), nil
	})
	round("capabilities", func(r *mcp.CallToolRequest, answers mcp.InputResponseMap, _ string) (*mcp.CallToolResult, error) {
		requests, can := mcp.InputRequestMap{}, r.ClientCapabilities()
		if can != nil && can.Elicitation != nil {
			requests["user_name"] = who
		}
		if can != nil && can.Sampling != nil {
			requests["greeting"] = sampling("Greet")
		}
		if len(answers) > 0 || len(requests) == 0 {
			return text("nothing more to ask"), nil
		}
		return asked("", requests), nil
	})
}
