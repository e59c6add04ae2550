package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
)

// MaxCredentialBytes bounds a secret.
const MaxCredentialBytes = 64 << 10

// CredentialSource is a reference to a secret, which Build reads. From is
// "env", and Name a variable of the environment, or "file" and an absolute
// path.
type CredentialSource struct{ Credential, From, Name, Host string }

// Credentials adds secrets that handlers need; generated code calls it. Build
// fails where one is not there. It panics after Build.
func (b *Builder) Credentials(sources ...CredentialSource) {
	if b.built {
		panic("runtime: Credentials after Build")
	}
	b.sources = append(b.sources, sources...)
}

// Credential is a secret for one host. However it is printed, logged or
// encoded, the secret does not show. The zero Credential has none.
type Credential struct {
	name, host string
	// The function hides the text from everything that looks at fields.
	reveal func() string
}

// NewCredential is a credential as Build reads it, for tests of handlers.
func NewCredential(name, host, secret string) Credential {
	return Credential{name: name, host: host, reveal: func() string { return secret }}
}

// Format writes the name, whatever the verb.
func (c Credential) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "credential %s", c.name) }

// MarshalText is what encoders write instead: the name.
func (c Credential) MarshalText() ([]byte, error) { return []byte("credential " + c.name), nil }

// Secret is the secret, for a connection to host: the manifest's, with its
// port if it names one. For any other it is an error.
func (c Credential) Secret(host string) (string, error) {
	if c.reveal == nil || !strings.EqualFold(host, c.host) {
		return "", fmt.Errorf("runtime: credential %s is not for host %s", quoted(c.name), quoted(host))
	}
	return c.reveal(), nil
}

// For is the secret, for a request to u: an https URL of the credential's
// host, or an http one where that is this machine (RFC 8252 section 7.3).
func (c Credential) For(u *url.URL) (string, error) {
	port := map[string]string{"https": "443", "http": "80"}[u.Scheme]
	if port == "" || u.Scheme == "http" && !isLoopback(u.Hostname()) {
		return "", fmt.Errorf("runtime: credential %s is not sent over %s to %s", quoted(c.name), quoted(u.Scheme), quoted(u.Host))
	}
	host := u.Host
	if !strings.Contains(c.host, ":") {
		host = strings.TrimSuffix(host, ":"+port)
	} else if u.Port() == "" {
		host += ":" + port
	}
	return c.Secret(host)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

type credentialsContext struct{}

// WithCredentials returns a context as handlers get it, for tests of handlers.
func WithCredentials(ctx context.Context, list ...Credential) context.Context {
	if len(list) == 0 {
		return ctx
	}
	return context.WithValue(ctx, credentialsContext{}, list)
}

// CredentialFromContext is the credential with that name in the context that a
// handler got. It is false where the deployment has none.
func CredentialFromContext(ctx context.Context, name string) (Credential, bool) {
	list, _ := ctx.Value(credentialsContext{}).([]Credential)
	for _, c := range list {
		if c.name == name {
			return c, true
		}
	}
	return Credential{}, false
}

// credentials reads every secret. Its errors name references, never what is
// there.
func (b *Builder) credentials() (list []Credential, problems []error) {
	if b.trial {
		return nil, nil
	}
	for _, s := range b.sources {
		secret, err := s.read()
		if err != nil {
			problems = append(problems, fmt.Errorf("credential %s: %w", s.Credential, err))
			continue
		}
		list = append(list, NewCredential(s.Credential, s.Host, secret))
	}
	return list, problems
}

func (s CredentialSource) read() (secret string, err error) {
	switch s.From {
	case "env":
		secret = os.Getenv(s.Name)
		if secret == "" {
			return "", fmt.Errorf("the variable %s is not set", s.Name)
		}
	case "file":
		if secret, err = readSecret(s.Name); err != nil {
			return "", err
		}
		if secret == "" {
			return "", fmt.Errorf("the file %s is empty", s.Name)
		}
	default:
		return "", fmt.Errorf("from %s is unknown", quoted(s.From))
	}
	if len(secret) > MaxCredentialBytes {
		return "", fmt.Errorf("%s holds more than %d bytes", s.Name, MaxCredentialBytes)
	}
	return secret, nil
}

// readSecret is the text of a regular file without its last line end.
func readSecret(name string) (string, error) {
	// Opening what is no file, such as a pipe, may wait for ever.
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New(name + " is no regular file")
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxCredentialBytes+2))
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), err
}
