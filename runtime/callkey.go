package runtime

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/fault"
)

// MaxIdempotencyKeyBytes bounds the key that a client gives an execution.
const MaxIdempotencyKeyBytes = 64

// MinHostKeyBytes is the least length of Options.HostKey.
const MinHostKeyBytes = 32

// CallKey names one native call of an execution that its client gave an
// idempotency key: the same call of a repeated execution has the same one. A
// handler hands it to a system that does nothing twice under one key, or keeps
// it with what it did. The server itself stores nothing, and a repeated
// execution runs again.
//
// The same Key with another ArgumentsHash is a program that behaves otherwise
// than it did, as when it reads what has changed meanwhile: a handler refuses
// it, and does not take the earlier call's outcome for this one's.
type CallKey struct {
	// Key is the HMAC-SHA256, under the host's key, of the subject, the
	// client's key, the program, its data, the capability's id and the call's place in
	// the program; in hexadecimal, 64 characters.
	Key string
	// ArgumentsHash is the SHA-256 of the canonical arguments, in hexadecimal.
	ArgumentsHash string
}

type callKeyContext struct{}

// CallKeyFromContext is the key of the call whose handler got ctx. It is false
// when the client gave no idempotency key.
func CallKeyFromContext(ctx context.Context) (CallKey, bool) {
	key, ok := ctx.Value(callKeyContext{}).(CallKey)
	return key, ok
}

// keyring derives the keys of one execution's calls.
type keyring struct {
	host    []byte
	subject string
	key     string
	program [sha256.Size]byte
}

// newKeyring refuses a key that is too long.
func newKeyring(host []byte, subject authz.Subject, key, source string, data []byte) (*keyring, *fault.Fault) {
	if key == "" || len(key) > MaxIdempotencyKeyBytes {
		return nil, &fault.Fault{
			Class: fault.InvalidArguments, Path: "idempotency_key",
			Message: fmt.Sprintf("expected 1 to %d bytes, got %d", MaxIdempotencyKeyBytes, len(key)),
		}
	}
	program := sha256.New()
	field(program, source)
	field(program, string(data))
	k := &keyring{host: host, subject: subject.String(), key: key}
	program.Sum(k.program[:0])
	return k, nil
}

// with returns ctx with the key of one call. Without a keyring it is ctx.
func (k *keyring) with(ctx context.Context, id string, path []uint32, canonical [sha256.Size]byte) context.Context {
	if k == nil {
		return ctx
	}
	mac := hmac.New(sha256.New, k.host)
	field(mac, "capgen call key 1")
	field(mac, k.subject)
	field(mac, k.key)
	mac.Write(k.program[:])
	field(mac, id)
	for _, n := range path { // it comes last, so that its length needs no mark
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], n)
		mac.Write(b[:])
	}
	return context.WithValue(ctx, callKeyContext{}, CallKey{
		Key:           hex.EncodeToString(mac.Sum(nil)),
		ArgumentsHash: hex.EncodeToString(canonical[:]),
	})
}

// hash is that of canonical arguments, if anybody will ask for it.
func (k *keyring) hash(canonical []byte) (sum [sha256.Size]byte) {
	if k != nil {
		sum = sha256.Sum256(canonical)
	}
	return sum
}

// field writes text after its length, so that no two lists of fields are alike.
func field(h hash.Hash, text string) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(text)))
	h.Write(n[:])
	h.Write([]byte(text))
}

// hostKey is the given key, or a random one.
func hostKey(given []byte) ([]byte, error) {
	switch {
	case len(given) == 0:
		key := make([]byte, MinHostKeyBytes)
		rand.Read(key)
		return key, nil
	case len(given) < MinHostKeyBytes:
		return nil, fmt.Errorf("Options.HostKey has %d bytes, at least %d are needed", len(given), MinHostKeyBytes)
	}
	return append([]byte(nil), given...), nil
}
