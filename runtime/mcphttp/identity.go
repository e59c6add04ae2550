package mcphttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/capgen/capgen/authz"
)

// maxTokenBytes bounds a bearer token; net/http bounds all headers together.
const maxTokenBytes = 16 << 10

// subjectKey is where a request's TokenInfo holds its authz.Subject.
const subjectKey = "capgen/subject"

// identify finds out who a request comes from, or answers with a challenge.
// The SDK learns it in the one way that it has, its TokenInfo, with which it
// also holds a session to the subject that opened it. The token itself goes
// no further than the verifier.
func (s *Server) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		subject := s.anonymous
		if s.verifier != nil {
			token, ok := bearer(r)
			if !ok {
				s.challenge(w, http.StatusUnauthorized, "", "a bearer token is required")
				return
			}
			if r.URL.Query().Has("access_token") { // one way only, and not one that logs keep (RFC 6750, sections 2 and 5.3)
				s.challenge(w, http.StatusBadRequest, "invalid_request", "a token belongs into the Authorization header alone")
				return
			}
			var err error
			if subject, err = s.verify(r.Context(), token); err != nil {
				s.unverified(w, r, err)
				return
			}
		}
		for _, scope := range s.scopes {
			if !subject.Scopes.Has(scope) {
				s.challenge(w, http.StatusForbidden, "insufficient_scope", "the token lacks a scope")
				return
			}
		}
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer verified")
		known := func(context.Context, string, *http.Request) (*auth.TokenInfo, error) {
			return &auth.TokenInfo{UserID: subject.String(), Extra: map[string]any{subjectKey: subject}}, nil
		}
		auth.RequireBearerToken(known, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(
			http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.Header.Del("Authorization")
				next.ServeHTTP(w, r)
			})).ServeHTTP(w, r)
	})
}

// verify asks the verifier, and trusts no answer without a subject.
func (s *Server) verify(ctx context.Context, token string) (subject authz.Subject, err error) {
	defer func() {
		if p := recover(); p != nil {
			subject, err = authz.Subject{}, fmt.Errorf("mcphttp: panic in the verifier: %.200v", p)
		}
	}()
	subject, err = s.verifier.Verify(ctx, token)
	if err == nil && subject.IsZero() {
		err = errors.New("mcphttp: the verifier returned nobody")
	}
	return subject, err
}

// unverified answers a request whose token gave no subject. What the verifier
// said goes to the log alone.
func (s *Server) unverified(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, authz.ErrUnauthenticated) {
		s.log.InfoContext(r.Context(), "token refused", "error", err)
		s.challenge(w, http.StatusUnauthorized, "invalid_token", "the bearer token is not good")
		return
	}
	s.log.ErrorContext(r.Context(), "verify token", "error", err)
	refuseForNow(w, 1, "who sent the request cannot be found out now; nothing ran")
}

// bearer is the token in the one Authorization header of a request (RFC 6750,
// section 2.1). A token anywhere else is not looked for.
func bearer(r *http.Request) (token string, ok bool) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || !isToken(token) {
		return "", false
	}
	return token, true
}

// isToken reports whether text is a b64token (RFC 6750, section 2.1) of
// bounded length.
func isToken(text string) bool {
	body := strings.TrimRight(text, "=")
	if body == "" || len(text) > maxTokenBytes {
		return false
	}
	for i := range len(body) {
		c := body[i]
		alphanumeric := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !alphanumeric && !strings.ContainsRune("-._~+/", rune(c)) {
			return false
		}
	}
	return true
}

// challenge tells a client how to authenticate (RFC 6750 section 3, RFC 9728
// section 5.1). Without credentials it names no error.
//
// It names every scope that is needed: those of each request, and further.
func (s *Server) challenge(w http.ResponseWriter, status int, code, message string, further ...string) {
	var params []string
	scopes := slices.Clone(s.scopes)
	for _, scope := range further {
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	if code != "" {
		params = append(params, `error="`+code+`"`)
	}
	if len(scopes) > 0 {
		params = append(params, `scope="`+strings.Join(scopes, " ")+`"`)
	}
	if s.resourceMetadata != "" {
		params = append(params, `resource_metadata="`+s.resourceMetadata+`"`)
	}
	w.Header().Set("WWW-Authenticate", strings.TrimSpace("Bearer "+strings.Join(params, ", ")))
	refuse(w, status, codeRefused, message)
}

// subjects brings the subject from the SDK's TokenInfo into the context, for
// authz.ContextSubject. A request that came past identify is nobody's.
func subjects(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		subject, ok := subjectOf(request)
		if !ok {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
		}
		return next(authz.WithSubject(ctx, subject), method, request)
	}
}

func subjectOf(request mcp.Request) (authz.Subject, bool) {
	extra := request.GetExtra()
	if extra == nil {
		return authz.Subject{}, false
	}
	return subjectIn(extra.TokenInfo)
}
