package cas

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/capgen/capgen/runtime/govern/root"
)

// ErrCorrupt is the error for content that does not have its digest any more.
var ErrCorrupt = errors.New("cas: the content does not have its digest")

// ErrLarge is the error for content of more bytes than were asked for.
var ErrLarge = errors.New("cas: the content has more bytes than it may")

// begun starts the names of files that a Put has not finished. No digest
// starts so.
const begun = "begun-"

// maxObjects bounds what one store holds.
const maxObjects = 1 << 20

// Digest is the SHA-256 of content.
type Digest [sha256.Size]byte

// String is the digest in lower-case hexadecimal, as ParseDigest takes it.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Of is the digest of content.
func Of(content []byte) Digest { return sha256.Sum256(content) }

// ParseDigest reads the one spelling of a digest: 64 lower-case hexadecimal
// digits.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(d) || strings.ToLower(s) != s {
		return d, errors.New("cas: not a digest of 64 lower-case hexadecimal digits")
	}
	return Digest(b), nil
}

// objectMode lets whoever may pass the directories read objects, whatever the
// process's umask: approvers look at them from accounts of their own.
const objectMode = 0o644

// Store keeps objects in one directory, a file each, named by its digest.
// Several stores, in several processes, may share the directory.
type Store struct{ dir root.Dir }

// New returns the store in dir, which stays the caller's to close.
func New(dir root.Dir) *Store { return &Store{dir} }

// Put keeps content, and returns its digest when it is durable.
func (s *Store) Put(content []byte) (Digest, error) {
	d := Of(content)
	return d, s.PutAll([][]byte{content})
}

// PutAll keeps contents, and returns when all of them are durable.
func (s *Store) PutAll(contents [][]byte) error {
	for _, content := range contents {
		d := Of(content)
		if kept, err := s.Get(d, int64(len(content))); err == nil && len(kept) == len(content) {
			continue
		}
		if err := s.put(d, content); err != nil {
			return wrap("put", d, err)
		}
	}
	// Of those that were there, too: whoever put them may not have come to make
	// their names durable.
	return wrap("put", Digest{}, s.dir.Sync())
}

func (s *Store) put(d Digest, content []byte) error {
	name := begun + rand.Text()
	f, err := s.dir.Create(name, 0o600)
	if err != nil {
		return err
	}
	err = fill(f, content)
	if err == nil {
		err = s.publish(name, d)
	}
	if err != nil {
		return errors.Join(err, ignoring(s.dir.Remove(name), fs.ErrNotExist))
	}
	return nil
}

// publish gives what is called name the name of its digest. What stood there is
// no good: Put looked.
func (s *Store) publish(name string, d Digest) error {
	err := s.dir.Move(name, d.String())
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := s.dir.Exchange(name, d.String()); err != nil {
		return err
	}
	return s.dir.Remove(name)
}

// fill writes content, makes it durable and closes f.
func fill(f root.Handle, content []byte) error {
	_, err := f.Write(content)
	if err == nil {
		err = f.SetMode(objectMode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Get returns the content of d, of at most max bytes. An object that is not
// there is [fs.ErrNotExist], one that was changed [ErrCorrupt], one that is larger,
// changed or not, [ErrLarge].
func (s *Store) Get(d Digest, max int64) ([]byte, error) {
	f, err := s.dir.Open(d.String())
	if err != nil {
		return nil, wrap("get", d, err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, max+1))
	switch {
	case err != nil:
		return nil, wrap("get", d, err)
	case int64(len(content)) > max:
		return nil, wrap("get", d, fmt.Errorf("%w: %d bytes", ErrLarge, max))
	case Of(content) != d:
		return nil, wrap("get", d, ErrCorrupt)
	}
	return content, nil
}

// Sweep removes every object that keep does not ask to keep, and what unfinished
// Puts left behind. The caller sees to it that no Put runs meanwhile, and that
// keep knows of all references.
func (s *Store) Sweep(keep func(Digest) bool) (removed int, err error) {
	entries, err := s.dir.Entries(maxObjects)
	if err != nil {
		return 0, fmt.Errorf("cas: sweep: %w", err)
	}
	for _, e := range entries {
		d, err := ParseDigest(e.Name)
		if err != nil && !strings.HasPrefix(e.Name, begun) || err == nil && keep(d) {
			continue
		}
		if err := s.dir.Remove(e.Name); err != nil {
			return removed, fmt.Errorf("cas: sweep: %w", err)
		}
		removed++
	}
	return removed, wrap("sweep", Digest{}, s.dir.Sync())
}

func wrap(what string, d Digest, err error) error {
	switch {
	case err == nil:
		return nil
	case d == Digest{}:
		return fmt.Errorf("cas: %s: %w", what, err)
	}
	return fmt.Errorf("cas: %s %s: %w", what, d, err)
}

func ignoring(err, known error) error {
	if errors.Is(err, known) {
		return nil
	}
	return err
}
