package audit

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// HeadSink gets signed heads, at a place that whoever can write the log cannot
// change: another account, another machine, an append-only store.
type HeadSink interface {
	// Head keeps one signed note (golang.org/x/mod/sumdb/note). It is called
	// by one goroutine. After an error the next head is tried, which vouches
	// for all that the lost one did.
	Head(ctx context.Context, signed []byte) error
}

// head is what is signed: that the log had this record.
type head struct {
	log  string
	seq  uint64
	hash digest
	at   time.Time
}

const headBegins = "capgen audit head 1"

// sign writes the text
//
//	capgen audit head 1
//	<log id>
//	<seq>
//	<hash of that record>
//	<time>
//
// and the signature below it.
func (h head) sign(s note.Signer) ([]byte, error) {
	text := fmt.Sprintf("%s\n%s\n%d\n%s\n%s\n", headBegins, h.log, h.seq, h.hash, h.at.UTC().Format(time.RFC3339))
	return note.Sign(&note.Note{Text: text}, s)
}

// ErrNotSigned is the error of heads of which none vouches for anything.
var ErrNotSigned = errors.New("audit: no head is signed by one of the keys")

// maxHeads bounds the text of heads that is read, in bytes.
const maxHeads = 64 << 20

// heads are signed heads by the record that they vouch for.
type heads struct {
	log        string
	by         map[uint64]digest
	last       uint64
	unreadable int // texts that no key has signed
}

// readHeads keeps the heads that one of the verifiers has signed. What is torn
// or not signed vouches for nothing, and is counted.
func readHeads(in io.Reader, verifiers note.Verifiers) (*heads, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxHeads+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxHeads {
		return nil, fmt.Errorf("audit: more than %d bytes of heads", maxHeads)
	}
	hs := &heads{by: map[uint64]digest{}}
	begins := []byte(headBegins + "\n")
	for at := bytes.Index(text, begins); at >= 0 && len(text) > 0; {
		text = text[at:]
		one := text
		at = bytes.Index(text[len(begins):], begins)
		if at >= 0 {
			at += len(begins)
			one = text[:at]
		}
		h, err := openHead(slices.Concat(bytes.TrimRight(one, "\n"), []byte("\n")), verifiers)
		if err != nil {
			hs.unreadable++
			continue
		}
		if hs.log != "" && hs.log != h.log {
			return nil, errors.New("audit: the heads are of two logs")
		}
		if known, ok := hs.by[h.seq]; ok && known != h.hash {
			return nil, fmt.Errorf("audit: two heads differ about record %d: somebody with the signing key has rewritten the log", h.seq)
		}
		hs.log, hs.by[h.seq], hs.last = h.log, h.hash, max(hs.last, h.seq)
	}
	if hs.last == 0 {
		return nil, ErrNotSigned
	}
	return hs, nil
}

func openHead(signed []byte, verifiers note.Verifiers) (h head, err error) {
	n, err := note.Open(signed, verifiers)
	if err != nil {
		return h, err
	}
	lines := strings.Split(n.Text, "\n")
	if len(lines) != 6 || lines[1] == "" {
		return h, errors.New("audit: not a head")
	}
	h.log = lines[1]
	if h.seq, err = strconv.ParseUint(lines[2], 10, 63); err != nil {
		return h, errors.New("audit: not a head")
	}
	if k, err := hex.Decode(h.hash[:], []byte(lines[3])); err != nil || k != len(h.hash) || len(lines[3]) != 2*len(h.hash) {
		return h, errors.New("audit: not a head")
	}
	return h, nil
}

// HeadFile is a sink that appends to a file, and has each head on the disk
// before it returns.
func HeadFile(path string) HeadSink { return headFile(path) }

type headFile string

func (path headFile) Head(_ context.Context, signed []byte) error {
	f, err := os.OpenFile(string(path), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(signed)
	return errors.Join(err, f.Sync(), f.Close())
}
