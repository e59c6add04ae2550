package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/govern/token"
)

const (
	// grace is what a candidate has from SIGTERM on before it is killed.
	grace = 2 * time.Second
	// startPatience is how long the start of a process may take.
	startPatience = 30 * time.Second
	// endedPatience is how long a journal that fails is asked to take the end of a
	// job. After that the watchdog finds the job without a supervisor.
	endedPatience = time.Minute
)

// Run is the supervisor: it does the work of a job, whose lock it has inherited,
// and returns when the job has ended, with the state it ended in. The end of ctx
// ends the job, which fails then. The process has no children, and nothing else
// to do; it exits afterwards. After an error the job may not have ended: [Settle]
// sees to that.
func Run(ctx context.Context, j Job, w Work, to Journal) (job.State, error) {
	alive, err := inherited(j.Dir)
	if err != nil {
		return "", err
	}
	defer alive.Close()
	v, err := lookUntil(ctx, to)
	if err != nil {
		return "", err
	}
	j.at("inherited")
	if v.State.Ended() {
		return v.State, nil
	}
	if v.State != job.Starting && v.State != job.CancelRequested || !v.Handle.None() {
		return v.State, errors.New("supervise: the job has begun without this process")
	}
	s := &supervisor{Job: j, work: w, journal: to, state: v.State, times: v.Times}
	e, err := s.run(ctx, alive)
	if err != nil {
		return s.state, err // nothing is proved
	}
	ending, stop := context.WithTimeout(context.WithoutCancel(ctx), endedPatience)
	defer stop()
	state, err := j.finish(ending, to, job.BySupervisor, s.state, e)
	j.at("finished")
	return state, err
}

// lookUntil looks until the journal answers, for a while.
func lookUntil(ctx context.Context, to Journal) (View, error) {
	ctx, stop := context.WithTimeout(ctx, startPatience)
	defer stop()
	v, err := to.Look(ctx)
	if err != nil {
		v, err = lookAgain(ctx, to, err)
	}
	return v, err
}

// supervisor is one Run.
type supervisor struct {
	Job
	work    Work
	journal Journal
	state   job.State // as it was last seen
	times   job.Times // as they were before it began
	began   token.Instant

	box    *box
	room   *room
	output *output
	scope  *scope.Scope
}

// note writes to the supervisor's log, which its standard error is.
func (s *supervisor) note(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s %s: %s\n", time.Now().UTC().Format(time.RFC3339), s.ID, fmt.Sprintf(format, args...))
}

// broken is the end of a job that the host could not run. The cause is for the
// log.
func (s *supervisor) broken(message string, cause error) ending {
	s.note("%s: %v", message, cause)
	return ending{event: job.EventFail, failure: job.FailInfrastructure, message: message}
}

// late reports whether it is too late for the candidate to begin.
func (s *supervisor) late() bool { return s.Limits.Deadlines().ToBegin(s.times, s.now()) <= 0 }

// expired is the end of a job that has not begun in time.
func (s *supervisor) expired() ending {
	return ending{event: job.EventExpire, failure: job.FailTimeout, message: "it waited for its start for too long"}
}

// unready is the end of a job that has not begun because of cause, which may be
// that its time was over.
func (s *supervisor) unready(message string, cause error) ending {
	e := s.broken(message, cause)
	if s.late() {
		e = s.expired()
	}
	return e
}

// run returns what the job comes to, and, without an error, the proof that nothing
// of it runs.
func (s *supervisor) run(ctx context.Context, alive *os.File) (ending, error) {
	switch {
	case s.state == job.CancelRequested:
		return ending{event: job.EventEmptied}, nil
	case s.late():
		return s.expired(), nil
	}
	// What comes before the beginning has until then.
	waiting, stop := context.WithTimeout(ctx, s.Limits.Deadlines().ToBegin(s.times, s.now()))
	defer stop()
	var err error
	if s.box, err = build(waiting, s.Dir, s.work); err != nil {
		if errors.Is(err, ErrInput) && ctx.Err() == nil {
			s.note("%v", err)
			return ending{event: job.EventFail, failure: job.FailInput, message: inputMessage}, nil
		}
		return s.unready("its directory could not be made", err), nil
	}
	defer s.box.out.Close()
	if s.room, err = openRoom(s.box.path, s.Limits); err != nil {
		return s.broken("its directory could not be opened", err), nil
	}
	defer s.room.close()
	s.at("built")
	if s.output, err = capture(s.Dir, s.Limits.Output); err != nil {
		return s.broken("its logs could not be made", err), nil
	}
	if s.scope, err = scope.Open(scope.Options{
		Tier: s.work.Scope.Tier, Cgroup: s.work.Scope.Cgroup, Memory: s.work.Scope.Memory, Processes: s.work.Scope.Processes,
		Alive: alive, Alone: true, Stdout: s.output.writers[0], Stderr: s.output.writers[1],
	}); err != nil {
		s.output.finish()
		return s.broken("its processes could not be held", err), nil
	}
	s.at("opened")
	e, err := s.inScope(ctx, waiting)
	if failed := s.output.finish(); failed != nil {
		s.note("%v", failed)
	}
	if err != nil {
		return ending{}, err
	}
	s.at("ended")
	own := e.event == job.EventFail && e.failure == job.FailCandidate
	switch {
	case s.scope.OutOfMemory() && own:
		e.failure, e.message = job.FailLimit, "one of its processes was ended for memory"
	case s.output.exceeded() && (own || e.event == job.EventSucceed): // what it wrote was read after it had ended
		e = s.tooMuchOutput()
	}
	if e.event == job.EventSucceed {
		if why, over := s.room.look(context.WithoutCancel(ctx), s); over {
			return why, nil
		}
		e = s.result()
		s.at("read")
	}
	return e, nil
}

// inScope does what is done while the scope is open, and ends it. The candidate
// begins before waiting ends, or not at all.
func (s *supervisor) inScope(ctx, waiting context.Context) (ending, error) {
	watched, stop := context.WithCancel(context.WithoutCancel(ctx))
	seen := newPulse(s.journal, s.box.progress)
	e, begun := s.begin(ctx, waiting)
	if begun {
		go seen.beat(watched)       // until stop
		go s.room.watch(watched, s) // until stop
		e = s.watch(ctx, seen)
	}
	err := s.end(context.WithoutCancel(ctx))
	stop()
	if begun {
		<-s.room.ended
		if failed := seen.last(context.WithoutCancel(ctx)); failed != nil {
			s.note("what the candidate said last could not be kept: %v", failed)
		}
	}
	return e, err
}

// begin starts the candidate. Without a start it returns why there is none.
func (s *supervisor) begin(ctx, waiting context.Context) (ending, bool) {
	self, err := scope.Identify(os.Getpid())
	if err == nil {
		err = s.journal.Keep(waiting, Handle{Supervisor: self, Scope: s.scope.Handle()})
	}
	if err != nil {
		return s.unready("what ends it could not be kept", err), false
	}
	s.at("kept")
	if s.late() {
		return s.expired(), false
	}
	s.began = s.now() // from here, for the supervisor is to end it before a watchdog does, which asks the journal
	state, err := s.journal.Move(waiting, Move{From: job.Starting, Event: job.EventBegin, By: job.BySupervisor})
	if err != nil {
		return s.unready("its begin could not be noted", err), false
	}
	s.state = state
	s.at("begun")
	command := s.work.Command
	command.Dir = s.box.path
	if command.Confine != nil {
		spec := *command.Confine
		spec.Box = s.box.path
		command.Confine = &spec
	}
	starting, stop := context.WithTimeout(ctx, startPatience)
	defer stop()
	err = s.scope.Start(starting, command)
	s.output.started()
	if err != nil {
		return s.broken("it could not be started", err), false
	}
	s.at("started")
	return ending{}, true
}

// end ends the scope: nil is the proof.
func (s *supervisor) end(ctx context.Context) error {
	ending, stop := context.WithTimeout(ctx, endPatience)
	defer stop()
	err := s.scope.End(ending)
	if err == nil {
		return nil
	}
	s.note("its processes do not end: %v", err)
	again, stop := context.WithTimeout(ctx, endPatience)
	defer stop()
	return s.scope.Handle().End(again, func() (bool, error) { return emptied(s.Dir) })
}

// result reads what the candidate came to, once.
func (s *supervisor) result() ending {
	invalid := func(err error) ending {
		return ending{event: job.EventFail, failure: job.FailResult, message: err.Error()}
	}
	text, err := s.box.result(s.Limits.Result)
	if err != nil {
		return invalid(err)
	}
	canonical, err := s.work.Check(text)
	if err != nil {
		return invalid(fmt.Errorf("its result does not hold: %w", err))
	}
	if int64(len(canonical)) > s.Limits.Result { // a number may be longer than it was written
		return invalid(fmt.Errorf("its result has more than %d bytes in canonical form", s.Limits.Result))
	}
	return ending{event: job.EventSucceed, result: canonical}
}
