package approve

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/govern/internal/form"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/token"
)

// Purpose is what a statement does to its plan.
type Purpose string

// The purposes. One rejection ends a plan, however many approve.
const (
	Approve Purpose = "approve"
	Reject  Purpose = "reject"
)

// MaxReasonBytes bounds Statement.Reason.
const MaxReasonBytes = 1 << 10

const (
	statementVersion  = 1
	maxUserBytes      = 64
	maxStatementBytes = 16 << 10
)

// Statement is what an approver signs.
type Statement struct {
	Purpose Purpose
	// Plan, PlanHash ([plan.HashOf] of its body), PolicyHash ([plan.Policy.Hash])
	// and Store are those of the plan.
	Plan                 string
	PlanHash, PolicyHash plan.Hash
	Store                string
	Nonce                [16]byte // random
	Approver             Account
	KeyID                string // of the signer; Sign sets it
	// Issued is when it was signed, and TTL for how long after it counts, in
	// whole microseconds.
	Issued token.Instant
	TTL    time.Duration
	// Shown is the SHA-256 of what the approver was shown ([review.Render]).
	Shown [32]byte
	// Reason of a rejection, in the approver's words.
	Reason string
}

// Account is who an approver is to the operating system. The trust root binds
// the UID to the key; User is what that account was called then.
type Account struct {
	UID  uint32
	User string
}

// Expires is when the statement does not count any more.
func (s Statement) Expires() token.Instant { return s.Issued.Later(s.TTL) }

// ErrInvalid is the error for what is no statement, and no envelope of one.
var ErrInvalid = errors.New("approve: not a signed statement of this form")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}

func (s Statement) check() error {
	switch {
	case s.Purpose != Approve && s.Purpose != Reject:
		return invalid("its purpose is neither to approve nor to reject")
	case !plan.ValidID(s.Plan) || !plan.ValidStore(s.Store):
		return invalid("it does not name a plan and a store")
	case !validKeyID(s.KeyID):
		return invalid("it does not name a key")
	case s.Approver.UID == noUID || len(s.Approver.User) > maxUserBytes || !utf8.ValidString(s.Approver.User):
		return invalid("its approver is no account")
	case !form.ValidInstant(s.Issued) || s.TTL <= 0 || s.TTL > plan.MaxTTL || s.TTL%time.Microsecond != 0:
		return invalid("it counts at no time that there is")
	case s.Purpose == Approve && s.Shown == [32]byte{}:
		return invalid("it does not say what was shown")
	case len(s.Reason) > MaxReasonBytes || !utf8.ValidString(s.Reason) || s.Purpose == Approve && s.Reason != "":
		return invalid("its reason is too long, is not UTF-8, or is one to approve")
	}
	return nil
}

// noUID stands for no account (chown(2)).
const noUID = 1<<32 - 1

// append appends the statement's canonical JSON (RFC 8785).
func (s Statement) append(b []byte) []byte {
	b = append(b, `{"approver":{"uid":`...)
	b = strconv.AppendUint(b, uint64(s.Approver.UID), 10)
	b = append(b, `,"user":`...)
	b = canon.AppendString(b, s.Approver.User)
	b = append(b, `},"issued":`...)
	b = form.AppendInstant(b, s.Issued)
	b = append(b, `,"key":`...)
	b = canon.AppendString(b, s.KeyID)
	b = append(b, `,"nonce":`...)
	b = form.AppendHex(b, s.Nonce[:])
	b = append(b, `,"plan":`...)
	b = canon.AppendString(b, s.Plan)
	b = append(b, `,"plan_hash":`...)
	b = form.AppendHex(b, s.PlanHash[:])
	b = append(b, `,"policy_hash":`...)
	b = form.AppendHex(b, s.PolicyHash[:])
	b = append(b, `,"purpose":`...)
	b = canon.AppendString(b, string(s.Purpose))
	b = append(b, `,"reason":`...)
	b = canon.AppendString(b, s.Reason)
	b = append(b, `,"shown":`...)
	b = form.AppendHex(b, s.Shown[:])
	b = append(b, `,"store":`...)
	b = canon.AppendString(b, s.Store)
	b = append(b, `,"ttl_us":`...)
	b = strconv.AppendInt(b, s.TTL.Microseconds(), 10)
	b = append(b, `,"v":`...)
	b = strconv.AppendInt(b, statementVersion, 10)
	return append(b, '}')
}

// parseStatement reads the one spelling of a statement.
func parseStatement(text []byte) (Statement, error) {
	if len(text) > maxStatementBytes {
		return Statement{}, invalid("it has more than %d bytes", maxStatementBytes)
	}
	const depth = 2
	r := canon.NewJSONReader(text, depth)
	var s Statement
	form.Object(r, func(key string) { s.member(r, key) })
	if err := r.End(); err != nil {
		return Statement{}, invalid("%w", err)
	}
	if err := s.check(); err != nil {
		return Statement{}, err
	}
	if !bytes.Equal(s.append(nil), text) {
		return Statement{}, invalid("it is not in canonical form")
	}
	return s, nil
}

func (s *Statement) member(r *canon.Reader, key string) {
	switch key {
	case "approver":
		form.Object(r, func(key string) {
			switch key {
			case "uid":
				s.Approver.UID = form.UID(r)
			case "user":
				s.Approver.User = r.String(0, maxUserBytes)
			default:
				r.UnknownMember()
			}
		})
	case "issued":
		s.Issued = form.Instant(r)
	case "key":
		s.KeyID = r.String(1, hex.EncodedLen(keyIDBytes))
	case "nonce":
		form.Hex(r, s.Nonce[:])
	case "plan":
		s.Plan = r.String(1, maxUserBytes)
	case "plan_hash":
		form.Hex(r, s.PlanHash[:])
	case "policy_hash":
		form.Hex(r, s.PolicyHash[:])
	case "purpose":
		s.Purpose = Purpose(r.Enum(string(Approve), string(Reject)))
	case "reason":
		s.Reason = r.String(0, MaxReasonBytes)
	case "shown":
		form.Hex(r, s.Shown[:])
	case "store":
		s.Store = r.String(1, maxUserBytes)
	case "ttl_us":
		s.TTL = form.Micros(r, plan.MaxTTL)
	case "v":
		r.Int(statementVersion, statementVersion)
	default:
		r.UnknownMember()
	}
}
