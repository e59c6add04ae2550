package govern

import (
	"context"
	"errors"
	"fmt"

	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/store"
)

// journal keeps the state of a change's landing in the store.
type journal struct {
	s     *Service
	ctx   context.Context // does not end with the request
	p     opened
	epoch int64
}

// State is how far the landing has come.
func (j journal) State() (state change.State, err error) {
	err = j.s.o.Store.View(j.ctx, func(tx *store.Tx) error {
		e, ok, err := j.s.execution(tx, j.p)
		if err == nil && (!ok || e.Epoch != j.epoch) {
			err = fmt.Errorf("govern: the execution of %s is another process's", j.p.ID)
		}
		state = change.State(e.State)
		return err
	})
	return state, err
}

// Advance moves the landing on, together with its record in the audit trail.
func (j journal) Advance(from, to change.State) error {
	return j.s.update(j.ctx, func(tx *store.Tx) error {
		switch to {
		case change.Applied, change.Conflict, change.Aborted:
			if err := tx.Finish(j.p.ID, string(from), string(to), j.epoch, nil); err != nil {
				return err
			}
			return j.s.record(tx, about(eventChange+"."+stateWord(string(to)), j.s.system(), j.p.Plan), details{"tree": j.p.Change.Post.String()})
		}
		return tx.Advance(j.p.ID, string(from), string(to), j.epoch)
	})
}

// stateWord is a state as programs see it.
func stateWord(state string) string {
	switch state {
	case "INTENT", "STAGED", stateCalled:
		return "landing"
	case "APPLIED", "CLEANED":
		return "applied"
	case stateDone:
		return "done"
	case stateFailed:
		return "failed"
	case "CONFLICT":
		return "conflict"
	case stateAborted:
		return "aborted"
	}
	return "unknown"
}

// unchanged refuses a change whose target is not what it was, or that could not
// be staged, before anything is spent on it.
func (s *Service) unchanged(_ context.Context, p opened) error {
	parent, name, done, err := s.target(p.Change.Root, p.Change.Path)
	if err != nil {
		return err
	}
	defer done()
	now, err := change.Read(parent, name)
	if err != nil {
		return unread(err)
	}
	if now.Hash() != p.Change.Pre {
		return stale()
	}
	return s.kept(p)
}

// kept refuses a change of which an object is gone or was altered.
func (s *Service) kept(p opened) error {
	post, err := s.tree(p.Change.Post)
	for _, n := range post.Nodes {
		if err == nil && !n.Dir {
			_, err = s.blobs.Get(n.Digest, n.Size)
		}
	}
	if missing(err) || errors.Is(err, cas.ErrCorrupt) {
		return altered(err.Error())
	}
	return err
}

func stale() *Refusal {
	return refuse(StaleState, "the directory is not what it was when the plan was prepared").suggest("prepare another one")
}

// change is the landing of a plan. done closes what it holds.
func (s *Service) change(p opened) (l change.Landing, done func(), err error) {
	post, err := s.tree(p.Change.Post)
	if err != nil {
		return l, nil, err
	}
	parent, name, done, err := s.target(p.Change.Root, p.Change.Path)
	if err != nil {
		return l, nil, err
	}
	return change.Landing{Parent: parent, Name: name, ID: p.ID, Pre: p.Change.Pre, Post: post}, done, nil
}

// finishChange brings a change's execution to its end, and refuses if that is
// not that it is applied.
func (s *Service) finishChange(ctx context.Context, p opened, e store.Execution) error {
	switch change.State(e.State) {
	case change.Applied, change.Cleaned:
		return nil // and stays so, whatever happened to the directory since
	case change.Conflict:
		return stale()
	case change.Aborted:
		return aborted()
	}
	l, done, err := s.change(p)
	if err != nil {
		return err
	}
	defer done()
	j := journal{s, context.WithoutCancel(ctx), p, e.Epoch}
	late := p.Expires().Reached(s.o.Now())
	var not error
	if late {
		not = s.begun(ctx, p)
	} else {
		_, not = s.confirmed(ctx, p)
	}
	if not != nil && !never(not) {
		return not
	}
	if not != nil || late {
		// What is visible is recorded; what is not yet will not be any more.
		state, err := l.Abort(ctx, j)
		if err != nil {
			return err
		}
		if state == change.Aborted && not != nil {
			return s.refused(ctx, about(eventLand, s.system(), p.Plan), not)
		}
		if state == change.Aborted {
			return aborted()
		}
	}
	if _, err := l.Land(ctx, s.blobs, j); err != nil {
		if errors.Is(err, change.ErrConflict) {
			return stale()
		}
		return err
	}
	err = s.ended(j.ctx, p)
	if err == nil {
		_, err = l.Clean(j.ctx, j)
	}
	if err != nil { // Recover does it
		s.o.Logger.ErrorContext(ctx, "what a change displaced could not be removed", "plan", p.ID, "error", err)
	}
	return nil
}

// begun tells the sources that the landing is committed, before anything of it
// is visible. It is refused for good by one that knows that it has ended, since the
// database is an older one, and by one that knows of no approval that was spent.
func (s *Service) begun(ctx context.Context, p opened) error {
	for _, source := range s.o.Sources {
		err := source.Begin(ctx, p.ID)
		switch {
		case errors.Is(err, approve.ErrSpent):
			return landedBefore(err)
		case errors.Is(err, approve.ErrUnspent):
			return unapproved(err)
		case err != nil:
			return err
		}
	}
	return nil
}

// ended tells the sources that the landing has come to its end.
func (s *Service) ended(ctx context.Context, p opened) error {
	for _, source := range s.o.Sources {
		if err := source.End(ctx, p.ID); err != nil {
			return err
		}
	}
	return nil
}

func landedBefore(err error) *Refusal {
	return refuse(TokenReplayed, "the plan was landed before, as the keeper of approvals knows").suggest("prepare another one, and tell an operator").because(err)
}

func aborted() *Refusal {
	return refuse(ConflictCode, "the landing was interrupted and then ended; nothing of it is visible").suggest("prepare another one")
}
