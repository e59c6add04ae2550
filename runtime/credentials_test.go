package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capgen/capgen/authz"
)

const hidden = "hunter2-correct-horse"

// Handlers get what the deployment refers to, the authorizer and the log do
// not, and the program sees nothing of it.
func TestHandlersGetCredentials(t *testing.T) {
	t.Setenv("CAPGEN_TEST_STORE", hidden)
	file := filepath.Join(t.TempDir(), "upstream")
	if err := os.WriteFile(file, []byte(hidden+"-2\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var got []string
	handle := func(ctx context.Context, in lookupInput) (record, error) {
		for _, name := range []string{"store", "upstream", "other"} {
			c, ok := CredentialFromContext(ctx, name)
			secret, err := c.Secret("a.example")
			got = append(got, fmt.Sprintf("%t %s %t", ok, secret, err != nil))
			logger.Info("call", "credential", c, "of", fmt.Sprintf("%v %+v %#v %s %q %x", c, &c, c, c, c, c))
			log.WriteString(fmt.Sprintf("%+v %#v", struct{ inside any }{c}, struct{ Credential }{c}))
			text, _ := json.Marshal(c)
			log.Write(text)
			if err != nil {
				log.WriteString(err.Error())
			}
		}
		return record{Key: in.Key}, fmt.Errorf("a failure")
	}
	var authorized context.Context
	b := NewBuilder(Options{
		Authorizer: authz.AuthorizerFunc(func(ctx context.Context, _ authz.Request) error { authorized = ctx; return nil }),
		Logger:     logger, IdleWorkers: NoIdleWorkers,
	})
	b.Credentials(
		CredentialSource{Credential: "store", From: "env", Name: "CAPGEN_TEST_STORE", Host: "a.example"},
		CredentialSource{Credential: "upstream", From: "file", Name: file, Host: "b.example"},
	)
	b.Register(NewCapability(lookupInfo(), handle))
	s, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x, err := s.Execute(t.Context(), authz.Local(), "def main():\n    return records.lookup(key = 'a')\n")
	if want := []string{"true " + hidden + " false", "true  true", "false  true"}; strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("handlers got %q, want %q", got, want)
	}
	if _, ok := CredentialFromContext(authorized, "store"); ok {
		t.Error("the authorizer got it")
	}
	receipt, _ := json.Marshal(x)
	for what, text := range map[string]string{"log": log.String(), "receipt": string(receipt), "error": fmt.Sprint(err)} {
		if strings.Contains(text, "hunter2") || strings.Contains(text, fmt.Sprintf("%x", hidden)) {
			t.Errorf("the %s has it: %s", what, text)
		}
	}
	if !strings.Contains(log.String(), "credential store") {
		t.Errorf("the log does not even have the name: %s", &log)
	}
}

func TestBuildNeedsCredentials(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	t.Setenv("CAPGEN_TEST_EMPTY", "")
	t.Setenv("CAPGEN_TEST_LONG", strings.Repeat("x", MaxCredentialBytes+1))
	b := NewBuilder(Options{Authorizer: authz.AllowAll()})
	b.Credentials(
		CredentialSource{"a", "env", "CAPGEN_TEST_NOT_SET", "a.example"},
		CredentialSource{"b", "env", "CAPGEN_TEST_EMPTY", "a.example"},
		CredentialSource{"c", "file", filepath.Join(dir, "missing"), "a.example"},
		CredentialSource{"d", "file", write("empty", "\n"), "a.example"},
		CredentialSource{"e", "file", dir, "a.example"},
		CredentialSource{"f", "file", write("long", strings.Repeat("x", MaxCredentialBytes+1)), "a.example"},
		CredentialSource{"g", "env", "CAPGEN_TEST_LONG", "a.example"},
		CredentialSource{"h", "vault", "x", "a.example"},
	)
	_, err := b.Build(t.Context())
	for _, want := range []string{
		"credential a: the variable CAPGEN_TEST_NOT_SET is not set", "credential b: the variable CAPGEN_TEST_EMPTY is not set",
		"credential c: ", "credential d: the file", "credential e: " + dir + " is no regular file",
		"credential f: " + filepath.Join(dir, "long") + " holds more than 65536 bytes", "credential g: CAPGEN_TEST_LONG holds more than 65536 bytes",
		`credential h: from "vault" is unknown`,
	} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("lacks %q in:\n%v", want, err)
		}
	}
	if strings.Contains(fmt.Sprint(err), "xxx") {
		t.Errorf("the error has a secret: %v", err)
	}
	mustPanic(t, "Credentials after Build", func() { b.Credentials() })
	mustPanic(t, "Require after Build", func() { b.Require() })
}

// A secret goes to its host, and to no other.
func TestCredentialsAreBoundToTheirHost(t *testing.T) {
	for _, test := range []struct {
		host, url string
		want      bool
	}{
		{"a.example", "https://a.example/x", true},
		{"a.example", "https://A.Example:443/x", true},
		{"a.example:8443", "https://a.example:8443", true},
		{"a.example:443", "https://a.example", true},
		{"localhost:80", "http://localhost", true},
		{"127.0.0.1:8080", "http://127.0.0.1:8080/", true},
		{"a.example", "https://a.example:8443", false},
		{"a.example:8443", "https://a.example", false},
		{"a.example", "https://b.a.example", false},
		{"a.example", "https://a.example.evil.example", false},
		{"a.example", "https://a.example@evil.example", false},
		{"a.example", "https://evil.example/a.example", false},
		{"a.example", "http://a.example", false},
		{"a.example", "ftp://a.example", false},
		{"a.example", "//a.example", false},
		{"localhost", "http://localhost.evil.example", false},
	} {
		u, err := url.Parse(test.url)
		if err != nil {
			t.Fatal(err)
		}
		secret, err := NewCredential("n", test.host, hidden).For(u)
		if got := err == nil && secret == hidden; got != test.want || !got && (secret != "" || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%s at %s: %q, %v", test.host, test.url, secret, err)
		}
	}
	if _, err := (Credential{}).Secret(""); err == nil {
		t.Error("the zero Credential has a secret")
	}
}
