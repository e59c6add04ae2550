package token

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// MinSecretBytes is how long a secret is at least.
const MinSecretBytes = 32

var validWord = regexp.MustCompile(`^[a-z0-9_-]{1,32}$`)

// Key is a secret and its name, which tokens bear: 1 to 32 of a to z, 0 to 9,
// _ and -.
type Key struct {
	ID     string
	Secret []byte // at least MinSecretBytes, random
}

// Ring is the keys of a store: the first one issues, all verify. A key that was
// replaced stays until the tokens it issued have expired. It may be used by
// several goroutines at a time.
type Ring struct{ keys []Key }

// NewRing returns a ring of at least one key.
func NewRing(keys ...Key) (*Ring, error) {
	if len(keys) == 0 {
		return nil, errors.New("token: no key")
	}
	for i, k := range keys {
		switch {
		case !validWord.MatchString(k.ID):
			return nil, fmt.Errorf("token: the name of key %d is not 1 to 32 of a to z, 0 to 9, _ and -", i+1)
		case len(k.Secret) < MinSecretBytes:
			return nil, fmt.Errorf("token: the secret of key %s has less than %d bytes", k.ID, MinSecretBytes)
		case slices.ContainsFunc(keys[:i], func(other Key) bool { return other.ID == k.ID }):
			return nil, fmt.Errorf("token: two keys are called %s", k.ID)
		}
	}
	return &Ring{slices.Clone(keys)}, nil
}

// tag authenticates a payload under a key, for one kind: HMAC-SHA256 (RFC 2104)
// with a key derived for the kind (HKDF, RFC 5869), over an encoding in which
// every part has its length, so that no two inputs share one.
func (k Key) tag(kind string, payload []byte) ([]byte, error) {
	derived, err := hkdf.Key(sha256.New, k.Secret, nil, "govern/"+kind+"/v1", sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("token: %w", err)
	}
	mac := hmac.New(sha256.New, derived)
	for _, part := range [][]byte{[]byte(k.ID), []byte(kind), payload} {
		mac.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write(part)
	}
	return mac.Sum(nil), nil
}
