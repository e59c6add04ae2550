package token

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

var (
	// ErrInvalid is the error for a text that this ring did not make, or not for
	// this.
	ErrInvalid = errors.New("token: not a token of this store for this use")
	// ErrExpired is the error for a token whose time has come.
	ErrExpired = errors.New("token: it has expired")
	// ErrKeyUnknown is the error for a token of a key that the ring does not hold
	// any more.
	ErrKeyUnknown = errors.New("token: its key is not known any more")
)

// version starts every token.
const version = "gv1"

// maxTextBytes bounds a token.
const maxTextBytes = 2048

// Claims is what a token says.
type Claims struct {
	Kind   string   // what the token is for, a word as a key's name is
	Object string   // the id of what it is about, at most 128 bytes
	Hash   [32]byte // of what it is about
	Store  string   // the id of the store: a copy of it elsewhere is another one
	// Nonce is random; a store that lets a token count once remembers it.
	Nonce [16]byte
	// Issued is when Issue made it, Expires when it is no good any more.
	Issued, Expires Instant
}

// payload is the form of claims in a token; instants in microseconds.
type payload struct {
	Boot      string `json:"boot"`
	UpExpires int64  `json:"bt_exp"`
	Expires   int64  `json:"exp"`
	Hash      string `json:"hash"`
	Issued    int64  `json:"iat"`
	Nonce     string `json:"nonce"`
	Object    string `json:"object"`
	Store     string `json:"store"`
}

// encoding refuses padding bits that say something: a token has one spelling.
func encoding() *base64.Encoding { return base64.RawURLEncoding.Strict() }

// Issue makes a token that expires ttl after now. Nonce and instants of c are
// not read: the token has its own.
func (r *Ring) Issue(c Claims, now Instant, ttl time.Duration) (text string, err error) {
	switch {
	case !validWord.MatchString(c.Kind):
		return "", fmt.Errorf("token: the kind %q is none", c.Kind)
	case c.Object == "" || len(c.Object) > 128 || c.Store == "" || len(c.Store) > 128 || len(now.Boot) > 128:
		return "", errors.New("token: object, store and boot are of at most 128 bytes, and the first two not empty")
	case ttl <= 0:
		return "", errors.New("token: it would have expired already")
	}
	rand.Read(c.Nonce[:])
	c.Expires = now.Later(ttl)
	body, err := json.Marshal(payload{
		Boot: now.Boot, UpExpires: c.Expires.Up.Microseconds(), Expires: c.Expires.Wall.UnixMicro(),
		Hash: hex.EncodeToString(c.Hash[:]), Issued: now.Wall.UnixMicro(), Nonce: hex.EncodeToString(c.Nonce[:]),
		Object: c.Object, Store: c.Store,
	})
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	return r.keys[0].seal(c.Kind, body)
}

// seal is the token of a payload.
func (k Key) seal(kind string, body []byte) (string, error) {
	tag, err := k.tag(kind, body)
	if err != nil {
		return "", err
	}
	return strings.Join([]string{version, k.ID, kind, encoding().EncodeToString(body), encoding().EncodeToString(tag)}, "."), nil
}

// Verify returns what text says, if this ring made it for kind and store and now
// is before its end. Errors are [ErrInvalid], [ErrExpired] and [ErrKeyUnknown],
// and say nothing else: what is wrong with a token helps only who forges one.
func (r *Ring) Verify(text, kind, store string, now Instant) (Claims, error) {
	if len(text) > maxTextBytes {
		return Claims{}, ErrInvalid
	}
	body, err := r.Unseal(text, kind)
	if err != nil {
		return Claims{}, err
	}
	c, err := parse(kind, body)
	switch {
	case err != nil, c.Store != store, c.Issued.Wall.Sub(now.Wall) > MaxAhead:
		return Claims{}, ErrInvalid
	case c.Expires.Reached(now):
		return Claims{}, ErrExpired
	}
	return c, nil
}

// Seal is body in a form that only holders of the ring can make, for one kind. It
// does not expire, but with its key. Kinds of tokens are none of it.
func (r *Ring) Seal(kind string, body []byte) (string, error) {
	if !validWord.MatchString(kind) {
		return "", fmt.Errorf("token: the kind %q is none", kind)
	}
	return r.keys[0].seal(kind, body)
}

// Unseal is the body that this ring has sealed for kind. The caller bounds text.
// Errors are [ErrInvalid] and [ErrKeyUnknown].
func (r *Ring) Unseal(text, kind string) ([]byte, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 5 || parts[0] != version || parts[2] != kind {
		return nil, ErrInvalid
	}
	body, err := encoding().DecodeString(parts[3])
	if err != nil {
		return nil, ErrInvalid
	}
	tag, err := encoding().DecodeString(parts[4])
	if err != nil {
		return nil, ErrInvalid
	}
	if err := r.check(parts[1], kind, body, tag); err != nil {
		return nil, err
	}
	return body, nil
}

func (r *Ring) check(id, kind string, body, tag []byte) error {
	for _, k := range r.keys {
		if k.ID != id {
			continue
		}
		want, err := k.tag(kind, body)
		if err != nil {
			return err
		}
		if !hmac.Equal(tag, want) {
			return ErrInvalid
		}
		return nil
	}
	return ErrKeyUnknown
}

// parse reads a payload that the ring vouches for.
func parse(kind string, body []byte) (Claims, error) {
	var p payload
	if err := json.Unmarshal(body, &p); err != nil {
		return Claims{}, err
	}
	c := Claims{Kind: kind, Object: p.Object, Store: p.Store}
	if err := errors.Join(fixed(c.Hash[:], p.Hash), fixed(c.Nonce[:], p.Nonce)); err != nil {
		return Claims{}, err
	}
	c.Issued.Wall = time.UnixMicro(p.Issued).UTC()
	c.Expires = Instant{time.UnixMicro(p.Expires).UTC(), p.Boot, time.Duration(p.UpExpires) * time.Microsecond}
	return c, nil
}

func fixed(dst []byte, s string) error {
	if len(s) != hex.EncodedLen(len(dst)) {
		return ErrInvalid
	}
	_, err := hex.Decode(dst, []byte(s))
	return err
}
