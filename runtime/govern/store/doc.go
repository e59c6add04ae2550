// Package store keeps the state of governed changes in one database: plans,
// approvals, nonces, executions, the keys of retries, drafts, and the audit
// trail that is written in the same transaction as what it tells of. It must
// never know what a plan means, who may approve one, or what the time is good
// for: it keeps rows, and lets each of them move only as its states allow.
//
// Package sqlite opens a store in a directory, package postgres one in a
// server that several hosts share:
//
//	s, err := sqlite.Open(ctx, dir, store.Options{AuditKey: key})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	err = s.Update(ctx, func(tx *store.Tx) error {
//		if err := tx.SpendNonce(nonce, "plan", plan.ID); err != nil {
//			return err
//		}
//		return tx.MovePlan(plan.ID, store.Prepared, store.Consumed, "", subject)
//	})
//
// When Update returns nil, all of it is durable and every other process sees
// it; when fn fails, nothing of it ever was. What stands in the database is a
// hint: whoever can write the file can write any row. Each row is checked as
// it is read, and one that no call of this package wrote is an error that
// names its table and id. Whether somebody agreed is decided elsewhere, by
// signatures.
package store
