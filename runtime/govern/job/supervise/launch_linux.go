package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/scope"
)

// Launch makes the job's directory, claims its one start, and starts its
// supervisor, which outlives this process. It returns the state that the job has
// then. A job that is not QUEUED, or that somebody else is at, is left as it is.
// With an error the job is as Look and [Settle] find it.
func Launch(ctx context.Context, j Job, to Journal) (job.State, error) {
	v, err := to.Look(ctx)
	if err != nil || v.State != job.Queued {
		return v.State, err
	}
	j.at("queued")
	if err := makeDirectory(j.Dir); err != nil {
		return v.State, fmt.Errorf("supervise: %w", err)
	}
	j.at("made")
	alive, err := hold(j.Dir)
	if errors.Is(err, ErrHeld) {
		v, err := to.Look(ctx)
		return v.State, err
	}
	if err != nil {
		return v.State, err
	}
	defer alive.Close() // the supervisor's copy keeps the lock
	own, err := openLog(j.Dir, Supervisor)
	if err != nil {
		return v.State, fmt.Errorf("supervise: %w", err)
	}
	defer own.Close()
	j.at("held")
	// From here on it is not left half done because somebody hangs up.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), startPatience)
	defer stop()
	state, err := to.Move(ctx, Move{From: job.Queued, Event: job.EventClaim, By: job.ByServer})
	if err != nil {
		return moved(state, err)
	}
	j.at("claimed")
	return j.spawn(ctx, to, state, own, alive)
}

// spawn starts the supervisor of a job that was claimed.
func (j Job) spawn(ctx context.Context, to Journal, state job.State, own, alive *os.File) (job.State, error) {
	p := j.Supervisor
	var err error
	if !filepath.IsAbs(p.Path) || len(p.Args) == 0 {
		err = errors.New("supervise: a supervisor has an absolute path, and a name it goes by")
	} else {
		err = scope.Spawn(p.Path, p.Args, p.Env, nil, own, own, alive)
	}
	j.at("spawned")
	if err == nil || errors.Is(err, scope.ErrUnsure) { // then the lock tells, as soon as this copy is closed
		return state, err
	}
	state, failed := j.finish(ctx, to, job.ByServer, state, ending{
		event: job.EventFail, failure: job.FailInfrastructure, message: "the supervisor could not be started",
	})
	return state, errors.Join(err, failed)
}

// moved is the answer where an event did not happen because somebody else was
// there before.
func moved(state job.State, err error) (job.State, error) {
	if errors.Is(err, ErrMoved) {
		return state, nil
	}
	return state, err
}

// makeDirectory makes the directory of a job, or takes the one of a launch that
// was interrupted.
func makeDirectory(dir string) error {
	for _, path := range []string{dir, filepath.Join(dir, logsName)} {
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
		var s unix.Stat_t
		if err := unix.Lstat(path, &s); err != nil {
			return err
		}
		if s.Mode&unix.S_IFMT != unix.S_IFDIR || s.Mode&0o077 != 0 || int(s.Uid) != os.Geteuid() {
			return errors.New("what is there is not this account's own directory")
		}
	}
	return nil
}
