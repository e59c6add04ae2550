package mcphttp

import (
	"encoding/json"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// misnamed refuses a request of the current era whose Mcp-Name header is not the
// parameter that it is to repeat: whoever routes by headers would route another
// request than the one that is answered (MCP specification, Streamable HTTP). The
// SDK knows the protocol's own methods, and that Mcp-Method is the method.
func (s *Server) misnamed(w http.ResponseWriter, r *http.Request) bool {
	method := r.Header.Get(methodHeader)
	parameter, ok := s.nameHeaders[method]
	if !ok || r.Method != http.MethodPost || !modern(r) {
		return false
	}
	body, err := peek(r)
	if err != nil {
		return false // whoever reads it next finds that out
	}
	// The keys of maps, unlike those of structs, match exactly.
	var message, params map[string]json.RawMessage
	var asked, name string
	if json.Unmarshal(body, &message) != nil || json.Unmarshal(message["method"], &asked) != nil || asked != method {
		return false // the SDK refuses it
	}
	values := r.Header.Values(nameHeader)
	if json.Unmarshal(message["params"], &params) == nil && json.Unmarshal(params[parameter], &name) == nil && len(values) == 1 && values[0] == name {
		return false
	}
	id := message["id"]
	if len(id) > 0 && (id[0] == '{' || id[0] == '[') { // which no id is
		id = nil
	}
	refuseRequest(w, http.StatusBadRequest, id, mcp.CodeHeaderMismatch, "the Mcp-Name header is not the parameter "+parameter)
	return true
}
