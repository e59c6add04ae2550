package mcphttp

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/capgen/capgen/authz"
)

// lacksScope answers a call of a tool with scopes of its own, by a subject
// without one of them, with a challenge that names all that are needed, so that
// a client can ask its user once (RFC 6750, section 3.1). It decides nothing
// that is not decided again where the call is dispatched: what it cannot read,
// it lets pass.
func (s *Server) lacksScope(w http.ResponseWriter, r *http.Request) bool {
	if len(s.toolScopes) == 0 || r.Method != http.MethodPost {
		return false
	}
	body, err := peek(r)
	if err != nil {
		return false
	}
	var call struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	if json.Unmarshal(body, &call) != nil || call.Method != "tools/call" {
		return false
	}
	subject, ok := subjectIn(auth.TokenInfoFromContext(r.Context()))
	needed := s.toolScopes[call.Params.Name]
	if !ok || !slices.ContainsFunc(needed, func(scope string) bool { return !subject.Scopes.Has(scope) }) {
		return false
	}
	s.challenge(w, http.StatusForbidden, "insufficient_scope", "the token lacks a scope that this tool needs", needed...)
	return true
}

// peek is the body of a request, which stays there. readBody has read and bounded
// it.
func peek(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, err
}

// subjectIn is the subject that identify has put there.
func subjectIn(info *auth.TokenInfo) (authz.Subject, bool) {
	if info == nil {
		return authz.Subject{}, false
	}
	subject, ok := info.Extra[subjectKey].(authz.Subject)
	return subject, ok && !subject.IsZero()
}
