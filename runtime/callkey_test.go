package runtime

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/capgen/capgen/authz"
)

const twoLookups = "def main():\n    records.lookup(key = 'a')\n    records.other(key = 'b')\n    return None\n"

// keysOf runs a program, and returns the keys that its handlers got.
func keysOf(t *testing.T, o Options, subject authz.Subject, source string, options ...ExecuteOption) (keys []CallKey) {
	t.Helper()
	handle := func(ctx context.Context, in lookupInput) (record, error) {
		if key, ok := CallKeyFromContext(ctx); ok {
			keys = append(keys, key)
		}
		return record{Key: in.Key}, nil
	}
	s := build(t, o, NewCapability(lookupInfo(), handle), named("records.other", handle))
	if _, err := s.Execute(t.Context(), subject, source, options...); err != nil {
		t.Fatal(err)
	}
	return keys
}

// What a key is made of, written out once more.
func TestCallKeyIsWhatTheDocumentationSays(t *testing.T) {
	host := []byte(strings.Repeat("k", MinHostKeyBytes))
	got := keysOf(t, Options{HostKey: host}, authz.Local(), twoLookups, WithIdempotencyKey("once"))
	field := func(text string) string {
		return "\x00\x00\x00\x00\x00\x00\x00" + string(rune(len(text))) + text
	}
	program := sha256.Sum256([]byte(field(twoLookups) + field("")))
	mac := hmac.New(sha256.New, host)
	mac.Write([]byte(field("capgen call key 1") + field("local") + field("once") + string(program[:]) + field("records.other") + "\x00\x00\x00\x02"))
	arguments := sha256.Sum256([]byte(`{"key":"b","limit":20}`))
	want := CallKey{Key: hex.EncodeToString(mac.Sum(nil)), ArgumentsHash: hex.EncodeToString(arguments[:])}
	if len(got) != 2 || got[1] != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestCallKeys(t *testing.T) {
	host := []byte(strings.Repeat("k", MinHostKeyBytes))
	once := WithIdempotencyKey("once")
	first := keysOf(t, Options{HostKey: host}, authz.Local(), twoLookups, once)
	if len(first) != 2 || first[0].Key == first[1].Key || len(first[0].Key) != 64 {
		t.Fatalf("keys %+v", first)
	}
	if again := keysOf(t, Options{HostKey: host}, authz.Local(), twoLookups, once); again[0] != first[0] || again[1] != first[1] {
		t.Errorf("a repetition has other keys: %+v", again)
	}
	other := authz.Subject{Kind: authz.KindOIDC, Issuer: "https://issuer.example", ID: "u1", Scopes: authz.ScopesOf("records:read")}
	for name, keys := range map[string][]CallKey{
		"client's key": keysOf(t, Options{HostKey: host}, authz.Local(), twoLookups, WithIdempotencyKey("twice")),
		"host key":     keysOf(t, Options{}, authz.Local(), twoLookups, once),
		"subject":      keysOf(t, Options{HostKey: host}, other, twoLookups, once),
		"data":         keysOf(t, Options{HostKey: host}, authz.Local(), twoLookups, once, WithData([]byte(`{"a":1}`))),
		"program":      keysOf(t, Options{HostKey: host}, authz.Local(), twoLookups+"# other\n", once),
	} {
		if keys[0].Key == first[0].Key || keys[0].ArgumentsHash != first[0].ArgumentsHash {
			t.Errorf("another %s: %+v", name, keys[0])
		}
	}
	same := keysOf(t, Options{HostKey: host}, authz.Local(), "def main():\n    records.lookup(key = 'a')\n    records.lookup(key = 'a')\n", once)
	if same[0].Key == same[1].Key || same[0].ArgumentsHash != same[1].ArgumentsHash {
		t.Errorf("the same call twice: %+v", same)
	}
	if none := keysOf(t, Options{HostKey: host}, authz.Local(), twoLookups); len(none) > 0 {
		t.Errorf("keys that nobody asked for: %+v", none)
	}
}

// An authorizer that writes on what it was given changes no hash.
func TestCallKeyIsOfWhatRuns(t *testing.T) {
	scribble := authz.AuthorizerFunc(func(_ context.Context, r authz.Request) error { clear(r.Arguments); return nil })
	key := []byte(strings.Repeat("k", MinHostKeyBytes))
	want := keysOf(t, Options{HostKey: key}, authz.Local(), twoLookups, WithIdempotencyKey("once"))
	got := keysOf(t, Options{HostKey: key, Authorizer: scribble}, authz.Local(), twoLookups, WithIdempotencyKey("once"))
	if got[0] != want[0] {
		t.Errorf("got %+v, want %+v", got[0], want[0])
	}
}

func TestBadIdempotencyKeys(t *testing.T) {
	s := build(t, Options{}, NewCapability(lookupInfo(), lookup))
	for _, key := range []string{"", strings.Repeat("k", MaxIdempotencyKeyBytes+1)} {
		_, err := s.Execute(t.Context(), authz.Local(), lookupProgram, WithIdempotencyKey(key))
		if !errors.Is(err, ErrInvalidArguments) || !strings.Contains(err.Error(), "idempotency_key: expected 1 to 64 bytes") {
			t.Errorf("%d bytes: %v", len(key), err)
		}
	}
	if _, err := s.Execute(t.Context(), authz.Local(), lookupProgram, WithIdempotencyKey(strings.Repeat("k", MaxIdempotencyKeyBytes))); err != nil {
		t.Error(err)
	}
	b := NewBuilder(Options{Authorizer: authz.AllowAll(), HostKey: []byte("short"), IdleWorkers: -2})
	b.Register(NewCapability(lookupInfo(), lookup))
	_, err := b.Build(t.Context())
	for _, want := range []string{"Options.HostKey has 5 bytes", "Options.IdleWorkers is -2"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
