package approve

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// maxKeyBytes bounds a key file.
const maxKeyBytes = 4 << 10

const keyBlock = "PRIVATE KEY"

// key is a signer that holds the key.
type key struct {
	private ed25519.PrivateKey
	id      string
}

func newKey(private ed25519.PrivateKey) *key {
	return &key{private, KeyID(private.Public().(ed25519.PublicKey))}
}

func (k *key) KeyID() string { return k.id }

func (k *key) Sign(_ context.Context, pae []byte) ([]byte, error) {
	return ed25519.Sign(k.private, pae), nil
}

// GenerateKey makes a key, writes it to a new file that its owner alone can read
// (PKCS #8 in PEM, RFC 5958 and 7468), durable when it returns, and returns the
// public half, for a line of the trust root.
func GenerateKey(path string) (ed25519.PublicKey, error) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, fmt.Errorf("approve: generate a key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("approve: generate a key: %w", err)
	}
	if err := createPrivate(path, pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: der})); err != nil {
		return nil, fmt.Errorf("approve: generate a key: %w", err)
	}
	return public, nil
}

// OpenKey returns the signer with the key in a file as GenerateKey makes one. A
// file that is not this account's own, or that others can read, is refused, and
// so is a link.
func OpenKey(path string) (Signer, error) {
	text, err := readPrivate(path)
	if err != nil {
		return nil, fmt.Errorf("approve: open the key: %w", err)
	}
	private, err := parsePrivate(text)
	if err != nil {
		return nil, fmt.Errorf("approve: open the key %s: %w", path, err)
	}
	return newKey(private), nil
}

func parsePrivate(text []byte) (ed25519.PrivateKey, error) {
	block, rest := pem.Decode(text)
	if block == nil || len(rest) > 0 || block.Type != keyBlock || len(block.Headers) > 0 {
		return nil, errors.New("it is not one private key in PEM")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("it is not a private key in PKCS #8") // the error might show it
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, errors.New("it is not a key of Ed25519")
	}
	return private, nil
}
