package govern

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/plan"
	"github.com/capgen/capgen/runtime/govern/store"
)

// nonceOf is the nonce of a plan: the random bits of its id. Whatever ends a plan
// spends it, so that no column alone brings one back.
func nonceOf(id string) (nonce [16]byte, err error) {
	if !plan.ValidID(id) {
		return nonce, errors.New("govern: not the id of a plan")
	}
	_, err = hex.Decode(nonce[:], []byte(id[len("plan_"):]))
	return nonce, err
}

// kindOf is the kind of the execution, nonce and token of a plan.
func kindOf(p plan.Plan) string {
	switch p.Effect {
	case plan.EffectChange:
		return store.KindChange
	case plan.EffectRun:
		return store.KindRun
	}
	return store.KindCall
}

// errAltered is the cause of what altered refuses.
var errAltered = errors.New("govern: altered")

// altered is a row that is not what was written: somebody else wrote to the
// database.
func altered(what string) *Refusal {
	return refuse(Internal, "the record of the plan is not what was written").
		suggest("prepare another one, and tell an operator").because(fmt.Errorf("%w: %s", errAltered, what))
}

// opened is a row of a plan with what its body says.
type opened struct {
	plan.Plan
	row  store.Plan
	hash plan.Hash
}

// open reads the body of a row, and holds every column that says something to
// it.
func (s *Service) open(row store.Plan) (opened, error) {
	p, err := plan.Parse(row.Body)
	if err != nil {
		return opened{}, altered("body: " + err.Error())
	}
	hash := plan.HashOf(row.Body)
	nonce, err := nonceOf(p.ID)
	switch {
	case err != nil || row.ID != p.ID:
		return opened{}, altered("id")
	case row.Hash != [sha256.Size]byte(hash):
		return opened{}, altered("hash")
	case row.Owner != p.Owner:
		return opened{}, altered("owner")
	case row.Capability != p.Capability:
		return opened{}, altered("capability")
	case row.Nonce != nonce:
		return opened{}, altered("nonce")
	case row.Created != p.Created.Wall.UnixMicro(), row.Expires != p.Expires().Wall.UnixMicro():
		return opened{}, altered("times")
	case p.Store != s.o.Store.ID():
		return opened{}, altered("store")
	}
	return opened{p, row, hash}, nil
}

// listed is open, for a row of a list.
func (s *Service) listed(row store.Listed) (opened, error) {
	if row.Err != nil {
		return opened{}, altered(row.Err.Error())
	}
	return s.open(row.Plan)
}

// owned is the plan of an owner.
func (s *Service) owned(tx *store.Tx, owner, id string) (opened, error) {
	row, err := tx.OwnedPlan(owner, id)
	if errors.Is(err, store.ErrCorrupt) {
		return opened{}, altered(err.Error())
	}
	if err != nil {
		return opened{}, err
	}
	return s.open(row)
}

// execution is the execution of a plan; false if there is none. Its epoch says
// whether a call has begun, a second time beside its state.
func (s *Service) execution(tx *store.Tx, p opened) (store.Execution, bool, error) {
	e, err := tx.Execution(p.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return e, false, nil
	case errors.Is(err, store.ErrCorrupt):
		return e, false, altered(err.Error())
	case err != nil:
		return e, false, err
	case e.Kind != kindOf(p.Plan):
		return e, false, altered("the kind of its execution")
	case e.Kind == store.KindCall && (e.State == stateIntent) != (e.Epoch == firstEpoch) && e.State != stateAborted:
		return e, false, altered("the epoch of its execution")
	}
	return e, true, nil
}

// The states of a call, beside those that package change names.
const (
	stateIntent  = "INTENT"
	stateCalled  = "CALLED"
	stateDone    = "DONE"
	stateFailed  = "FAILED"
	stateUnknown = "UNKNOWN"
	stateAborted = "ABORTED"
)

// firstEpoch is that of an execution that nobody has taken over. A call takes its
// execution over when it begins.
const firstEpoch = 1

// end ends a prepared plan, and spends its nonce.
func (s *Service) end(tx *store.Tx, id string, to store.PlanStatus, reason, by string) error {
	nonce, err := nonceOf(id)
	if err != nil {
		return err
	}
	row, err := tx.Plan(id)
	if err != nil {
		return err
	}
	p, err := s.open(row)
	if err != nil {
		return err
	}
	if row.Status != store.Prepared {
		return &store.StateError{ID: id, Have: string(row.Status), Want: string(store.Prepared)}
	}
	err = tx.SpendNonce(nonce, kindOf(p.Plan), id)
	if errors.Is(err, store.ErrSpent) || errors.Is(err, store.ErrNotFound) {
		return altered("nonce") // and nothing is written
	}
	if err != nil {
		return err
	}
	return tx.MovePlan(id, store.Prepared, to, reason, by)
}

// about is an event about a plan.
func about(event string, actor audit.Actor, p plan.Plan) audit.Governed {
	return audit.Governed{Event: event, Actor: actor, Subject: p.Owner, Plan: p.ID, Capability: p.Capability, Arguments: p.Arguments}
}
