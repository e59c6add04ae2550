package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// ErrClosed is returned by Record after Close.
var ErrClosed = errors.New("audit: the log is closed")

// Log is the sink that keeps events in files. It is safe for concurrent use.
type Log struct {
	options Options
	signer  note.Signer // nil without heads
	lock    *os.File
	open    opener
	now     func() time.Time // of records, for people: nothing depends on it

	mu     sync.Mutex
	chain  Chain
	file   file
	size   int64     // of file
	opened time.Time // when file was begun
	dirty  bool      // something is not on the disk yet
	lost   uint64    // events that could not be written
	broken error     // why nothing can be written any more
	signed uint64    // the last record that a head was made of
	at     time.Time // when

	stop    chan struct{}
	tended  sync.WaitGroup
	once    sync.Once
	closing error
}

// file is what the log needs of one.
type file interface {
	Write([]byte) (int, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

// opener opens a file to append to, one that is not there yet if it is new.
type opener func(path string, isNew bool) (file, error)

func openFile(path string, isNew bool) (file, error) {
	flags := os.O_WRONLY | os.O_APPEND
	if isNew {
		flags |= os.O_CREATE | os.O_EXCL
	}
	return os.OpenFile(path, flags, 0o600)
}

// Open opens the log in o.Dir, and begins one where there is none. What a
// crash left of a line is cut off, and a record says so. It refuses a log
// whose last record is not as it was written, and a directory that another
// process writes to.
func Open(o Options) (*Log, error) { return openWith(o, openFile) }

func openWith(o Options, open opener) (*Log, error) {
	o, signer, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	lock, err := lockFile(filepath.Join(o.Dir, "audit.lock"))
	if err != nil {
		return nil, fmt.Errorf("audit: another process writes to %s, or it cannot be locked: %w", o.Dir, err)
	}
	l := &Log{options: o, signer: signer, lock: lock, open: open, now: time.Now, stop: make(chan struct{})}
	if err := l.resume(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	l.tended.Add(1)
	go l.tend()
	return l, nil
}

// ID is the log's random id, which each file and head names.
func (l *Log) ID() string { return l.chain.Log }

// Record keeps one event. See Sink.
func (l *Log) Record(_ context.Context, e Event) error {
	event := eventCall
	if e.Outcome != "" {
		event = eventOutcome
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.recordLocked(event, func(b *body) { l.describe(b, e) })
	if err == nil || !l.options.Continue || errors.Is(err, ErrClosed) {
		return err
	}
	if l.lost++; l.lost == 1 {
		l.options.Logger.Error("audit: calls go on without being recorded", "error", err)
	}
	return nil
}

// describe writes what is said of a call.
func (l *Log) describe(b *body, e Event) {
	b.text("execution", e.Execution)
	b.number("call", uint64(max(e.Call, 0)))
	b.text("subject", e.Subject)
	b.text("capability", e.Capability)
	b.text("decision", string(e.Decision))
	b.text("outcome", string(e.Outcome))
	b.text("error", e.Error)
	if e.Outcome != "" {
		b.number("duration_us", uint64(max(e.Duration.Microseconds(), 0)))
	}
	if e.Arguments == nil {
		return
	}
	b.text("fingerprint", l.options.Key.Fingerprint(e.Capability, e.Arguments))
	if l.options.Values != nil && len(e.Arguments) <= maxArguments && l.options.Values(e.Capability) {
		b.json("arguments", e.Arguments)
	}
}

// recordLocked appends one record, after one about those that were lost, in
// the next file if it is time for one.
func (l *Log) recordLocked(event string, describe func(*body)) error {
	if l.broken != nil {
		return l.broken
	}
	if l.lost > 0 {
		if err := l.append(eventLost, func(b *body) { b.number("events", l.lost) }); err != nil {
			return err
		}
		l.options.Logger.Info("audit: calls are recorded again", "lost", l.lost)
		l.lost = 0
	}
	if l.size >= l.options.MaxFileBytes || time.Since(l.opened) >= l.options.MaxFileAge {
		if err := l.rotate(); err != nil {
			return err
		}
	}
	if err := l.append(event, describe); err != nil {
		return err
	}
	if l.options.SyncEach {
		return l.sync()
	}
	return nil
}

// append writes one line, or nothing of it.
func (l *Log) append(event string, describe func(*body)) error {
	line, next := l.chain.seal(l.now(), event, describe)
	if _, err := l.file.Write(line); err != nil {
		if undo := l.file.Truncate(l.size); undo != nil {
			l.broken = fmt.Errorf("audit: a line was begun and can be neither completed nor removed: %w", errors.Join(err, undo))
			return l.broken
		}
		return fmt.Errorf("audit: %w", err)
	}
	l.chain = next
	l.size += int64(len(line))
	l.dirty = true
	return nil
}

// sync has everything on the disk. After an error nobody knows what is, and
// what the system still tells is not to be trusted: nothing is written any
// more.
func (l *Log) sync() error {
	if !l.dirty || l.broken != nil {
		return l.broken
	}
	if err := l.file.Sync(); err != nil {
		l.broken = fmt.Errorf("audit: records may be lost: %w", err)
		return l.broken
	}
	l.dirty = false
	return nil
}

// tend brings records to the disk and heads to their sink each second, until
// Close.
func (l *Log) tend() {
	defer l.tended.Done()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
		}
		l.mu.Lock()
		if err := l.sync(); err != nil {
			l.options.Logger.Error("audit: the log is broken", "error", err)
			l.mu.Unlock()
			return
		}
		due := l.chain.Seq-l.signed >= uint64(l.options.HeadEvery) || time.Since(l.at) >= l.options.HeadInterval
		l.mu.Unlock()
		if due {
			if err := l.sendHead(); err != nil {
				l.options.Logger.Error("audit: a signed head was not kept", "error", err)
			}
		}
	}
}

// headTimeout bounds how long a sink may take for a head.
const headTimeout = 10 * time.Second

// sendHead signs where the log ends, if that is new and on the disk.
func (l *Log) sendHead() error {
	l.mu.Lock()
	h := head{log: l.chain.Log, seq: l.chain.Seq, hash: l.chain.Hash, at: time.Now()}
	nothing := l.signer == nil || h.seq == l.signed
	err := l.sync()
	if err == nil && !nothing {
		l.signed, l.at = h.seq, h.at
	}
	l.mu.Unlock()
	if err != nil || nothing {
		return err
	}
	signed, err := h.sign(l.signer)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), headTimeout)
	defer cancel()
	return l.options.Heads.Head(ctx, signed)
}

// Close has all records on the disk, sends the last head and lets go of the
// directory. It is idempotent.
func (l *Log) Close() error {
	l.once.Do(func() {
		close(l.stop)
		l.tended.Wait()
		head := l.sendHead()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.closing = errors.Join(head, l.sync(), l.file.Close(), l.lock.Close())
		if l.broken == nil {
			l.broken = ErrClosed
		}
	})
	return l.closing
}
