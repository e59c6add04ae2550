package supervise

import (
	"context"
	"errors"

	"github.com/capgen/capgen/runtime/govern/job"
)

var errNotYet = errors.New("supervise: not built yet")

// Launch makes the job's directory, claims its one start, and starts its
// supervisor, which outlives this process. It returns the state that the job has
// then. A job that is not QUEUED, or that somebody else is at, is left as it is.
// With an error the job is as Look and [Settle] find it.
func Launch(ctx context.Context, j Job, to Journal) (job.State, error) { return "", errNotYet }

// Run is the supervisor: it does the work of a job, whose lock it has inherited,
// and returns when the job has ended, with the state it ended in. The end of ctx
// ends the job, which fails then. The process has no children, and nothing else
// to do; it exits afterwards. After an error the job may not have ended: [Settle]
// sees to that.
func Run(ctx context.Context, j Job, w Work, to Journal) (job.State, error) { return "", errNotYet }

// Settle looks at a job that has not ended, from any process of the host, and does
// what its supervisor cannot do any more: it launches what is QUEUED, ends what
// has lost its supervisor or is overdue, and returns the state. What is in order
// is left as it is. After an error it may be called again.
func Settle(ctx context.Context, j Job, to Journal) (job.State, error) { return "", errNotYet }

// Tail is the last n bytes of a log, 0 of one that is not there yet, of the job
// whose directory is dir.
func Tail(dir, name string, n int64) (Log, error) { return Log{}, errNotYet }

// Remove removes the directory of a job that has ended, whatever its candidate
// has left there; one that is gone is no error, one whose job somebody still
// holds is [ErrHeld].
func Remove(dir string) error { return errNotYet }
