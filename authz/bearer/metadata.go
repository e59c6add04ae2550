package bearer

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// wellKnown is where the metadata of a protected resource is (RFC 9728 section
// 3).
const wellKnown = "/.well-known/oauth-protected-resource"

// ResourceMetadata is the URL of the protected-resource metadata, which a
// challenge names (RFC 9728 section 5.1).
func (v *Verifier) ResourceMetadata() string { return v.metadataURL }

// Public are the handlers of that metadata by path: the one that the resource's
// path is behind, and the root. They answer without credentials.
func (v *Verifier) Public() map[string]http.Handler { return maps.Clone(v.metadata) }

// describe makes the metadata of a resource.
func describe(resource string, issuers, scopes []string) (where string, handlers map[string]http.Handler, err error) {
	document, err := json.Marshal(struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Methods  []string `json:"bearer_methods_supported"`
		Scopes   []string `json:"scopes_supported,omitempty"`
	}{resource, issuers, []string{"header"}, scopes})
	if err != nil {
		return "", nil, fmt.Errorf("bearer: %w", err)
	}
	u, err := url.Parse(resource)
	if err != nil {
		return "", nil, fmt.Errorf("bearer: %w", err)
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "GET only", http.StatusMethodNotAllowed)
			return
		}
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "max-age=300")
		h.Set("X-Content-Type-Options", "nosniff")
		w.Write(document)
	})
	handlers = map[string]http.Handler{wellKnown: handler, wellKnown + u.Path: handler}
	return strings.TrimSuffix(resource, u.EscapedPath()) + wellKnown + u.EscapedPath(), handlers, nil
}
