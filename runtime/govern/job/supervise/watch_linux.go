package supervise

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/scope"
)

const (
	// poll is how often a journal is asked whether the job is to end, and beats
	// how many of them make a heartbeat.
	poll  = 200 * time.Millisecond
	beats = 5
	// patience is how long a journal may take for one answer.
	patience = 10 * time.Second
	// tick is how often the time is looked at.
	tick = 50 * time.Millisecond
)

// pulse keeps telling a journal that the supervisor lives, and hears from it
// whether the job is to end.
type pulse struct {
	journal  Journal
	progress func() string
	told     string         // the progress that the journal has kept last
	unwanted chan job.State // the first state in which the candidate is not to run
	done     chan struct{}  // closed when beat has returned
}

func newPulse(to Journal, progress func() string) *pulse {
	return &pulse{journal: to, progress: progress, unwanted: make(chan job.State, 1), done: make(chan struct{})}
}

// beat asks until ctx ends. A journal that fails is asked again: the candidate has
// its deadline without it.
func (p *pulse) beat(ctx context.Context) {
	defer close(p.done)
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	told := false
	for n := 0; ; n++ {
		state, err := p.ask(ctx, n%beats == 0)
		if err == nil && state != job.Running && !told {
			told = true
			p.unwanted <- state
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// last tells the journal what a candidate that has ended, and the processes of
// which have, said after the last beat. It waits for beat to return.
func (p *pulse) last(ctx context.Context) error {
	<-p.done
	if p.progress() == p.told {
		return nil
	}
	_, err := p.ask(ctx, true)
	return err
}

func (p *pulse) ask(ctx context.Context, beat bool) (job.State, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if beat {
		said := p.progress()
		state, err := p.journal.Beat(ctx, said)
		if err == nil {
			p.told = said
		}
		return state, err
	}
	v, err := p.journal.Look(ctx)
	return v.State, err
}

// watch returns what the job comes to when the candidate has ended, or is to be
// ended now.
func (s *supervisor) watch(ctx context.Context, seen *pulse) ending {
	exited := make(chan end, 1)
	waiting, stop := context.WithCancel(context.WithoutCancel(ctx))
	var waits sync.WaitGroup
	defer waits.Wait()
	defer stop()
	waits.Go(func() { // until stop
		exit, err := s.scope.Wait(waiting)
		exited <- end{exit, err}
	})
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case e := <-exited:
			s.at("exited")
			return s.exited(e.exit, e.err)
		case state := <-seen.unwanted:
			if state == job.CancelRequested {
				s.terminate(exited)
			}
			// What was seen wins over this.
			return ending{event: job.EventFail, failure: job.FailInfrastructure, message: "it was ended by somebody else"}
		case <-s.output.over:
			s.terminate(exited)
			return s.tooMuchOutput()
		case <-s.room.full: // and is not given the time to write more
			return s.room.why
		case <-ctx.Done():
			s.terminate(exited)
			return s.broken("its supervisor was told to end", context.Cause(ctx))
		case <-ticker.C:
			if s.began.Later(s.Limits.Wall).Reached(s.now()) {
				s.terminate(exited)
				return ending{event: job.EventExpire, failure: job.FailTimeout,
					message: fmt.Sprintf("it ran for more than %s", s.Limits.Wall)}
			}
		}
	}
}

func (s *supervisor) tooMuchOutput() ending {
	return ending{event: job.EventFail, failure: job.FailLimit,
		message: fmt.Sprintf("it wrote more than %d bytes to its streams", s.Limits.Output)}
}

// end is how the first process ended.
type end struct {
	exit scope.Exit
	err  error
}

// terminate asks the candidate to end, and returns when it has, has had its time,
// or has filled its room.
func (s *supervisor) terminate(exited <-chan end) {
	if err := s.scope.Terminate(); err != nil {
		return // the keeper is gone
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-exited:
	case <-s.room.full:
	case <-timer.C:
	}
}

// exited is what a job comes to when its first process has ended by itself.
func (s *supervisor) exited(exit scope.Exit, err error) ending {
	fail := func(f job.Failure, format string, args ...any) ending {
		return ending{event: job.EventFail, failure: f, message: fmt.Sprintf(format, args...)}
	}
	switch {
	case err != nil:
		return s.broken("nobody knows how it ended", err)
	case exit.Signal == 0 && exit.Code == 0:
		return ending{event: job.EventSucceed}
	case exit.Signal == 0:
		return s.status(exit.Code)
	case exit.Signal == syscall.SIGXCPU:
		return fail(job.FailLimit, "it used more than %s of processor time", s.work.Command.Limits.CPU)
	case exit.Signal == syscall.SIGXFSZ:
		return fail(job.FailLimit, "it wrote a file of more than %d bytes", s.work.Command.Limits.File)
	case exit.Signal == syscall.SIGKILL:
		return fail(job.FailLimit, "it was killed (%s), as the system does for memory or processor time", exit)
	}
	return fail(job.FailCandidate, "it was ended by %s", exit)
}

// status is what a job comes to by a status that is none of success.
func (s *supervisor) status(code int) ending {
	e := ending{event: job.EventFail, failure: cmp.Or(s.work.Statuses[code], job.FailCandidate)}
	switch e.failure {
	case job.FailLimit:
		e.message = "it met a limit: its log says which"
	case job.FailInfrastructure:
		e.message = "its runner did not find what it needs: its log says what"
	default:
		e.message = fmt.Sprintf("it ended with status %d", code)
	}
	return e
}
