package mcphttp

import (
	"encoding/json"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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
	message, ok := messageOf(r, method)
	if !ok {
		return false
	}
	var params map[string]json.RawMessage
	var name string
	values := r.Header.Values(nameHeader)
	if json.Unmarshal(message["params"], &params) == nil && json.Unmarshal(params[parameter], &name) == nil && len(values) == 1 && values[0] == name {
		return false
	}
	refuseRequest(w, http.StatusBadRequest, message["id"], &jsonrpc.Error{Code: mcp.CodeHeaderMismatch, Message: "the Mcp-Name header is not the parameter " + parameter})
	return true
}

// messageOf is the message that r carries, if method is its method, as its header
// says. The SDK refuses any other. The keys of maps, unlike those of structs, match
// exactly.
func messageOf(r *http.Request, method string) (message map[string]json.RawMessage, ok bool) {
	body, err := peek(r)
	if err != nil {
		return nil, false // whoever reads it next finds that out
	}
	var asked string
	ok = json.Unmarshal(body, &message) == nil && json.Unmarshal(message["method"], &asked) == nil && asked == method
	return message, ok
}

// listenMethod asks for news.
const listenMethod = "subscriptions/listen"

// mayNotListen answers a request for news that the host refuses.
func (s *Server) mayNotListen(w http.ResponseWriter, r *http.Request) bool {
	if s.options.Listen == nil || r.Method != http.MethodPost || !modern(r) || r.Header.Get(methodHeader) != listenMethod {
		return false
	}
	message, ok := messageOf(r, listenMethod)
	if !ok {
		return false
	}
	refusal := s.options.Listen(message["params"])
	if refusal == nil {
		return false
	}
	refuseRequest(w, http.StatusBadRequest, message["id"], refusal)
	return true
}
