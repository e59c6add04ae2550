package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/fault"
)

// MaxDescribeNames bounds the names of one description.
const MaxDescribeNames = 20

// Description is what a program's author needs to know of one capability.
// What would say nothing is left out: a Description that is the Summary again,
// Errors and an Example that nobody declared.
type Description struct {
	Name        string `json:"name"`
	Signature   string `json:"signature"`
	Summary     string `json:"summary"`
	Description string `json:"description,omitempty"`
	// Input says of each parameter what the signature does not: a JSON object.
	Input json.RawMessage `json:"input"`
	// Output is a field: see Info.Output.
	Output json.RawMessage `json:"output"`
	// Errors are the declared ones, a JSON object of texts by code.
	Errors json.RawMessage `json:"errors,omitempty"`
	Effect Effect          `json:"effect"`
	// Deprecated is there when the capability is on its way out.
	Deprecated *Deprecation `json:"deprecated,omitempty"`
	Example    string       `json:"example,omitempty"`
}

// DescribeResult answers a description. Its lists are never nil.
type DescribeResult struct {
	Capabilities []Description `json:"capabilities"`
	// NotFound are names that are unknown or disabled; the two are the same.
	NotFound []string `json:"not_found"`
	// Renamed says of names not found what the capabilities that once had them
	// are called now.
	Renamed map[string]string `json:"renamed,omitempty"`
	// Truncated are names left out because of MaxSearchResponseBytes: ask
	// for them again, fewer at a time.
	Truncated []string `json:"truncated"`
}

// Describe answers by exact names, without trimming or case folding. It needs
// a subject but is not filtered by policy. Failures are *Error.
func (s *Server) Describe(_ context.Context, subject authz.Subject, names []string) (DescribeResult, error) {
	result := DescribeResult{Capabilities: []Description{}, NotFound: []string{}, Truncated: []string{}}
	if subject.IsZero() {
		return result, &Error{fault.Fault{Class: fault.Unauthenticated, Message: "no subject"}}
	}
	if len(names) == 0 || len(names) > MaxDescribeNames {
		return result, &Error{fault.Fault{Class: fault.InvalidArguments, Path: "names",
			Message: fmt.Sprintf("expected 1 to %d names, got %d", MaxDescribeNames, len(names))}}
	}
	budget := s.limits.MaxSearchResponseBytes - 128
	for _, name := range names {
		e := s.catalog.byName(name)
		if e == nil {
			if len(name) > MaxNameBytes {
				return result, &Error{fault.Fault{Class: fault.InvalidArguments, Path: "names",
					Message: fmt.Sprintf("a name has at most %d bytes", MaxNameBytes)}}
			}
			result.NotFound = append(result.NotFound, name)
			if now := s.catalog.renamed[name]; now != "" {
				if result.Renamed == nil {
					result.Renamed = map[string]string{}
				}
				result.Renamed[name] = now
			}
			continue
		}
		d := Description{
			Name: e.info.Name, Signature: e.info.Signature, Summary: e.info.Summary, Description: e.info.Description,
			Input: json.RawMessage(e.info.Input), Output: json.RawMessage(e.info.Output), Errors: errorTexts(e.info.Errors),
			Effect: e.info.Effect, Deprecated: e.info.Deprecated, Example: e.info.Example,
		}
		if d.Description == d.Summary {
			d.Description = ""
		}
		size := jsonSize(d)
		if size > budget {
			result.Truncated = append(result.Truncated, name)
			continue
		}
		budget -= size
		result.Capabilities = append(result.Capabilities, d)
	}
	return result, nil
}

// errorTexts is a JSON object of the declared errors, in their order; nil if
// there are none.
func errorTexts(declared []DeclaredError) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b) // writes a line end behind each value: white space to JSON
	e.SetEscapeHTML(false)
	for i, d := range declared {
		b.WriteByte("{,"[min(i, 1)])
		if e.Encode(string(d.Code)) != nil {
			return nil // a string always encodes
		}
		b.WriteByte(':')
		if e.Encode(d.Text) != nil {
			return nil
		}
	}
	if b.Len() > 0 {
		b.WriteByte('}')
	}
	return b.Bytes()
}

// jsonSize is the length of v's JSON text with the comma after it.
func jsonSize(v any) int {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return 1 << 30 // never fits
	}
	return b.Len()
}
