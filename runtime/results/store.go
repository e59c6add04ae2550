package results

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/capgen/capgen/authz"
)

// The bounds of a store. Processes that share a directory may exceed the sizes
// by one result each.
const (
	// Keep is how long a result can be fetched, at most.
	Keep = 10 * time.Minute
	// MaxBytes of all results.
	MaxBytes = 64 << 20
	// MaxBytesPerSubject of them. A subject's oldest make room for its newest.
	MaxBytesPerSubject = 16 << 20
)

var (
	// ErrNotFound is of a result that is not there, no longer there, or
	// another subject's.
	ErrNotFound = errors.New("results: not found")
	// ErrFull is of a result for which there is no room.
	ErrFull = errors.New("results: no room")
)

// Store keeps results in files of a directory, one each. The name of a file
// holds a random id and a hash of the subject, so that only who knows both
// finds it. It is safe for concurrent use.
type Store struct {
	mu      sync.Mutex
	dir     string // empty until it is made
	private bool   // dir is this process's alone, made when first needed
	sweeper *time.Timer
	closed  bool
	now     func() time.Time
}

// Private makes a store that no other process sees and that ends with Close.
// It touches the disk only once there is something to keep.
func Private() *Store { return &Store{private: true, now: time.Now} }

// Open makes a store of a directory that belongs to this user alone; it is
// made if it is missing.
func Open(dir string) (*Store, error) {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("results: %w", err)
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return nil, fmt.Errorf("results: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("results: %s is not a directory", dir)
	}
	if err := belongs(info); err != nil {
		return nil, fmt.Errorf("results: %s: %w", dir, err)
	}
	return &Store{dir: dir, now: time.Now}, nil
}

// Put keeps text for subject and returns its id: 128 random bits in
// hexadecimal.
func (s *Store) Put(subject authz.Subject, text []byte) (id string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return "", errors.New("results: closed")
	case subject.IsZero():
		return "", authz.ErrUnauthenticated
	case s.dir == "":
		if s.dir, err = os.MkdirTemp("", "capgen-results-"); err != nil {
			return "", fmt.Errorf("results: %w", err)
		}
	}
	owner := hash(subject)
	if err := s.makeRoom(owner, int64(len(text))); err != nil {
		return "", err
	}
	var random [16]byte
	rand.Read(random[:])
	id = hex.EncodeToString(random[:])
	name := filepath.Join(s.dir, id+"."+owner)
	// Whoever finds the name finds all of it.
	if err := os.WriteFile(name+partial, text, 0o600); err != nil {
		_ = os.Remove(name + partial) // what cannot be removed now is swept later
		return "", fmt.Errorf("results: %w", err)
	}
	if err := os.Rename(name+partial, name); err != nil {
		return "", fmt.Errorf("results: %w", err)
	}
	s.sweepIn(Keep)
	return id, nil
}

// Get returns what subject has put under id. Every result that it may not
// have is ErrNotFound.
func (s *Store) Get(subject authz.Subject, id string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.dir == "" || subject.IsZero() || !isID.MatchString(id) {
		return nil, ErrNotFound
	}
	f, err := os.Open(filepath.Join(s.dir, id+"."+hash(subject)))
	if err != nil {
		return nil, ErrNotFound
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || s.expired(info) || info.Size() > MaxBytes {
		return nil, ErrNotFound
	}
	text := make([]byte, info.Size())
	if _, err := f.ReadAt(text, 0); err != nil && len(text) > 0 {
		return nil, fmt.Errorf("results: %w", err)
	}
	return text, nil
}

// Close removes a private store. Others stay for the processes that share
// them, which sweep them.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.sweeper != nil {
		s.sweeper.Stop()
	}
	if !s.private || s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}

const partial = ".partial"

var isID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// isResult is the name of a file of ours.
var isResult = regexp.MustCompile(`^[0-9a-f]{32}\.[0-9a-f]{64}(\.partial)?$`)

// hash names a subject in a file name; nothing can be told from it but whether
// two are the same.
func hash(subject authz.Subject) string {
	sum := sha256.Sum256([]byte("capgen results\x00" + subject.String()))
	return hex.EncodeToString(sum[:])
}

// kept is one file of the store.
type kept struct {
	name  string
	size  int64
	since time.Time
}

// list removes what has expired and returns the rest, the oldest first.
func (s *Store) list() ([]kept, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	var all []kept
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !isResult.MatchString(e.Name()) || !info.Mode().IsRegular() {
			continue // another process removed it, or it is not ours
		}
		if s.expired(info) {
			_ = os.Remove(filepath.Join(s.dir, e.Name())) // another process may be first
			continue
		}
		all = append(all, kept{e.Name(), info.Size(), info.ModTime()})
	}
	slices.SortFunc(all, func(a, b kept) int {
		return cmp.Or(a.since.Compare(b.since), strings.Compare(a.name, b.name))
	})
	return all, nil
}

// expired: a file of the future is one from before the clock was set back,
// which nobody could tell the age of.
func (s *Store) expired(info fs.FileInfo) bool {
	age := s.now().Sub(info.ModTime())
	return age >= Keep || age < -time.Minute
}

// makeRoom removes the oldest results of owner until size more fit.
func (s *Store) makeRoom(owner string, size int64) error {
	all, err := s.list()
	if err != nil {
		return err
	}
	var mine []kept
	var total, own int64
	for _, k := range all {
		total += k.size
		if strings.Contains(k.name, owner) {
			own += k.size
			mine = append(mine, k)
		}
	}
	if size > MaxBytesPerSubject || total-own+size > MaxBytes {
		return ErrFull
	}
	for _, k := range mine {
		if own+size <= MaxBytesPerSubject && total+size <= MaxBytes {
			break
		}
		if err := os.Remove(filepath.Join(s.dir, k.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("results: %w", err)
		}
		own -= k.size
		total -= k.size
	}
	return nil
}

// sweepIn has the store swept when something may have expired, also when
// nobody asks for anything any more.
func (s *Store) sweepIn(d time.Duration) {
	if s.sweeper != nil {
		return
	}
	s.sweeper = time.AfterFunc(d, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sweeper = nil
		if s.closed {
			return
		}
		if all, err := s.list(); err == nil && len(all) > 0 {
			s.sweepIn(max(time.Second, Keep-s.now().Sub(all[0].since)))
		}
	})
}
