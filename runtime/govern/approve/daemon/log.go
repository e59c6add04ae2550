package daemon

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/internal/form"
	"github.com/capgen/capgen/runtime/govern/plan"
)

// Bounds of a log.
const (
	MaxLogBytes  = 1 << 30
	MaxSpent     = 1 << 20 // approvals that were spent, and plans whose landing has begun
	MaxKept      = 1 << 14 // envelopes that may still count
	MaxOfOnePlan = 64      // envelopes

	maxLine = 64 << 10
)

var (
	errFull   = errors.New("daemon: the log is full: begin another one")
	errBroken = errors.New("daemon: the log could not be written; it is read anew at the next start")
)

// file is what a log needs of an open file.
type file interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Close() error
}

// Log is the envelopes that a daemon made, the approvals that were spent and how
// far the landings are that they were spent on, in a file that is only appended to. Every entry is durable before it counts. It
// may be used by several goroutines at a time.
type Log struct {
	mu       sync.Mutex
	file     file
	size     int64
	broken   bool
	spent    map[[16]byte]string // the plan, by nonce
	done     map[string]bool     // plans that something was spent on
	landings map[string]landing  // by plan
	kept     map[string][]kept   // by plan
	keeps    int                 // envelopes in kept
}

// landing is how far the landing of a plan is.
type landing string

const (
	begun landing = "begun"
	ended landing = "ended"
)

// kept is an envelope, and until when somebody may ask for it.
type kept struct {
	envelope []byte
	until    time.Time
}

// OpenLog opens the log at path, or makes it, for this account alone; one process
// holds it at a time. An entry that a crash cut off is removed: nobody was told
// that it was there. Anything else that is not an entry is an error.
func OpenLog(path string) (*Log, error) {
	f, err := openLogFile(path)
	if err != nil {
		return nil, fmt.Errorf("daemon: open the log: %w", err)
	}
	l, err := readLog(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("daemon: open the log %s: %w", path, err), f.Close())
	}
	return l, nil
}

// readLog reads what is there, which ends where f is appended to.
func readLog(f *os.File) (*Log, error) {
	l := &Log{file: f, spent: map[[16]byte]string{}, done: map[string]bool{}, landings: map[string]landing{}, kept: map[string][]kept{}}
	lines := bufio.NewReaderSize(f, maxLine)
	for number := 1; ; number++ {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF {
			break // what is left of a line has no end
		}
		if err == nil {
			err = l.replay(line[:len(line)-1])
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		l.size += int64(len(line))
	}
	if err := f.Truncate(l.size); err != nil {
		return nil, err
	}
	return l, f.Sync()
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }

// entry is a line: an envelope, a nonce that was spent on a plan, or how far a
// plan's landing is.
type entry struct {
	at       time.Time
	uid      uint32 // who asked for it
	envelope []byte
	nonce    [16]byte
	plan     string
	landing  landing
}

func (e entry) append(b []byte) []byte {
	b = append(b, `{"at_us":`...)
	b = strconv.AppendInt(b, e.at.UnixMicro(), 10)
	switch {
	case e.envelope != nil:
		b = append(b, `,"envelope":`...)
		b = appendBase64(b, e.envelope)
	case e.landing != "":
		b = append(b, `,"landing":`...)
		b = canon.AppendString(b, string(e.landing))
		b = append(b, `,"plan":`...)
		b = canon.AppendString(b, e.plan)
	default:
		b = append(b, `,"nonce":`...)
		b = form.AppendHex(b, e.nonce[:])
		b = append(b, `,"plan":`...)
		b = canon.AppendString(b, e.plan)
	}
	b = append(b, `,"uid":`...)
	b = strconv.AppendUint(b, uint64(e.uid), 10)
	return append(b, '}')
}

// replay takes a line back.
func (l *Log) replay(line []byte) error {
	var e entry
	const depth = 1
	r := canon.NewJSONReader(line, depth)
	form.Object(r, func(key string) {
		switch key {
		case "at_us":
			e.at = time.UnixMicro(r.Int(0, canon.MaxInteger))
		case "envelope":
			e.envelope = r.Base64(1, maxLine)
		case "landing":
			e.landing = landing(r.Enum(string(begun), string(ended)))
		case "nonce":
			form.Hex(r, e.nonce[:])
		case "plan":
			e.plan = r.String(1, maxLine)
		case "uid":
			e.uid = form.UID(r)
		default:
			r.UnknownMember()
		}
	})
	if err := r.End(); err != nil {
		return err
	}
	if !bytes.Equal(e.append(nil), line) {
		return errors.New("it is not in canonical form")
	}
	return l.take(e)
}

// take adds an entry that is durable to what is known.
func (l *Log) take(e entry) error {
	if e.envelope == nil {
		if !plan.ValidID(e.plan) {
			return errors.New("it names no plan")
		}
		if e.landing != "" {
			l.landings[e.plan], l.done[e.plan] = e.landing, true
			return nil
		}
		l.spent[e.nonce], l.done[e.plan] = e.plan, true
		return nil
	}
	s, err := approve.Open(e.envelope)
	if err != nil {
		return err
	}
	// A rejection counts as long as its plan can land.
	l.kept[s.Plan] = append(l.kept[s.Plan], kept{e.envelope, s.Issued.Wall.Add(plan.MaxTTL)})
	l.keeps++
	return nil
}

// write makes an entry durable and takes it.
func (l *Log) write(e entry) error {
	if l.broken {
		return errBroken
	}
	line := append(e.append(nil), '\n')
	if l.size+int64(len(line)) > MaxLogBytes {
		return errFull
	}
	_, err := l.file.Write(line)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		// What of it is there is not known: take it back, or read it all anew.
		if l.file.Truncate(l.size) != nil || l.file.Sync() != nil {
			l.broken = true
		}
		return fmt.Errorf("daemon: the log cannot be written: %w", err)
	}
	l.size += int64(len(line))
	return l.take(e)
}

// keep makes an envelope of a plan durable.
func (l *Log) keep(e entry, id string, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done[id] {
		return approve.ErrSpent
	}
	if l.keeps >= MaxKept {
		l.forget(now)
	}
	if l.keeps >= MaxKept || len(l.kept[id]) >= MaxOfOnePlan {
		return errFull
	}
	return l.write(e)
}

// forget drops the envelopes that nobody may ask for any more.
func (l *Log) forget(now time.Time) {
	l.keeps = 0
	for id, of := range l.kept {
		of = slices.DeleteFunc(of, func(k kept) bool { return !now.Before(k.until) })
		if l.kept[id] = of; len(of) == 0 {
			delete(l.kept, id)
		}
		l.keeps += len(of)
	}
}

// envelopes are those of a plan.
func (l *Log) envelopes(id string) [][]byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out [][]byte
	for _, k := range l.kept[id] {
		out = append(out, k.envelope)
	}
	return out
}

// spend makes durable that an approval was spent on a plan. To spend it again on
// that plan is no error, until the plan's landing has begun: whoever asks then
// does not know of that.
func (l *Log) spend(e entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch on, ok := l.spent[e.nonce]; {
	case l.landings[e.plan] != "":
		return approve.ErrSpent
	case ok && on == e.plan:
		return nil
	case ok:
		return approve.ErrSpent
	case len(l.spent) >= MaxSpent:
		return errFull
	}
	return l.write(e)
}

// mark makes durable how far the landing of a plan is. What has ended does not
// begin again, and nothing begins that no approval was spent on.
func (l *Log) mark(e entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch was := l.landings[e.plan]; {
	case was == e.landing:
		return nil
	case was == ended:
		return approve.ErrSpent
	case e.landing == begun && !l.done[e.plan]:
		return approve.ErrUnspent
	case was == "" && len(l.landings) >= MaxSpent:
		return errFull
	}
	return l.write(e)
}
