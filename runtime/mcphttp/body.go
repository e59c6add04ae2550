package mcphttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// readBody reads the whole body of a POST within its bounds of size, depth and
// time, and gives the request those bytes instead; or it answers, and returns
// false. It never reads for a client that has no leave to ask. What it holds is
// released when the request was answered, whatever it returns.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) (release func(), ok bool) {
	most := s.limits.MaxMessageBytes
	if lasts(r) {
		most = min(most, smallBody)
	}
	counted := &countedBody{from: http.MaxBytesReader(w, r.Body, most), held: &s.held, most: s.limits.MaxLargeBytes}
	return counted.release, s.readCounted(w, r, counted, most)
}

func (s *Server) readCounted(w http.ResponseWriter, r *http.Request, counted *countedBody, most int64) bool {
	body, err := io.ReadAll(counted)
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
			fmt.Sprintf("the message has more than %d bytes (MaxMessageBytes)", most))
		return false
	case errors.Is(err, errTooMuch):
		w.Header().Set("Connection", "close") // the rest of the body is not worth reading
		refuseForNow(w, 1, fmt.Sprintf("large messages with %d bytes are being answered (MaxLargeBytes); nothing ran", s.limits.MaxLargeBytes))
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

// smallBody is how many bytes of each body MaxLargeBytes does not count:
// MaxRequests and MaxSessions bound those well enough.
const smallBody = 64 << 10

// lasts reports whether what r says would be held for long: a stream that
// waits for news counts until it ends, and a session of the older era keeps
// what began it, which is all that can be said there without one.
func lasts(r *http.Request) bool {
	return waits(r) || !modern(r) && r.Header.Get(sessionHeader) == ""
}

// errTooMuch is that too many bytes of large bodies are held.
var errTooMuch = errors.New("mcphttp: too many bytes are held")

// countedBody counts the bytes of one body above smallBody among those of all,
// as they arrive: what a client only announces costs nothing.
type countedBody struct {
	from       io.Reader
	held       *atomic.Int64 // by all bodies
	most       int64         // of held
	read, mine int64         // mine is of held
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.read += int64(n)
	if more := b.read - smallBody - b.mine; more > 0 {
		if b.held.Add(more) > b.most {
			b.held.Add(-more)
			return 0, errTooMuch
		}
		b.mine += more
	}
	return n, err
}

func (b *countedBody) release() { b.held.Add(-b.mine) }

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
