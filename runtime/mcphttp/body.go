package mcphttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// readBody reads the whole body of a POST within its bounds of size, depth and
// time, and gives the request those bytes instead; or it answers, and returns
// false. It never reads for a client that has no leave to ask.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) bool {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.limits.MaxMessageBytes))
	if err == nil {
		// From here on the connection is only watched for its end, however
		// long the answer takes. Otherwise what is left of the body has to
		// come within the deadline that stands.
		err = http.NewResponseController(w).SetReadDeadline(time.Time{})
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, jsonrpc.CodeInvalidRequest,
			fmt.Sprintf("the message has more than %d bytes (MaxMessageBytes)", s.limits.MaxMessageBytes))
		return false
	case err != nil:
		refuse(w, http.StatusRequestTimeout, jsonrpc.CodeInvalidRequest, "the message did not arrive")
		return false
	case deeper(body, s.limits.MaxMessageDepth):
		refuse(w, http.StatusBadRequest, jsonrpc.CodeInvalidRequest,
			fmt.Sprintf("the message nests more than %d deep (MaxMessageDepth)", s.limits.MaxMessageDepth))
		return false
	case !json.Valid(body):
		refuse(w, http.StatusBadRequest, jsonrpc.CodeParseError, "parse error: the body must be one JSON-RPC message")
		return false
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return true
}

// deeper reports whether arrays and objects in text nest more than max deep.
// It runs before anything that might recurse.
func deeper(text []byte, max int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > max {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}
