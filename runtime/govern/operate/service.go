package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/job/runner"
	"github.com/capgen/capgen/runtime/host"
)

// watchEvery is how often a server looks after jobs whose supervisor may be gone.
const watchEvery = 2 * time.Second

// superviseCommand is the command that a server starts for each job. Help does
// not list it.
const superviseCommand = "supervise"

// Service is an open govern.Service and what it stands on.
type Service struct {
	*govern.Service
	close []func() error
}

// Close closes all of it.
func (s *Service) Close() error {
	var errs []error
	for i := range s.close {
		errs = append(errs, s.close[len(s.close)-1-i]())
	}
	return errors.Join(errs...)
}

// watch looks after jobs until the service is closed, or ctx ends.
func (s *Service) watch(ctx context.Context, log *slog.Logger) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		said := ""
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			// One complaint a state of things: a disk that is full stays so.
			text := ""
			if err := s.Watch(ctx); err != nil && ctx.Err() == nil {
				text = err.Error()
			}
			if text != "" && text != said {
				log.ErrorContext(ctx, "not all jobs could be looked after", "error", text)
			}
			said = text
		}
	}()
	s.close = append(s.close, func() error {
		cancel()
		<-done
		return nil
	})
}

// serving tells whether a command serves programs for as long as it runs.
func serving(command string) bool {
	return command == "stdio" || command == "http" || command == "exec"
}

// supervisor is what a server starts for each job, the job's id behind it. It is
// this very program, also where another one has taken its place since.
func (s *Setup) supervisor() []string {
	argv := []string{"/proc/self/exe", superviseCommand, "--state", s.state}
	if s.accounts.n > 0 {
		argv = append(argv, "--job-uids", s.accounts.text())
	}
	if s.cgroup != "" {
		argv = append(argv, "--job-cgroup", s.cgroup)
	}
	return argv
}

// jobOptions completes o for runs.
func (s *Setup) jobOptions(o *govern.Options) error {
	if s.maxJobs < 0 {
		return errors.New("--max-jobs is not below zero")
	}
	o.MaxJobs = cmp.Or(s.MaxJobs, govern.DefaultMaxJobs)
	if s.maxJobs > o.MaxJobs {
		return fmt.Errorf("--max-jobs asks for fewer than the %d that the program allows, not for more", o.MaxJobs)
	}
	o.MaxJobs = cmp.Or(s.maxJobs, o.MaxJobs)
	o.JobUIDs = govern.UIDs{First: s.accounts.first, N: s.accounts.n}
	var err error
	if o.Runners, err = s.runners(); err != nil {
		return err
	}
	o.Path, o.Cgroup, o.Results, o.Supervisor = s.state, s.cgroup, s.Results, s.supervisor()
	return nil
}

// runners are those that this host has.
func (s *Setup) runners() ([]runner.Runner, error) {
	if s.Runners == nil {
		return nil, nil
	}
	list, err := s.Runners()
	if err != nil {
		return nil, fmt.Errorf("the runners: %w", err)
	}
	return list, nil
}

// supervise is the process that supervises one job. A server starts it; a person
// who does finds nothing to supervise.
func (s *Setup) supervise(ctx context.Context, i host.Invocation) (err error) {
	// What lands, starts, or approves is the server's.
	s.Roots, s.Runners, s.socket, s.maxJobs = nil, nil, "", 0
	o, service, err := s.options(ctx, i.Env.Logger, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	return govern.Supervise(ctx, o, i.Arguments[0])
}
