package mcphttp

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// codeRefused is of a request that was refused before it was read: one of the
// codes that a server may define (JSON-RPC 2.0, section 5.1).
const codeRefused = -32000

// refuse answers with a JSON-RPC error whose id is null, which clients show,
// unlike plain text. The message must not hold what came with the request.
func refuse(w http.ResponseWriter, status int, code int64, message string) {
	refuseRequest(w, status, nil, &jsonrpc.Error{Code: code, Message: message})
}

// refuseRequest is refuse for a request whose id was read: JSON text, or nil for
// one that nobody knows. What cannot be an id is answered as nil is.
func refuseRequest(w http.ResponseWriter, status int, id json.RawMessage, refusal *jsonrpc.Error) {
	if len(id) > 0 && (id[0] == '{' || id[0] == '[') {
		id = nil
	}
	body, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"` // null where it is nil
		Error   *jsonrpc.Error  `json:"error"`
	}{Version: "2.0", ID: id, Error: refusal})
	if err != nil { // id is valid JSON, the rest always encodes
		body = nil
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(append(body, '\n'))
}

// refuseForNow is refuse for what may be sent again later: nothing ran.
func refuseForNow(w http.ResponseWriter, seconds int, message string) {
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	refuse(w, http.StatusServiceUnavailable, codeRefused, message)
}
