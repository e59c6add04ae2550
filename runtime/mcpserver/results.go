package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
)

// ResultStore keeps what is too large to answer with; package results has one.
// It must be safe for concurrent use, and give a result to nobody but the
// subject that it was kept for.
type ResultStore interface {
	Put(subject authz.Subject, text []byte) (id string, err error)
	Get(subject authz.Subject, id string) ([]byte, error)
}

const (
	// DefaultMaxResultBytes of an answer's result, in JSON text, that is not
	// kept in a ResultStore instead.
	DefaultMaxResultBytes = 256 << 10
	// maxPageBytes of a page, unless its first item alone is larger.
	maxPageBytes = 256 << 10
	// resultPrefix begins the URI of each kept result.
	resultPrefix = "capgen://results/"
	resultType   = "application/json"
)

// link is a result that is kept instead of being answered with.
type link struct {
	uri   string
	bytes int
}

// keep stores a result that is too large, and returns its link. Where there is
// no store, or no room in it, the result stays in the answer: it is never cut.
func (t *Tools) keep(ctx context.Context, subject authz.Subject, result []byte) *link {
	if t.results == nil || len(result) <= t.maxResult || !json.Valid(result) {
		return nil
	}
	id, err := t.results.Put(subject, result)
	if err != nil {
		t.log.WarnContext(ctx, "a large result is not kept", "bytes", len(result), "error", err)
		return nil
	}
	return &link{uri: resultPrefix + id, bytes: len(result)}
}

// note says what a model must know of a result that is not there.
func (l *link) note() string {
	return fmt.Sprintf("the result has %d bytes, too many to show: read the resource %s, or %s?offset=0&limit=100 for a part of its items or members; it is kept for some minutes. "+
		"Better, return less: a summary, a count, a page", l.bytes, l.uri, l.uri)
}

func (l *link) content() *mcp.ResourceLink {
	size := int64(l.bytes)
	return &mcp.ResourceLink{URI: l.uri, Name: "result", MIMEType: resultType, Size: &size}
}

// resultTemplate is what clients see of kept results; they are in no list.
func resultTemplate() *mcp.ResourceTemplate {
	return &mcp.ResourceTemplate{
		Name: "result", URITemplate: resultPrefix + "{+id}", MIMEType: resultType,
		Description: "A result that execute linked to. With ?offset=N&limit=M, a part of its items or members.",
	}
}

// readResult answers resources/read. Whatever the subject may not have is not
// found.
func (t *Tools) readResult(ctx context.Context, request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	subject, err := t.subjects.Subject(ctx)
	if err != nil {
		return nil, notFound(request.Params.URI)
	}
	rest, ok := strings.CutPrefix(request.Params.URI, resultPrefix)
	id, query, paged := strings.Cut(rest, "?")
	if !ok {
		return nil, notFound(request.Params.URI)
	}
	text, err := t.results.Get(subject, id)
	if err != nil {
		return nil, notFound(request.Params.URI)
	}
	if paged {
		offset, limit, err := readPage(query)
		if err == nil {
			text, err = page(text, resultPrefix+id, offset, limit)
		}
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
		}
	}
	return &mcp.ReadResourceResult{
		// Left out it means public: any cache on the way might give one
		// subject's result to another.
		Cacheable: mcp.Cacheable{CacheScope: "private"},
		Contents:  []*mcp.ResourceContents{{URI: request.Params.URI, MIMEType: resultType, Text: string(text)}},
	}, nil
}

func notFound(uri string) error {
	data, err := json.Marshal(map[string]string{"uri": uri})
	if err != nil { // texts always encode
		data = nil
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "resource not found", Data: data}
}

// readPage reads offset and limit, each at most once and nothing else.
func readPage(query string) (offset, limit int, err error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return 0, 0, fmt.Errorf("the query of the URI does not read")
	}
	limit = 100
	for name, given := range values {
		n, err := strconv.Atoi(given[0])
		switch {
		case len(given) > 1 || err != nil || n < 0:
			return 0, 0, fmt.Errorf("%s is a whole number, given once", strconv.Quote(name))
		case name == "offset":
			offset = n
		case name == "limit" && n > 0:
			limit = n
		default:
			return 0, 0, fmt.Errorf("the query of the URI is offset, from 0, and limit, from 1")
		}
	}
	return offset, limit, nil
}

// page is part of an array's items or an object's members, as one JSON object
// that says where the next part is. Values stay the bytes that they were.
func page(text []byte, uri string, offset, limit int) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	open, err := d.Token()
	if err != nil {
		return nil, fmt.Errorf("the result does not read")
	}
	isObject := open == json.Delim('{')
	if !isObject && open != json.Delim('[') {
		return nil, fmt.Errorf("the result is no list and no object: read it without offset and limit")
	}
	var part bytes.Buffer
	total, taken := 0, 0
	full := false
	for ; d.More(); total++ {
		var key []byte
		if isObject {
			name, err := d.Token()
			if err == nil {
				key, err = encode(name)
			}
			if err != nil {
				return nil, fmt.Errorf("the result does not read")
			}
			key = append(key, ':')
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("the result does not read")
		}
		if total < offset || taken == limit || full {
			continue
		}
		if full = taken > 0 && part.Len()+len(key)+len(value) > maxPageBytes; full {
			continue
		}
		if taken > 0 {
			part.WriteByte(',')
		}
		part.Write(key)
		part.Write(value)
		taken++
	}
	name, opened, closed := "items", "[", "]"
	if isObject {
		name, opened, closed = "members", "{", "}"
	}
	next := ""
	if offset+taken < total && taken > 0 {
		uri, err := encode(fmt.Sprintf("%s?offset=%d&limit=%d", uri, offset+taken, limit))
		if err != nil {
			return nil, err
		}
		next = `,"next":` + string(uri)
	}
	return fmt.Appendf(nil, `{"%s":%s%s%s,"total":%d%s}`, name, opened, part.Bytes(), closed, total, next), nil
}
