package audit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
)

// MinSecretBytes is the least length of a Key's Secret.
const MinSecretBytes = 32

// Key is what the fingerprints of arguments are made with. Without the secret,
// nobody can tell by trying which telephone number a fingerprint is of; with
// it, an investigator can ask whether a call had certain arguments. Each
// deployment has its own, and a new one now and then: its ID stands in each
// fingerprint.
type Key struct {
	// ID is 1 to 32 letters, digits, '-', '_' and '.'.
	ID string
	// Secret has at least MinSecretBytes.
	Secret []byte
}

var keyID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,32}$`)

// Check returns nil if fingerprints can be made with the key.
func (k Key) Check() error {
	if !keyID.MatchString(k.ID) {
		return errors.New("audit: a key's ID is 1 to 32 letters, digits, '-', '_' and '.'")
	}
	if len(k.Secret) < MinSecretBytes {
		return fmt.Errorf("audit: the secret of key %s has %d bytes, at least %d are needed", k.ID, len(k.Secret), MinSecretBytes)
	}
	return nil
}

// Fingerprint is the key's ID, a colon, and the HMAC-SHA256 in hexadecimal of
// a capability's id and canonical arguments. Two calls have the same one when
// both are the same.
func (k Key) Fingerprint(capability string, canonical []byte) string {
	mac := hmac.New(sha256.New, k.Secret)
	fmt.Fprintf(mac, "capgen audit fingerprint 1\n%d\n%s\n", len(capability), capability)
	mac.Write(canonical)
	return k.ID + ":" + hex.EncodeToString(mac.Sum(nil))
}
