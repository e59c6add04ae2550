package audit

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/capgen/capgen/runtime/canon"
)

// Governed is something that happened to a governed effect: a plan was made,
// an approval was spent, a change has landed, any of that was refused.
type Governed struct {
	// Event is one to four words of lower case letters and '_', with dots
	// between them: plan.prepared.
	Event string
	Actor Actor
	// Subject is the flat form of whose effect it is; Plan and Capability are
	// ids. Each may be empty.
	Subject, Plan, Capability string
	// Arguments are canonical (RFC 8785); the record has their fingerprint. Nil
	// where there are none.
	Arguments []byte
	// Refused is the code of a refusal, and empty where it was done.
	Refused string
	// Details are a JSON object of at most MaxDetails bytes, nil for none. They
	// are in the record as they are: no values of arguments, and no secrets.
	Details []byte
}

// MaxDetails bounds the details of a record, in bytes.
const MaxDetails = 16 << 10

// Actor is who did it, as far as that is known.
type Actor struct {
	Kind    ActorKind
	UID     int // of the process; below 0 where there is none
	User    string
	PID     int // 0 where it is not known
	Session string
	Client  string // what an MCP client calls itself
}

// ActorKind says through what somebody acted.
type ActorKind string

// The kinds of actors.
const (
	ByMCP    ActorKind = "mcp"
	ByCLI    ActorKind = "cli"
	ByDaemon ActorKind = "daemon"
	BySystem ActorKind = "system" // the server itself: expiry, recovery
)

var eventName = regexp.MustCompile(`^[a-z_]{1,32}(\.[a-z_]{1,32}){0,3}$`)

// prepared is g in the form in which it is written, if it can be.
func (g Governed) prepared() (Governed, error) {
	if !eventName.MatchString(g.Event) {
		return g, fmt.Errorf("audit: the event %q is none", g.Event)
	}
	switch g.Actor.Kind {
	case ByMCP, ByCLI, ByDaemon, BySystem:
	default:
		return g, fmt.Errorf("audit: the kind of actor %q is none", g.Actor.Kind)
	}
	if g.Details == nil {
		return g, nil
	}
	const depth = 16
	details, err := canon.CanonicalizeJSON(nil, g.Details, depth)
	if err != nil {
		return g, fmt.Errorf("audit: details: %w", err)
	}
	if len(details) > MaxDetails || details[0] != '{' {
		return g, errors.New("audit: details are not a JSON object, or too long")
	}
	g.Details = details
	return g, nil
}

func (g Governed) describe(b *body, key Key) {
	b.text("what", g.Event)
	b.text("actor", string(g.Actor.Kind))
	if g.Actor.UID >= 0 {
		b.number("uid", uint64(g.Actor.UID))
	}
	b.text("user", g.Actor.User)
	if g.Actor.PID > 0 {
		b.number("pid", uint64(g.Actor.PID))
	}
	b.text("session", g.Actor.Session)
	b.text("client", g.Actor.Client)
	b.text("subject", g.Subject)
	b.text("plan", g.Plan)
	b.text("capability", g.Capability)
	b.text("refused", g.Refused)
	if g.Arguments != nil {
		b.text("fingerprint", key.Fingerprint(g.Capability, g.Arguments))
	}
	if g.Details != nil {
		b.json("details", g.Details)
	}
}
