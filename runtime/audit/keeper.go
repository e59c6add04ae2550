package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/mod/sumdb/note"
)

// Bounds of what a keeper keeps, in bytes: beyond the first it drops the oldest
// heads, and keeps the last ones up to the second.
const (
	maxKept = 1 << 20
	minKept = maxKept / 2
)

// keeper keeps the heads of one log.
type keeper struct {
	mu        sync.Mutex
	path      string
	verifiers note.Verifiers
	last      head // zero where there is none
	size      int64
}

// KeepHeads returns a sink for whoever keeps the heads of somebody else's log, in
// a file at path: it takes heads that one of the verifiers has signed, of one
// log, each of a later record than the one before. A head that does not go on
// from the last one, because the log was cut or written anew, is refused. The
// file holds the last heads, some thousands, as `audit verify --heads` reads
// them, and each is on the disk before Head returns. One keeper at a time has the
// file; it may be used by several goroutines.
func KeepHeads(path string, verifiers note.Verifiers) (HeadSink, error) {
	k := &keeper{path: path, verifiers: verifiers}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return nil, fmt.Errorf("audit: keep heads: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() == 0 {
		return k, nil
	}
	hs, err := readHeads(f, verifiers)
	if err != nil {
		return nil, fmt.Errorf("audit: keep heads: %s: %w", path, err)
	}
	k.last = head{log: hs.log, seq: hs.last, hash: hs.by[hs.last]}
	if k.size, err = f.Seek(0, io.SeekEnd); err != nil {
		return nil, fmt.Errorf("audit: keep heads: %w", err)
	}
	return k, nil
}

func (k *keeper) Head(_ context.Context, signed []byte) error {
	h, err := openHead(signed, k.verifiers)
	if err != nil {
		return fmt.Errorf("audit: keep a head: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.last.log == "":
	case h.log != k.last.log:
		return errors.New("audit: keep a head: it is of another log")
	case h.seq < k.last.seq:
		return fmt.Errorf("audit: keep a head: it is of record %d, and one of record %d is here", h.seq, k.last.seq)
	case h.seq == k.last.seq && h.hash == k.last.hash:
		return nil
	case h.seq == k.last.seq:
		return fmt.Errorf("audit: keep a head: two differ about record %d: the log was written anew", h.seq)
	}
	if k.size+int64(len(signed)) > maxKept {
		if err := k.drop(); err != nil {
			return fmt.Errorf("audit: keep a head: %w", err)
		}
	}
	if err := HeadFile(k.path).Head(context.Background(), signed); err != nil {
		// What of it is there is not known, and is no head if it is not all.
		return fmt.Errorf("audit: keep a head: %w", err)
	}
	k.size += int64(len(signed))
	k.last = h
	return nil
}

// drop leaves the last heads, whole, under the same name at once.
func (k *keeper) drop() error {
	text, err := os.ReadFile(k.path)
	if err != nil {
		return err
	}
	rest := text[max(0, len(text)-minKept):]
	if i := bytes.Index(rest, []byte(headBegins)); i >= 0 {
		rest = rest[i:]
	}
	next := k.path + ".next"
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(rest)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(next, k.path); err != nil {
		return err
	}
	k.size = int64(len(rest))
	dir, err := os.Open(filepath.Dir(k.path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
