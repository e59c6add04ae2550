package host

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// memberID returns the id member of a message as it stands there, or nil.
func memberID(line []byte) json.RawMessage {
	var m map[string]json.RawMessage // its keys, unlike a struct's, match exactly
	if err := json.Unmarshal(line, &m); err != nil {
		return nil
	}
	return m["id"]
}

// idOf finds the id of a message that is not a request: a string or a number
// that can be written back, or nil.
func idOf(line []byte) json.RawMessage {
	id := memberID(line)
	if len(id) == 0 || !utf8.Valid(id) {
		return nil
	}
	if first := id[0]; first == '"' || first == '-' || first >= '0' && first <= '9' {
		return id
	}
	return nil
}

// faithful reports whether the answer to a request in line can carry its id as
// it came. The SDK reads a number as a float64 and keeps its integer part, so
// that two ids could become one. Null is no id (MCP specification, Base
// Protocol, Requests).
func faithful(id jsonrpc.ID, line []byte) bool {
	const largest = 1<<53 - 1
	switch id := id.Raw().(type) {
	case nil:
		return memberID(line) == nil
	case string:
		// What is no Unicode text has become U+FFFD.
		return !strings.ContainsRune(id, utf8.RuneError)
	default:
		f, err := strconv.ParseFloat(string(memberID(line)), 64)
		return err == nil && f == math.Trunc(f) && math.Abs(f) <= largest
	}
}
