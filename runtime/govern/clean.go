package govern

import (
	"context"
	"errors"
	"time"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/root"
	"github.com/capgen/capgen/runtime/govern/store"
)

// Cleaned is what a Clean has come to.
type Cleaned struct {
	Expired int // plans that were found to be
	Objects int // that were removed
}

// Clean writes down which plans have expired, and removes the objects that no
// plan, landing or draft needs; those of plans that ended within keep stay.
func (o *Operator) Clean(ctx context.Context, keep time.Duration) (Cleaned, error) {
	s := o.s
	expired, err := s.expire(ctx)
	if err != nil {
		return Cleaned{}, s.refused(ctx, audit.Governed{Event: eventClean, Actor: o.actor}, err)
	}
	out := Cleaned{Expired: expired}
	if err := s.sweepRunning(ctx); err != nil {
		return out, s.refused(ctx, audit.Governed{Event: eventClean, Actor: o.actor}, err)
	}
	unlock, err := s.objects.Lock(ctx)
	if err != nil {
		return out, s.refusal(ctx, err)
	}
	defer unlock()
	err = s.update(ctx, func(tx *store.Tx) error {
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
		return s.record(tx, audit.Governed{Event: eventClean, Actor: o.actor}, details{"expired": out.Expired, "objects": out.Objects})
	})
	if err != nil {
		return out, s.refused(ctx, audit.Governed{Event: eventClean, Actor: o.actor}, err)
	}
	return out, nil
}

// expire writes down which plans have expired.
func (s *Service) expire(ctx context.Context) (n int, err error) {
	at := s.o.Now()
	for {
		const page = 100
		moved := 0
		err := s.update(ctx, func(tx *store.Tx) error {
			if _, err := s.moment(tx); err != nil {
				return err
			}
			rows, err := tx.Plans(store.Filter{Everyone: true, Status: store.Prepared, ExpiresBy: at.Wall.UnixMicro(), Limit: page})
			if err != nil {
				return err
			}
			for _, row := range rows {
				p, err := s.open(row)
				if err != nil {
					return err
				}
				if !p.Expires().Reached(at) {
					continue
				}
				if err := s.end(tx, p.ID, store.Expired, "", ""); err != nil {
					return err
				}
				if err := s.record(tx, about(eventExpire, s.system(), p.Plan), nil); err != nil {
					return err
				}
				moved++
			}
			return nil
		})
		if err != nil {
			return n, err
		}
		if n += moved; moved < page {
			return n, nil
		}
	}
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
			if errors.Is(err, store.ErrNotFound) || err == nil && over(execution.State) {
				ended = append(ended, e.Name)
			} else if err != nil {
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
