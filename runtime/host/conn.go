package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxInFlight bounds the calls of one session that wait for an answer.
	maxInFlight = 1024
	// maxUnwritten bounds the bytes of answers that a client does not read: the
	// largest are 14 MB, and take several times that while they wait.
	maxUnwritten = 64 << 20
	// joinBytes is up to where a message and its line end are one write.
	joinBytes = 64 << 10
)

// stdioTransport is MCP's stdio transport (MCP specification, Transports)
// where the SDK's falls short: a line that is no message is answered and the
// session goes on, and calls that are still running when the input ends are
// answered before the session does.
type stdioTransport struct {
	in  io.Reader
	out io.Writer
	log *slog.Logger
	// max bytes of a message, and of answers that wait to be written.
	max, maxUnwritten int
	// listen judges requests for news; nil lets all pass.
	listen func(params json.RawMessage) *jsonrpc.Error
	// stop ends the session: no more is read, and what runs has been cancelled
	// by whoever closed it.
	stop <-chan struct{}
	// cancel ends what runs.
	cancel context.CancelCauseFunc
	// drain is how long running calls may take once the input has ended, and
	// grace how long their answers may take after they have been cancelled.
	drain, grace time.Duration
	// ended is closed when no more is read and nothing more is waited for.
	ended chan struct{}
}

func (t *stdioTransport) Connect(context.Context) (mcp.Connection, error) {
	c := &stdioConn{
		stdioTransport: t,
		frames:         make(chan frame),
		closed:         make(chan struct{}),
		running:        map[jsonrpc.ID]bool{},
	}
	// A read of standard input cannot be interrupted, so this goroutine may
	// outlive the session; the process ends with it.
	go readFrames(t.in, t.max, c.frames, c.closed)
	return c, nil
}

// stdioConn implements mcp.Connection. Read is called by one goroutine, Write
// by any.
type stdioConn struct {
	*stdioTransport
	frames    chan frame
	closed    chan struct{}
	closeOnce sync.Once
	endOnce   sync.Once

	writing sync.Mutex // held for a whole message

	mu      sync.Mutex
	running map[jsonrpc.ID]bool // calls whose answer is not yet on its way
	owed    int                 // calls whose answer has not been written
	waiting int                 // bytes of answers that have not been written
	dropped []unwritten         // instead of answers, for whoever writes
	idle    chan struct{}       // closed when none is owed, once somebody waits
}

func (c *stdioConn) SessionID() string { return "" }

func (c *stdioConn) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return nil
}

// Read returns the next message that is one. What is not is answered here.
func (c *stdioConn) Read(context.Context) (jsonrpc.Message, error) {
	message, err := c.read()
	if err != nil {
		c.endOnce.Do(func() { close(c.ended) })
	}
	return message, err
}

func (c *stdioConn) read() (jsonrpc.Message, error) {
	for {
		var f frame
		select {
		case <-c.closed:
			return nil, io.EOF
		case <-c.stop:
			c.finish(c.grace)
			return nil, io.EOF
		case f = <-c.frames:
		}
		if f.err != nil {
			if !errors.Is(f.err, io.EOF) {
				c.log.Error("read standard input", "error", f.err)
			}
			c.finish(c.drain)
			return nil, io.EOF
		}
		message, refusal := c.accept(f)
		if refusal == nil {
			return message, nil
		}
		if err := c.write(refusal); err != nil {
			return nil, err
		}
	}
}

// accept decodes a line, or returns the answer that refuses it.
func (c *stdioConn) accept(f frame) (message jsonrpc.Message, refusal []byte) {
	switch {
	case f.tooLong:
		return nil, refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message of more than %d bytes", c.max))
	case !json.Valid(f.line):
		return nil, refuse(nil, jsonrpc.CodeParseError, "parse error: each line must be one JSON-RPC message")
	case f.line[0] == '[':
		return nil, refuse(nil, jsonrpc.CodeInvalidRequest, "batches are not supported")
	}
	message, err := jsonrpc.DecodeMessage(f.line)
	if err != nil {
		return nil, refuse(idOf(f.line), jsonrpc.CodeInvalidRequest, "invalid request")
	}
	if r, ok := message.(*jsonrpc.Response); ok && r.Error == nil && len(r.Result) == 0 {
		return nil, refuse(idOf(f.line), jsonrpc.CodeInvalidRequest, "invalid request: neither a method nor an answer")
	}
	request, ok := message.(*jsonrpc.Request)
	if ok && !faithful(request.ID, f.line) {
		return nil, refuse(idOf(f.line), jsonrpc.CodeInvalidRequest, "invalid request: an id is a string, or an integer within ±(2^53-1)")
	}
	if !ok || !request.IsCall() {
		return message, nil
	}
	if request.Method == "subscriptions/listen" {
		if c.listen != nil {
			if no := c.listen(request.Params); no != nil {
				return nil, refuseWith(idOf(f.line), no)
			}
		}
		return message, nil // it has no answer until it is cancelled: nothing to wait for
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.running[request.ID]:
		return nil, refuse(nil, jsonrpc.CodeInvalidRequest, "this id is in use by a call without an answer")
	case c.owed >= maxInFlight:
		return nil, refuse(idOf(f.line), jsonrpc.CodeInternalError, fmt.Sprintf("%d calls are without an answer, which is the most", maxInFlight))
	}
	c.running[request.ID] = true
	c.owed++
	return message, nil
}

// Write sends one message as one line.
func (c *stdioConn) Write(_ context.Context, message jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	response, ok := message.(*jsonrpc.Response)
	if !ok {
		return c.write(data)
	}
	c.mu.Lock()
	// A client may use the id again as soon as it has the answer.
	owed := c.running[response.ID]
	delete(c.running, response.ID)
	if c.waiting > 0 && c.waiting+len(data) > c.maxUnwritten {
		defer c.mu.Unlock()
		return c.drop(response.ID, owed)
	}
	c.waiting += len(data)
	c.mu.Unlock()
	return c.writeAnswer(unwritten{data, owed})
}

// unwritten is an answer that waits, and whether it is owed.
type unwritten struct {
	data []byte
	owed bool
}

// drop leaves a short refusal instead of an answer to whoever is writing, so
// that neither the answer nor the goroutine that brings it has to wait for a
// client that does not read. It is called with mu held.
func (c *stdioConn) drop(id jsonrpc.ID, owed bool) error {
	data, err := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: id, Error: &jsonrpc.Error{
		Code:    jsonrpc.CodeInternalError,
		Message: "the answer was dropped: earlier ones have not been read; what the call did stands",
	}})
	if err != nil {
		return err
	}
	c.waiting += len(data)
	c.dropped = append(c.dropped, unwritten{data, owed})
	return nil
}

// writeAnswer writes an answer that counts as waiting, and then what was
// dropped in the meantime: as long as one waits, its writer comes by here.
func (c *stdioConn) writeAnswer(a unwritten) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	var failure error
	for more := true; more; {
		if err := c.put(a.data); failure == nil {
			failure = err
		}
		a, more = c.written(a)
	}
	return failure
}

// written settles a and returns the next one that was dropped.
func (c *stdioConn) written(a unwritten) (next unwritten, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting -= len(a.data)
	if a.owed {
		if c.owed--; c.owed == 0 && c.idle != nil {
			close(c.idle)
			c.idle = nil
		}
	}
	if len(c.dropped) == 0 {
		return unwritten{}, false
	}
	next, c.dropped = c.dropped[0], c.dropped[1:]
	return next, true
}

func (c *stdioConn) write(data []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.put(data)
}

// put writes one line, with writing held.
func (c *stdioConn) put(data []byte) error {
	if len(data) > joinBytes { // no second copy of what is large
		if _, err := c.out.Write(data); err != nil {
			return err
		}
		data = nil
	}
	_, err := c.out.Write(append(data, '\n'))
	return err
}

// finish waits until every call has its answer: for at most patience, and
// then, with the calls cancelled, for the grace.
func (c *stdioConn) finish(patience time.Duration) {
	c.mu.Lock()
	if c.owed == 0 {
		c.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	c.idle = idle
	c.mu.Unlock()

	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-idle:
		return
	case <-c.closed:
		return
	case <-c.stop:
	case <-timer.C:
	}
	c.cancel(errSessionEnded)
	timer.Reset(c.grace)
	select {
	case <-idle:
	case <-c.closed:
	case <-timer.C:
		c.log.Error("the session ended with calls that did not return")
	}
}

// errSessionEnded is why a call was cancelled that outlived its session.
var errSessionEnded = errors.New("host: the session ended")

// refuse is an error response. The id is null where it could not be read
// (JSON-RPC 2.0, section 5).
func refuse(id json.RawMessage, code int64, message string) []byte {
	return refuseWith(id, &jsonrpc.Error{Code: code, Message: message})
}

func refuseWith(id json.RawMessage, refusal *jsonrpc.Error) []byte {
	data, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"` // null where it is nil
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", id, refusal})
	if err != nil { // id is valid JSON, the rest always encodes
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}`)
	}
	return data
}
