package approve

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/govern/internal/form"
)

// PayloadType is the type of every statement. It is in what is signed, so that
// a signature over anything else is none of an approval.
const PayloadType = "application/vnd.capgen.approval.v1+json"

// MaxEnvelopeBytes bounds an envelope.
const MaxEnvelopeBytes = 32 << 10

// Signer signs with one key.
type Signer interface {
	// KeyID identifies the public key: [KeyID] of it.
	KeyID() string
	// Sign returns the Ed25519 signature of pae, as it is.
	Sign(ctx context.Context, pae []byte) ([]byte, error)
}

const keyIDBytes = sha256.Size

// KeyID is the SHA-256 of an Ed25519 public key, in hexadecimal.
func KeyID(public ed25519.PublicKey) string {
	sum := sha256.Sum256(public)
	return hex.EncodeToString(sum[:])
}

func validKeyID(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == keyIDBytes && hex.EncodeToString(b) == s
}

// PAE is the encoding that is signed (DSSE protocol, version 1): type and body
// with their lengths, so that no two pairs share one.
func PAE(payloadType string, body []byte) []byte {
	b := append([]byte("DSSEv1 "), strconv.Itoa(len(payloadType))...)
	b = append(append(append(b, ' '), payloadType...), ' ')
	b = append(strconv.AppendInt(b, int64(len(body)), 10), ' ')
	return append(b, body...)
}

// Sign has s signed, with its KeyID set to the signer's, and returns the
// envelope.
func Sign(ctx context.Context, signer Signer, s Statement) (envelope []byte, err error) {
	s.KeyID = signer.KeyID()
	if err := s.check(); err != nil {
		return nil, err
	}
	payload := s.append(nil)
	signature, err := signer.Sign(ctx, PAE(PayloadType, payload))
	if err != nil {
		return nil, fmt.Errorf("approve: sign: %w", err)
	}
	if len(signature) != ed25519.SignatureSize {
		return nil, fmt.Errorf("approve: sign: a signature of %d bytes is none of Ed25519", len(signature))
	}
	return sealed{payload, s.KeyID, signature}.append(nil), nil
}

// Seal is the envelope of a statement that somebody has signed: what [Sign]
// returns.
func Seal(s Statement, signature []byte) []byte {
	return sealed{s.append(nil), s.KeyID, signature}.append(nil)
}

// OpenPAE reads back what a signer is asked to sign: the statement of which pae
// is the encoding, or [ErrInvalid].
func OpenPAE(pae []byte) (Statement, error) {
	// The payload is what is behind the header for as many bytes.
	for digits := 1; digits <= len(strconv.Itoa(maxStatementBytes)); digits++ {
		header := len(PAE(PayloadType, nil)) - 1 + digits
		if len(pae) < header {
			break
		}
		if payload := pae[header:]; bytes.Equal(PAE(PayloadType, payload), pae) {
			return parseStatement(payload)
		}
	}
	return Statement{}, invalid("what is to be signed is no statement")
}

// Open reads an envelope without asking who signed it: for those who keep
// envelopes. What it returns counts for nothing.
func Open(envelope []byte) (Statement, error) {
	_, s, err := parseEnvelope(envelope)
	return s, err
}

// sealed is an envelope: a payload and its one signature.
type sealed struct {
	payload   []byte
	keyID     string
	signature []byte
}

func (e sealed) append(b []byte) []byte {
	b = append(b, `{"payload":"`...)
	b = base64.StdEncoding.AppendEncode(b, e.payload)
	b = append(b, `","payloadType":"`+PayloadType+`","signatures":[{"keyid":`...)
	b = canon.AppendString(b, e.keyID)
	b = append(b, `,"sig":"`...)
	b = base64.StdEncoding.AppendEncode(b, e.signature)
	return append(b, `"}]}`...)
}

// parseEnvelope reads the one spelling of an envelope and of the statement in
// it. The signature is not checked yet: nothing of the result counts.
//
// DSSE lets verifiers take other spellings, and several signatures. Here an
// envelope is the vote of one approver, and its hash its name: it has one
// signature, standard base64 with padding, and is canonical JSON.
func parseEnvelope(text []byte) (sealed, Statement, error) {
	if len(text) > MaxEnvelopeBytes {
		return sealed{}, Statement{}, invalid("the envelope has more than %d bytes", MaxEnvelopeBytes)
	}
	const depth = 3
	var e sealed
	r := canon.NewJSONReader(text, depth)
	form.Object(r, func(key string) {
		switch key {
		case "payload":
			e.payload = r.Base64(1, MaxEnvelopeBytes)
		case "payloadType":
			r.Enum(PayloadType)
		case "signatures":
			r.BeginArray(1, 1)
			for r.NextElement() {
				form.Object(r, func(key string) {
					switch key {
					case "keyid":
						e.keyID = r.String(1, hex.EncodedLen(keyIDBytes))
					case "sig":
						e.signature = r.Base64(1, base64.StdEncoding.EncodedLen(ed25519.SignatureSize))
					default:
						r.UnknownMember()
					}
				})
			}
		default:
			r.UnknownMember()
		}
	})
	if err := r.End(); err != nil {
		return sealed{}, Statement{}, invalid("%w", err)
	}
	if !bytes.Equal(e.append(nil), text) {
		return sealed{}, Statement{}, invalid("the envelope is not in canonical form")
	}
	s, err := parseStatement(e.payload)
	if err != nil {
		return sealed{}, Statement{}, err
	}
	if s.KeyID != e.keyID {
		return sealed{}, Statement{}, invalid("the envelope names another key than the statement")
	}
	return e, s, nil
}

// ID is the name of an envelope: the SHA-256 of its bytes, in hexadecimal.
func ID(envelope []byte) string {
	sum := sha256.Sum256(envelope)
	return hex.EncodeToString(sum[:])
}
