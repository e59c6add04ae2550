package govern

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/root"
	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/token"
)

// Refuse is a refusal that programs see, for what is built on a service. Absolute
// paths in the texts are left out.
func Refuse(code Code, message, suggestion string) *Refusal {
	return refuse(code, "%s", message).suggest("%s", suggestion)
}

// Refused is what programs see of an error of the store, the objects or the
// roots; a Refusal is itself. Its cause is in the log.
func (s *Service) Refused(ctx context.Context, err error) *Refusal { return s.refusal(ctx, err) }

// View reads the rows.
func (s *Service) View(ctx context.Context, fn func(*store.Tx) error) error {
	return s.o.Store.View(ctx, fn)
}

// Record keeps an event in the audit trail, with the server as its actor.
func (s *Service) Record(tx *store.Tx, event, subject string, what map[string]any) error {
	return s.record(tx, audit.Governed{Event: event, Actor: s.actor(), Subject: subject}, what)
}

// kindValidation is the kind of tokens that say that something was validated.
// They count as often as they are shown.
const kindValidation = "validation"

// IssueValidation makes a token that says that object, with this hash, was
// validated.
func (s *Service) IssueValidation(object string, hash [32]byte, ttl time.Duration) (text string, expires time.Time, err error) {
	ring, err := s.ring()
	if err != nil {
		return "", expires, err
	}
	at := s.o.Now()
	text, err = ring.Issue(token.Claims{Kind: kindValidation, Object: object, Hash: hash, Store: s.o.Store.ID()}, at, ttl)
	return text, at.Wall.Add(ttl), err
}

// VerifyValidation is what such a token says.
func (s *Service) VerifyValidation(text string) (object string, hash [32]byte, err error) {
	ring, err := s.ring()
	if err != nil {
		return "", hash, err
	}
	claims, err := ring.Verify(text, kindValidation, s.o.Store.ID(), s.o.Now())
	switch {
	case errors.Is(err, token.ErrExpired):
		return "", hash, refuse(TokenExpired, "the token has expired").suggest("validate again")
	case errors.Is(err, token.ErrKeyUnknown):
		return "", hash, refuse(TokenKeyUnknown, "the key of the token is not kept any more").suggest("validate again")
	case err != nil:
		return "", hash, refuse(TokenInvalid, "it is not a token of a validation")
	}
	return claims.Object, claims.Hash, nil
}

// Directory reads what is at a path below a root: its tree, and the files of it,
// by read, until done is called. That nothing is there is the tree
// [change.Absent].
func (s *Service) Directory(rootName, path string) (tree change.Tree, read func(path string, max int64) ([]byte, error), done func(), err error) {
	parent, name, done, err := s.target(rootName, path)
	if err != nil {
		return tree, nil, nil, err
	}
	if tree, err = change.Read(parent, name); err != nil {
		done()
		return tree, nil, nil, unread(err)
	}
	return tree, func(path string, max int64) ([]byte, error) { return readBelow(parent, name, path, max) }, done, nil
}

func readBelow(parent root.Dir, name, path string, max int64) ([]byte, error) {
	top, err := parent.Sub(name)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	content, err := read(top, path, max)
	if err == nil && int64(len(content)) > max {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("it has more bytes than it had")}
	}
	return content, err
}

// Subject is the flat form of who calls, for what belongs to somebody.
func Subject(ctx context.Context) (string, error) { return subject(ctx) }
