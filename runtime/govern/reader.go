package govern

import (
	"context"
	"iter"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/token"
)

// Now is the moment by both clocks of this machine, in whole microseconds.
func Now() token.Instant { return whole(now()) }

// OpenReadOnly is what somebody can do who may only read the state directory:
// look at plans, and at the facts of Facts. Options.Store is one that is only
// read. Everything else that an Operator does is an error of the store.
func OpenReadOnly(o Options) (*Operator, func() error, error) {
	s, err := prepared(o, func() error { return nil })
	if err != nil {
		return nil, nil, err
	}
	if s.objects, err = o.State.Sub(objectsDir); err != nil {
		return nil, nil, err
	}
	s.blobs = cas.New(s.objects)
	return s.Operator(audit.Actor{}), s.objects.Close, nil
}

// Trail is the audit trail, a line a record, from the first one on.
func (o *Operator) Trail(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		const page = 500
		for after := int64(0); ; {
			var records []store.Record
			err := o.s.o.Store.View(ctx, func(tx *store.Tx) (err error) {
				records, err = tx.Trail(after, page)
				return err
			})
			if err != nil {
				yield(nil, o.s.refusal(ctx, err))
				return
			}
			for _, r := range records {
				after = r.Seq
				if !yield(r.Line, nil) {
					return
				}
			}
			if len(records) < page {
				return
			}
		}
	}
}
