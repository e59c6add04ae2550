package govern

import (
	"io/fs"
	"time"

	"github.com/capgen/capgen/runtime"
)

// Terms is what the manifest says of a governed capability. It is constant.
type Terms struct {
	// ID and Name of the capability as the manifest declares it, without
	// .prepare and .apply.
	ID, Name string
	// Effect is change, run, write or destroy.
	Effect runtime.Effect
	// Contract is a fingerprint of the capability's declaration, in hexadecimal:
	// a plan of another contract does not land.
	Contract string
	// Min is how many people have to approve, at least 1.
	Min int
	// SelfAllowed lets the account that asks approve, too.
	SelfAllowed bool
	// TTL is for how long a plan may be approved and landed.
	TTL time.Duration
	// Runner is, of a run, the name of what the host has for it; Sandbox the least
	// tier of confinement, and Limits its bounds.
	Runner, Sandbox string
	Limits          RunLimits
}

// effectChange is the effect of a capability that replaces a directory.
const effectChange runtime.Effect = "change"

// Claim is what a requester hands in to have a plan landed.
type Claim struct {
	Plan, Token string
	// Key makes the landing idempotent: the same key is the same landing.
	Key string
	// Approval may name the approval that the requester has in mind. It decides
	// nothing: all approvals of the plan are looked at.
	Approval string
}

// Change is a directory as it is to be, with all that is in it: what is not
// named goes.
type Change struct {
	// Root is the name of one of the service's roots; Path leads from there to
	// the directory, by segments joined with slashes. All of them but the last
	// exist.
	Root, Path string
	// Before is the hash of what is there, in hexadecimal, as whoever asks has
	// seen it: anything else there is stale_state. Empty is whatever is there
	// when the plan is made.
	Before string
	// Summary is a line that approvers see, of at most MaxSummaryBytes.
	Summary string
	// Mode is the permission bits of every directory; zero is 0755.
	Mode  fs.FileMode
	Files []File
	// Dirs are directories that are there even if they are empty. Those that
	// hold files need not be named.
	Dirs []string
}

// MaxSummaryBytes bounds the line that a handler says of its change.
const MaxSummaryBytes = 256

// File is one of a Change.
type File struct {
	Path    string
	Mode    fs.FileMode // permission bits; zero is 0644
	Content []byte
}

// Preview is what approvers of a write or destroy see beside its arguments: a
// text of at most MaxPreviewBytes that says what the call will do. It is made
// once more at landing, and must be the same then.
type Preview struct{ Text string }

// MaxPreviewBytes bounds a preview.
const MaxPreviewBytes = 64 << 10

// Approved is the input of a call that people have approved. Only this package
// makes one, when a plan lands.
type Approved[In any] struct {
	in        In
	plan, key string
	approvers []string
}

// Input is what the plan was made with.
func (a Approved[In]) Input() In { return a.in }

// Plan is the id of the plan.
func (a Approved[In]) Plan() string { return a.plan }

// Key is the same whenever this plan's call is made, and that of no other: a
// system that does nothing twice under one key gets it.
func (a Approved[In]) Key() string { return a.key }

// Approvers are those who approved, by the names in the trust root.
func (a Approved[In]) Approvers() []string { return append([]string(nil), a.approvers...) }

// Prepared is a plan as its requester gets it.
type Prepared struct {
	Plan    string
	Hash    string // of the plan's body, in hexadecimal
	Token   string // shows at landing that the plan was given to who lands it
	Expires time.Time
	Actions []Action // of a change
	// Approval is the command by which an approver looks at the plan and decides.
	Approval string
	// Separation says whether the approver's account is another one than the
	// requester's: full, partial, none or unknown.
	Separation string
}

// Landed is what came of a landing.
type Landed struct {
	Plan  string
	State string // applied of a change, done of a call
	Tree  string // hash of the directory, of a change
	// Output is what the call returned, in canonical form; nil of a change.
	Output []byte
}

// Action is what a change does to one path. The directory itself is ".".
type Action struct {
	Path   string `json:"path"`
	Action string `json:"action"` // create, replace, delete, mode, mkdir or rmdir
	// Before and After are the SHA-256 of a file's content in hexadecimal, or
	// permission bits in octal where only they change; empty where there is
	// nothing.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Mode is the permission bits afterwards, in octal; of what goes, before.
	Mode string `json:"mode"`
}
