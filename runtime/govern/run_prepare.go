package govern

import (
	"context"
	"encoding/hex"
	"path/filepath"
	"slices"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/runner"
	"github.com/capgen/capgen/runtime/govern/plan"
)

// PrepareRun freezes what make returns, and what it is executed with, in a plan of
// the subject in ctx. arguments are canonical. The same key and arguments again are
// the same plan, and make is not called.
func PrepareRun(ctx context.Context, s *Service, t Terms, arguments []byte, key string, make func(context.Context) (Run, error)) (Prepared, error) {
	if s.rehearsal != nil {
		return s.rehearsal.prepare(t, arguments, key), nil
	}
	if t.Effect != effectRun {
		return Prepared{}, refuse(Internal, "%s is not a run", t.Name)
	}
	return s.prepare(ctx, t, arguments, key, func(ctx context.Context) (frozen, error) {
		// What this host cannot run is not asked for.
		run, err := s.frozenRunner(ctx, t)
		if err != nil {
			return frozen{}, err
		}
		r, err := make(ctx)
		if err != nil {
			return frozen{}, err
		}
		return freezeRun(run, r)
	})
}

// frozenRunner is a plan's run without its code: the terms' runner as it is now,
// and the tiers that this host has for it.
func (s *Service) frozenRunner(ctx context.Context, t Terms) (*plan.Run, error) {
	r, err := s.runnerOf(t.ID, t.Name, t.Runner)
	if err != nil {
		return nil, err
	}
	sandbox, hold, err := s.offered(ctx).choose(t.Sandbox, r.Worker)
	if err != nil {
		return nil, err
	}
	if err := s.readsApart(r, sandbox); err != nil {
		return nil, err
	}
	return &plan.Run{Runner: r, Limits: plan.Limits(t.Limits), Sandbox: string(sandbox), Scope: string(hold)}, nil
}

// runnerOf is what is registered under a name, as it is now, for runs of a
// capability.
func (s *Service) runnerOf(capability, called, name string) (plan.Runner, error) {
	if s.jobs == nil || len(s.o.Supervisor) == 0 {
		return plan.Runner{}, refuse(Internal, "nothing is set up here to run candidates with")
	}
	if s.o.Results[capability] == nil {
		return plan.Runner{}, refuse(Internal, "nothing checks the results of %s", called)
	}
	i := slices.IndexFunc(s.o.Runners, func(r runner.Runner) bool { return r.Name == name })
	if i < 0 {
		return plan.Runner{}, refuse(Internal, "this host has no runner %q", name).suggest("an operator asks doctor")
	}
	r, err := s.o.Runners[i].Identify()
	if err != nil {
		return plan.Runner{}, refuse(Internal, "the runner %s cannot be relied on", name).suggest("an operator asks doctor").because(err)
	}
	out := plan.Runner{Name: r.Name, Path: r.Path, Args: r.Args, Env: r.Env, Read: r.Read, Entry: r.Entry, Worker: r.Worker}
	if n, err := hex.Decode(out.SHA256[:], []byte(r.SHA256)); err != nil || n != len(out.SHA256) {
		return plan.Runner{}, refuse(Internal, "the runner %s has no hash", name)
	}
	return out, nil
}

// readsApart refuses a runner of whose paths one leads to the state directory, where
// candidates may read nothing but those.
func (s *Service) readsApart(r plan.Runner, sandbox confine.Tier) error {
	if err := (confine.Spec{Tier: sandbox, Read: r.Read, Apart: filepath.Clean(s.o.Path)}).Reads(); err != nil {
		return refuse(Internal, "what the runner %s reads is not for candidates", r.Name).suggest("an operator asks doctor").because(err)
	}
	return nil
}

// identity is the program of a frozen runner, to be compared with what is there.
func identity(r plan.Runner) runner.Identity {
	return runner.Identity{Name: r.Name, Path: r.Path, SHA256: hex.EncodeToString(r.SHA256[:])}
}

// freezeRun adds the code to a run.
func freezeRun(run *plan.Run, r Run) (frozen, error) {
	if err := checkSummary(r.Summary); err != nil {
		return frozen{}, err
	}
	code := Change{}
	for _, f := range r.Files {
		code.Files = append(code.Files, File{Path: f.Path, Content: f.Content}) // whatever its mode: nothing of it is executed
	}
	tree, contents, err := treeOf(code)
	if err != nil {
		return frozen{}, refuse(InvalidRequest, "no code can be made of that: %v", err)
	}
	if !slices.ContainsFunc(tree.Nodes, func(n change.Node) bool { return !n.Dir && n.Path == run.Runner.Entry }) {
		return frozen{}, refuse(InvalidRequest, "the code has no %s, which the runner %s begins with", run.Runner.Entry, run.Runner.Name)
	}
	if r.Arguments != nil {
		const depth = 60
		text, err := canon.CanonicalizeJSON(nil, r.Arguments, depth)
		if err != nil || text[0] != '{' {
			return frozen{}, refuse(InvalidRequest, "what the candidate is given is no JSON object").because(err)
		}
		run.Arguments = text
	}
	run.Code, run.Summary = tree.Hash(), r.Summary
	f := frozen{run: run, objects: [][]byte{tree.AppendCanonical(nil)}}
	for _, content := range contents {
		f.objects = append(f.objects, content)
	}
	return f, nil
}
