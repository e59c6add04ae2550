package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/internal/form"
	"github.com/capgen/capgen/runtime/govern/root"
	"github.com/capgen/capgen/runtime/govern/token"
)

// Bounds of a plan.
const (
	MaxBodyBytes    = 4 << 20 // of the document
	MaxSummaryBytes = 1 << 10 // of Change.Summary
	MaxPathBytes    = 4 << 10 // of Change.Path
	MaxApprovers    = 8       // of Policy.Min
	MaxTTL          = 30 * 24 * time.Hour

	maxText = 1 << 10 // of the other texts
	// maxDepth is of containers: the arguments' and those around them.
	maxDepth = 64
)

// ErrInvalid is the error for what is no plan: not canonical, out of bounds, or
// saying two things at once.
var ErrInvalid = errors.New("plan: not a plan")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}

// Hash is a SHA-256 over a domain of its own and a canonical text.
type Hash [sha256.Size]byte

// String is the hash in lower-case hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Domains, so that no two kinds of text share a hash.
const (
	planDomain   = "govern/plan/v1\x00"
	policyDomain = "govern/policy/v1\x00"
)

// HashOf is what approvals of the plan with this body sign.
func HashOf(body []byte) Hash {
	h := sha256.New()
	h.Write([]byte(planDomain))
	h.Write(body)
	return Hash(h.Sum(nil))
}

// Effect is the effect of the capability.
type Effect string

// The effects that are planned.
const (
	EffectChange  Effect = "change"
	EffectWrite   Effect = "write"
	EffectDestroy Effect = "destroy"
	EffectRun     Effect = "run"
)

// Separation says how far requester, server and approver are kept apart by the
// operating system, as the server saw it when it made the plan.
type Separation string

// The separations.
const (
	SeparationFull    Separation = "full"    // three accounts
	SeparationPartial Separation = "partial" // approvers have accounts of their own, requester and server share one
	SeparationUnknown Separation = "unknown" // it cannot be seen, as with keys of an ssh-agent
	SeparationNone    Separation = "none"    // the requester could approve
)

// Plan is what a body says. The zero Created.Boot is none.
type Plan struct {
	ID    string // plan_ and 32 lower-case hexadecimal digits
	Store string // the id of the store: 32 lower-case hexadecimal digits
	Owner string // who asked, the flat form of a subject
	// ServerUID is the account that made the plan, PeerUID the one its client
	// had, where a socket told.
	ServerUID uint32
	PeerUID   *uint32

	Capability string // id
	Name       string
	Effect     Effect
	Contract   Hash   // of the capability's contract when the plan was made
	Arguments  []byte // canonical
	Key        Hash   // of the idempotency key

	Policy     Policy
	Separation Separation
	Created    token.Instant
	TTL        time.Duration // how long after Created it can land; whole microseconds

	// Change is set for EffectChange, and only there.
	Change *Change
	// Run is set for EffectRun, and only there.
	Run *Run
	// Preview is the digest of what a call said that it would do; nil if it does
	// not say. Only calls have one.
	Preview *cas.Digest
}

// Policy is what approvals a plan needs.
type Policy struct {
	Min         int           // approvers, 1 to MaxApprovers
	SelfAllowed bool          // an approver may be the requester
	TTL         time.Duration // how long an approval is good; whole microseconds
}

// Change is one directory in place of another.
type Change struct {
	Root    string // the name of the root
	Path    string // below it, segments joined by slashes
	Summary string // the server's words, which decide nothing
	// Pre and Post are the trees. The canonical text of a tree is an object of
	// the content store, under the same digest.
	Pre, Post change.Hash
}

// Expires is when the plan cannot land any more.
func (p Plan) Expires() token.Instant { return p.Created.Later(p.TTL) }

// Hash is the SHA-256 of the policy's canonical text.
func (p Policy) Hash() Hash {
	h := sha256.New()
	h.Write([]byte(policyDomain))
	h.Write(p.append(nil))
	return Hash(h.Sum(nil))
}

// Check returns nil if Encode takes the plan.
func (p Plan) Check() error {
	switch {
	case !named(p.ID, "plan_"):
		return invalid("its id is not plan_ and 32 hexadecimal digits")
	case !named(p.Store, ""):
		return invalid("the store's id is not 32 hexadecimal digits")
	case p.Separation != SeparationFull && p.Separation != SeparationPartial && p.Separation != SeparationUnknown && p.Separation != SeparationNone:
		return invalid("its separation is none that there is")
	case !form.ValidInstant(p.Created):
		return invalid("it was not made at a time that there is")
	case !lasting(p.TTL):
		return invalid("it lasts for no time, or for too long")
	}
	if p.ServerUID == math.MaxUint32 || p.PeerUID != nil && *p.PeerUID == math.MaxUint32 {
		return invalid("an account has the number that stands for none")
	}
	for _, text := range []string{p.Owner, p.Capability, p.Name} {
		if text == "" || len(text) > maxText || !utf8.ValidString(text) {
			return invalid("owner, capability or name is empty, too long, or not UTF-8")
		}
	}
	if err := p.Policy.check(); err != nil {
		return err
	}
	if !canonicalObject(p.Arguments) {
		return invalid("its arguments are no canonical object")
	}
	if (p.Run != nil) != (p.Effect == EffectRun) {
		return invalid("a run has code, and nothing else has")
	}
	switch p.Effect {
	case EffectRun:
		if p.Change != nil || p.Preview != nil {
			return invalid("a run has neither trees nor a preview")
		}
		return p.Run.check()
	case EffectChange:
		if p.Change == nil || p.Preview != nil {
			return invalid("a change has trees and no preview")
		}
		return p.Change.check()
	case EffectWrite, EffectDestroy:
		if p.Change != nil {
			return invalid("a call has no trees")
		}
		return nil
	}
	return invalid("its effect is none that is planned")
}

func (p Policy) check() error {
	switch {
	case p.Min < 1 || p.Min > MaxApprovers:
		return invalid("its policy asks for fewer than 1 or more than %d approvers", MaxApprovers)
	case !lasting(p.TTL):
		return invalid("its approvals last for no time, or for too long")
	}
	return nil
}

func (c *Change) check() error {
	switch {
	case c.Root == "" || len(c.Root) > maxText || !utf8.ValidString(c.Root):
		return invalid("its root has no name, or none that is UTF-8")
	case len(c.Path) > MaxPathBytes:
		return invalid("its path has more than %d bytes", MaxPathBytes)
	case len(c.Summary) > MaxSummaryBytes || !utf8.ValidString(c.Summary):
		return invalid("its summary has more than %d bytes, or is not UTF-8", MaxSummaryBytes)
	case c.Pre == c.Post:
		return invalid("it changes nothing")
	}
	for name := range strings.SplitSeq(c.Path, "/") {
		if err := root.CheckName(name); err != nil {
			return invalid("its path: %w", err)
		}
	}
	return nil
}

// named tells whether s is prefix and 32 lower-case hexadecimal digits.
func named(s, prefix string) bool {
	digits, ok := strings.CutPrefix(s, prefix)
	return ok && len(digits) == 32 && strings.Trim(digits, "0123456789abcdef") == ""
}

// ValidID tells whether s is an id of a plan.
func ValidID(s string) bool { return named(s, "plan_") }

// ValidStore tells whether s is an id of a store.
func ValidStore(s string) bool { return named(s, "") }

func lasting(d time.Duration) bool {
	return d > 0 && d <= MaxTTL && d%time.Microsecond == 0
}
