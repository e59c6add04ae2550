package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/capgen/capgen/runtime/canon"
)

// version of the form of records.
const version = 1

// Bounds of one line, and of what comes from outside in it.
const (
	maxLine      = 512 << 10
	maxText      = 4 << 10
	maxArguments = 64 << 10
)

// The events of records: two of calls, one of governed effects, the rest of the
// log itself.
const (
	eventOpen     = "open"     // begins a file
	eventTorn     = "torn"     // a line that was not complete was cut off
	eventLost     = "lost"     // events could not be written
	eventCall     = "call"     // a decision
	eventOutcome  = "outcome"  // what came of an allowed call
	eventGoverned = "governed" // a step of a governed effect
)

const timeForm = "2006-01-02T15:04:05.000000Z"

// digest is a SHA-256.
type digest [sha256.Size]byte

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// record is one line, as it is read.
type record struct {
	seq       uint64
	at        time.Time
	event     string
	log       string // of eventOpen
	prev, own digest
}

// body is a line up to its hash; fields of the event come between.
type body struct{ b []byte }

// begin starts the line of record seq.
func begin(seq uint64, at time.Time, event string) *body {
	l := &body{b: append(make([]byte, 0, 512), `{"v":`...)}
	l.b = strconv.AppendInt(l.b, version, 10)
	l.number("seq", seq)
	l.text("time", at.UTC().Format(timeForm))
	l.text("event", event)
	return l
}

func (l *body) key(name string) {
	l.b = append(l.b, ',')
	l.b = canon.AppendString(l.b, name)
	l.b = append(l.b, ':')
}

// text adds a member, unless it is empty. A text from outside is bounded, and
// is UTF-8 afterwards.
func (l *body) text(name, value string) {
	if value == "" {
		return
	}
	if len(value) > maxText {
		value = value[:maxText]
	}
	l.key(name)
	l.b = canon.AppendString(l.b, strings.ToValidUTF8(value, "\uFFFD"))
}

func (l *body) number(name string, value uint64) {
	l.key(name)
	l.b = strconv.AppendUint(l.b, value, 10)
}

// json adds a member that is JSON text already.
func (l *body) json(name string, value []byte) {
	l.key(name)
	l.b = append(l.b, value...)
}

const (
	hashBegins = `,"hash":"`
	hashEnds   = `"}` + "\n"
	hashBytes  = len(hashBegins) + 2*sha256.Size + len(hashEnds)
)

// end completes the line, which follows the record with hash prev.
func (l *body) end(prev digest) (line []byte, own digest) {
	l.text("prev", prev.String())
	own = sha256.Sum256(l.b)
	l.b = append(l.b, hashBegins...)
	l.b = hex.AppendEncode(l.b, own[:])
	return append(l.b, hashEnds...), own
}

var errForm = errors.New("it is not a record")

// readRecord reads one line, its end included, as strictly as it was written,
// and checks its own hash.
func readRecord(line []byte) (r record, err error) {
	cut := len(line) - hashBytes
	if cut < 0 || !bytes.HasPrefix(line[cut:], []byte(hashBegins)) || !bytes.HasSuffix(line, []byte(hashEnds)) {
		return r, errForm
	}
	if _, err := hex.Decode(r.own[:], line[cut+len(hashBegins):len(line)-len(hashEnds)]); err != nil {
		return r, errForm
	}
	if err := r.decode(line[:len(line)-1]); err != nil {
		return r, err
	}
	if sha256.Sum256(line[:cut]) != r.own {
		return r, errors.New("its hash is not of what it says")
	}
	return r, nil
}

// decode reads the members. The values of most decide nothing here.
func (r *record) decode(line []byte) error {
	const depth = 100 // of arguments, if they are there
	in := canon.NewJSONReader(line, depth)
	var seen canon.Seen
	in.BeginObject()
	for in.NextMember() {
		switch string(in.Key()) {
		case "v":
			if seen.Mark(in, 0); in.Int(0, math.MaxInt32) != version {
				return errors.New("its version is another")
			}
		case "seq":
			seen.Mark(in, 1)
			r.seq = uint64(in.Int(1, math.MaxInt64))
		case "event":
			seen.Mark(in, 2)
			r.event = in.Enum(eventOpen, eventTorn, eventLost, eventCall, eventOutcome, eventGoverned)
		case "prev":
			seen.Mark(in, 3)
			if n, err := hex.Decode(r.prev[:], []byte(in.String(2*sha256.Size, 2*sha256.Size))); err != nil || n != sha256.Size {
				return errForm
			}
		case "time":
			seen.Mark(in, 4)
			at, err := time.Parse(timeForm, in.String(len(timeForm), len(timeForm)))
			if err != nil {
				return errForm
			}
			r.at = at
		case "log":
			r.log = in.String(1, maxText)
		default:
			in.Skip()
		}
	}
	for i, name := range []string{"v", "seq", "event", "prev", "time"} {
		in.Require(&seen, i, name)
	}
	if in.End() != nil || r.event == eventOpen && r.log == "" {
		return errForm
	}
	return nil
}
