package govern

import (
	"context"
	"errors"
	"time"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/root"
	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/token"
)

// Cleaned is what a Clean has come to.
type Cleaned struct {
	Expired int // plans that were found to be
	Objects int // that were removed
	// Forgotten are the plans that were, with their approvals and keys.
	Forgotten int
	Jobs      int // that have ended, whose directories were removed
}

// Retention is for how long the store keeps what is over: plans with their
// approvals and the keys of their retries, nonces that have expired, deleted
// drafts. The audit trail keeps what became of them.
const Retention = 90 * 24 * time.Hour

// Clean writes down which plans have expired, and removes the objects that no
// plan, landing or draft needs, and the directories of jobs that have ended; those
// of plans and jobs that ended within keep stay. What
// has been over for Retention, and for keep, is forgotten.
func (o *Operator) Clean(ctx context.Context, keep time.Duration) (Cleaned, error) {
	s := o.s
	expired, err := s.expire(ctx)
	if err != nil {
		return Cleaned{}, s.refused(ctx, audit.Governed{Event: eventClean, Actor: o.actor}, err)
	}
	out := Cleaned{Expired: expired}
	err = s.sweepRunning(ctx)
	if err == nil {
		out.Jobs, err = s.sweepJobs(ctx, s.o.Now().Wall.Add(-keep).UnixMicro())
	}
	if err != nil {
		return out, s.refused(ctx, audit.Governed{Event: eventClean, Actor: o.actor}, err)
	}
	unlock, err := s.objects.Lock(ctx)
	if err != nil {
		return out, s.refusal(ctx, err)
	}
	defer unlock()
	err = s.update(ctx, func(tx *store.Tx) error {
		over, err := tx.Forget(tx.Now() - max(keep, Retention).Microseconds())
		if err != nil {
			return err
		}
		out.Forgotten = int(over.Plans)
		needed := map[cas.Digest]bool{}
		for d, err := range tx.Referenced(tx.Now() - keep.Microseconds()) {
			if err != nil {
				return err
			}
			needed[d] = true
		}
		// Nothing refers to them, and nothing will while the lock is held: if the
		// commit fails they are as superfluous as before.
		out.Objects, err = s.blobs.Sweep(func(d cas.Digest) bool { return needed[d] })
		if err != nil {
			return err
		}
		return s.record(tx, audit.Governed{Event: eventClean, Actor: o.actor}, details{"expired": out.Expired, "forgotten": out.Forgotten, "objects": out.Objects, "jobs": out.Jobs})
	})
	if err != nil {
		return out, s.refused(ctx, audit.Governed{Event: eventClean, Actor: o.actor}, err)
	}
	return out, nil
}

// expire writes down which plans have expired.
func (s *Service) expire(ctx context.Context) (n int, err error) {
	at := s.o.Now()
	const page = 100
	f := store.Filter{Everyone: true, Status: store.Prepared, ExpiresBy: at.Wall.UnixMicro(), Limit: page}
	for {
		moved := 0
		var rows []store.Listed
		var strange []strangeRow
		err := s.update(ctx, func(tx *store.Tx) (err error) {
			if _, err := s.moment(tx); err != nil {
				return err
			}
			if rows, err = tx.Plans(f); err != nil {
				return err
			}
			for _, row := range rows {
				done, err := s.expireOne(tx, row, at)
				switch {
				case errors.Is(err, errAltered):
					strange = append(strange, strangeRow{row.ID, err})
				case err != nil:
					return err
				case done:
					moved++
				}
			}
			return nil
		})
		if err != nil {
			return n, err
		}
		s.noteAltered(ctx, strange)
		n += moved
		if f.After = lastID(rows); len(rows) < page || f.After == "" {
			return n, nil
		}
	}
}

// expireOne writes down that a plan has expired, if it has. What it refuses as
// altered, it has not written to.
func (s *Service) expireOne(tx *store.Tx, row store.Listed, at token.Instant) (done bool, err error) {
	p, err := s.listed(row)
	if err != nil || !p.Expires().Reached(at) {
		return false, err
	}
	if err := s.end(tx, p.ID, store.Expired, "", ""); err != nil {
		return false, err
	}
	return true, s.record(tx, about(eventExpire, s.system(), p.Plan), nil)
}

// sweepRunning removes the names of calls that have ended.
func (s *Service) sweepRunning(ctx context.Context) error {
	const most = 10_000
	entries, err := s.running.Entries(most)
	if err != nil && !errors.Is(err, root.ErrTooMany) {
		return err
	}
	var ended []string
	err = s.o.Store.View(ctx, func(tx *store.Tx) error {
		for _, e := range entries {
			execution, err := tx.Execution(e.Name)
			switch {
			case errors.Is(err, store.ErrNotFound), err == nil && over(execution.State):
				ended = append(ended, e.Name)
			case errors.Is(err, store.ErrCorrupt): // nobody knows what it is: an operator looks
			case err != nil:
				return err
			}
		}
		return nil
	})
	for _, name := range ended {
		err = errors.Join(err, s.running.Remove(name))
	}
	return err
}
