package daemon

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/internal/form"
	"github.com/capgen/capgen/runtime/govern/plan"
)

// Bounds of a message, in bytes: of one that brings a plan, and of others.
const (
	MaxPlanMessage = 2 * plan.MaxBodyBytes
	MaxMessage     = 64 << 10
	// maxAnswer bounds what a client reads.
	maxAnswer = 4 << 20
)

// The operations.
const (
	opKey       = "key"       // which key signs for the peer
	opSign      = "sign"      // sign a statement about a plan
	opEnvelopes = "envelopes" // of a plan
	opSpend     = "spend"     // remember that an approval was spent
	opBegin     = "begin"     // remember that the landing of a plan is committed
	opEnd       = "end"       // remember that it has come to its end
	opHead      = "head"      // keep a signed head of an audit log
)

// Codes of refusals.
const (
	codeForbidden = "forbidden" // not for this account
	codeInvalid   = "invalid"   // not a request, or one that does not fit its plan
	codeSpent     = "spent"     // the approval was spent on another plan, or the plan is done
	codeUnspent   = "unspent"   // nothing was spent on the plan
	codeFull      = "full"      // a bound is reached
	codeInternal  = "internal"
)

// message is a request or an answer: the members that an operation has.
type message struct {
	op   string // of a request
	code string // of a refusal
	text string // of a refusal

	plan      string
	nonce     []byte
	body, pae []byte
	key       string
	signature []byte
	envelopes [][]byte
	head      []byte
}

func (m message) append(b []byte) []byte {
	first := true
	member := func(name string) {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(canon.AppendString(b, name), ':')
	}
	text := func(name, value string) {
		if value != "" {
			member(name)
			b = canon.AppendString(b, value)
		}
	}
	binary := func(name string, value []byte) {
		if len(value) > 0 {
			member(name)
			b = appendBase64(b, value)
		}
	}
	b = append(b, '{')
	binary("body", m.body)
	text("code", m.code)
	if len(m.envelopes) > 0 {
		member("envelopes")
		b = append(b, '[')
		for i, e := range m.envelopes {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendBase64(b, e)
		}
		b = append(b, ']')
	}
	binary("head", m.head)
	text("key", m.key)
	binary("nonce", m.nonce)
	text("op", m.op)
	binary("pae", m.pae)
	text("plan", m.plan)
	binary("signature", m.signature)
	text("text", m.text)
	return append(b, '}')
}

func appendBase64(b, value []byte) []byte {
	b = append(b, '"')
	b = base64.StdEncoding.AppendEncode(b, value)
	return append(b, '"')
}

var errMessage = errors.New("daemon: not a message of this protocol")

// parseMessage reads the one spelling of a message.
func parseMessage(text []byte) (m message, err error) {
	const depth, maxText = 2, 4 << 10
	r := canon.NewJSONReader(text, depth)
	form.Object(r, func(key string) {
		switch key {
		case "body":
			m.body = r.Base64(1, len(text))
		case "code":
			m.code = r.String(1, maxText)
		case "envelopes":
			r.BeginArray(1, approve.MaxEnvelopes)
			for r.NextElement() {
				m.envelopes = canon.Append(r, m.envelopes, r.Base64(1, len(text)))
			}
		case "head":
			m.head = r.Base64(1, len(text))
		case "key":
			m.key = r.String(1, maxText)
		case "nonce":
			m.nonce = r.Base64(1, len(text))
		case "op":
			m.op = r.String(1, maxText)
		case "pae":
			m.pae = r.Base64(1, len(text))
		case "plan":
			m.plan = r.String(1, maxText)
		case "signature":
			m.signature = r.Base64(1, len(text))
		case "text":
			m.text = r.String(1, maxText)
		default:
			r.UnknownMember()
		}
	})
	if err := r.End(); err != nil {
		return message{}, fmt.Errorf("%w: %w", errMessage, err)
	}
	if !bytes.Equal(m.append(nil), text) {
		return message{}, fmt.Errorf("%w: it is not in canonical form", errMessage)
	}
	return m, nil
}

// writeFrame writes a message behind its length, four bytes, the highest first.
func writeFrame(w io.Writer, m message) error {
	text := m.append(make([]byte, 4, 512))
	binary.BigEndian.PutUint32(text, uint32(len(text)-4))
	_, err := w.Write(text)
	return err
}

// readFrame reads a message of at most max bytes.
func readFrame(r io.Reader, max int) (message, error) {
	var header [4]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return message{}, err
	}
	n := binary.BigEndian.Uint32(header[:])
	if int64(n) > int64(max) {
		return message{}, fmt.Errorf("%w: more than %d bytes", errMessage, max)
	}
	// Memory follows what has come, not what was announced.
	text, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil {
		return message{}, err
	}
	if len(text) < int(n) {
		return message{}, io.ErrUnexpectedEOF
	}
	return parseMessage(text)
}
