package supervise

import (
	"context"
	"errors"
	"time"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/govern/token"
)

var (
	// ErrMoved is the error of a Journal where a job is not any more in the state
	// that its caller has seen.
	ErrMoved = errors.New("supervise: the state of the job has changed meanwhile")
	// ErrHeld is the error for a directory whose job somebody still holds.
	ErrHeld = errors.New("supervise: somebody holds the job")
	// ErrInput is the error of Work.Read for content that is not there any more as it
	// was.
	ErrInput = errors.New("supervise: an input is not there any more as it was approved")
	// ErrUnsupported is the error on a system that jobs cannot run on.
	ErrUnsupported = errors.New("supervise: not on this system")
)

// Job is what every process that deals with a job knows of it.
type Job struct {
	ID string // for logs alone
	// Dir is the job's directory, absolute. Its parent exists, and is the server's
	// alone.
	Dir    string
	Limits Limits
	// Supervisor is what Launch starts: a program that calls [Run] for this job.
	Supervisor Program
	// Now is the moment by both clocks. Nil is the wall clock alone.
	Now func() token.Instant

	step func(name string) // of tests: called before each step
}

// Limits bound a job from outside of the candidate's processes; what bounds each
// of them is in Work.Command.
type Limits struct {
	// Start is how long after its creation the candidate may begin, Wall how long it
	// may go on from there, Grace what a watchdog leaves the supervisor beyond both.
	Start, Wall, Grace time.Duration
	// Output is how many bytes it may write to both of its streams together, Result
	// how many its result may have.
	Output, Result int64
	// Disk is how many bytes may be allocated to what it has in out and tmp of its
	// box, Entries how many files and directories that may be. They are counted
	// while it runs, several times a second, and once more after it.
	Disk    int64
	Entries int
}

// Deadlines are those of the job's states.
func (l Limits) Deadlines() job.Deadlines {
	return job.Deadlines{Start: l.Start, Wall: l.Wall, Grace: l.Grace}
}

// Program is a process as it is started: nothing is added to it but descriptors.
type Program struct {
	Path string   // absolute
	Args []string // the first is the name it goes by
	Env  []string
}

// Work is what a supervisor runs.
type Work struct {
	// Command is the candidate, as it is to be started. Its Dir and the Box of its
	// Confine are not looked at: it works in the job's box.
	Command scope.Command
	// Scope says what holds it: tier, group, and the bounds of the group. Anything
	// else in it is not looked at.
	Scope scope.Options
	// Files are what the candidate finds below code/.
	Files []File
	// Read is the content of digest, of at most max bytes. What it returns is
	// checked against the digest. An error that is not [ErrInput] is the host's.
	Read func(ctx context.Context, digest [32]byte, max int64) ([]byte, error)
	// Statuses say what a positive status of the candidate means, where its runner
	// is the host's own and the candidate has no say in it. Any other is
	// job.FailCandidate.
	Statuses map[int]job.Failure
	// Arguments is what it finds in arguments.json.
	Arguments []byte
	// Check decodes a result and returns it in canonical form. Its error says, in a
	// line, why the result does not hold.
	Check func(result []byte) ([]byte, error)
}

// File is one of a candidate's inputs.
type File struct {
	Path   string // relative, with slashes
	Size   int64  // bytes
	SHA256 [32]byte
}

// Handle is what any process needs to end what is left of a job. It is made to be
// kept, as JSON, and holds only while the kernel runs.
type Handle struct {
	Supervisor scope.Identity `json:"supervisor"`
	Scope      scope.Handle   `json:"scope"`
}

// None reports whether nothing was kept.
func (h Handle) None() bool { return h.Scope.Tier == "" }

// View is what a journal knows of a job.
type View struct {
	State job.State
	Times job.Times
	Beat  token.Instant // when its supervisor was last seen; zero before
	// Handle is what Keep was last called with, None before.
	Handle Handle
}

// Move is one event that happens to a job.
type Move struct {
	// From is the state that the job was seen in. In another one nothing happens.
	From  job.State
	Event job.Event
	By    job.Actor
	Empty bool // it was proved that nothing of it runs
	// Failure and Message, of an event that ends the job without success, say why:
	// a line, without paths of the host. What of it comes from the candidate is
	// made visible.
	Failure job.Failure
	Message string
	// Result, of a success, is canonical.
	Result []byte
}

// Journal keeps what becomes of one job. It may be called by several processes
// and goroutines at a time. What it returned without an error is durable.
type Journal interface {
	// Look is the job as it is now.
	Look(ctx context.Context) (View, error)
	// Move lets m happen if the state is still m.From and [job.Next] allows it, and
	// returns the state it has then. With [ErrMoved] that is the state that somebody
	// else has moved it to. After another error nobody knows whether it happened:
	// Look tells.
	Move(ctx context.Context, m Move) (job.State, error)
	// Keep keeps h, of a job that is STARTING; in any other state it is ErrMoved.
	Keep(ctx context.Context, h Handle) error
	// Beat notes that the supervisor lives, and what the candidate says of how far
	// it is, made visible; and returns the state. It is called about once a second.
	// A job that has ended is left as it is, without an error.
	Beat(ctx context.Context, progress string) (job.State, error)
}
