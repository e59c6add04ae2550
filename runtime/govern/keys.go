package govern

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/token"
)

// tokensFile is the file of the keys of tokens: a line for each, its name, its
// secret in hexadecimal, and when it was replaced, in microseconds since 1970, or
// 0. The first one issues.
const (
	tokensFile    = "tokens"
	maxTokensFile = 64 << 10
)

// retired is how long a key that was replaced is kept: no token is older.
const retired = plan.MaxTTL + token.MaxAhead

type tokenKey struct {
	token.Key
	replaced int64
}

// ring is the ring of the keys in the file, which is made if there is none.
func (s *Service) ring() (*token.Ring, error) {
	keys, err := s.readKeys()
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.writeKeys([]tokenKey{newTokenKey(s.o.Now().Wall)}, false); err != nil {
			return nil, fmt.Errorf("govern: keys of tokens: %w", err)
		}
		keys, err = s.readKeys()
	}
	if err != nil {
		return nil, fmt.Errorf("govern: keys of tokens: %w", err)
	}
	all := make([]token.Key, len(keys))
	for i, k := range keys {
		all[i] = k.Key
	}
	return token.NewRing(all...)
}

func newTokenKey(at time.Time) tokenKey {
	secret := make([]byte, token.MinSecretBytes)
	rand.Read(secret)
	var tail [4]byte
	rand.Read(tail[:])
	return tokenKey{Key: token.Key{ID: at.Format("20060102") + "-" + hex.EncodeToString(tail[:]), Secret: secret}}
}

// RotateKeys makes a new key for the tokens that are issued from now on. Those of
// the keys before are good until they expire. It returns the key's name.
func (s *Service) RotateKeys(ctx context.Context) (string, error) {
	unlock, err := s.keys.Lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	keys, err := s.readKeys()
	if err != nil {
		return "", fmt.Errorf("govern: keys of tokens: %w", err)
	}
	at := s.o.Now().Wall
	next := []tokenKey{newTokenKey(at)}
	for _, k := range keys {
		if k.replaced == 0 {
			k.replaced = at.UnixMicro()
		}
		if at.Sub(time.UnixMicro(k.replaced)) <= retired {
			next = append(next, k)
		}
	}
	if err := s.writeKeys(next, true); err != nil {
		return "", fmt.Errorf("govern: keys of tokens: %w", err)
	}
	return next[0].ID, nil
}

func (s *Service) readKeys() ([]tokenKey, error) {
	f, err := s.keys.Open(tokensFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTokensFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxTokensFile {
		return nil, fmt.Errorf("the file has more than %d bytes", maxTokensFile)
	}
	var keys []tokenKey
	for line := range strings.Lines(string(text)) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(words) != 3 || !strings.HasSuffix(line, "\n") {
			return nil, fmt.Errorf("line %d is not a key", len(keys)+1)
		}
		secret, err := hex.DecodeString(words[1])
		if err != nil {
			return nil, fmt.Errorf("line %d is not a key", len(keys)+1)
		}
		replaced, err := strconv.ParseInt(words[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("line %d is not a key", len(keys)+1)
		}
		keys = append(keys, tokenKey{token.Key{ID: words[0], Secret: secret}, replaced})
	}
	return keys, nil
}

// writeKeys makes the file what keys are, whole and durable. Where there was
// none, another process may make one first: then that one stays.
func (s *Service) writeKeys(keys []tokenKey, over bool) error {
	var text strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&text, "%s %s %d\n", k.ID, hex.EncodeToString(k.Secret), k.replaced)
	}
	name := "new-" + strings.ToLower(rand.Text())
	f, err := s.keys.Create(name, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text.String())
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil && over {
		err = s.keys.Exchange(name, tokensFile)
	} else if err == nil {
		if err = s.keys.Move(name, tokensFile); err == nil {
			return s.keys.Sync()
		}
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	return errors.Join(err, s.keys.Remove(name), s.keys.Sync())
}
