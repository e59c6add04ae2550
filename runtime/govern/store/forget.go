package store

import "errors"

// Forgotten counts the rows that Forget removed.
type Forgotten struct{ Plans, Nonces, Drafts, Validations int64 }

// Forget removes what was over before an instant that has passed: plans that
// moved to an end and whose execution had nothing left to do by then, with their
// approvals, executions and keys; nonces that have expired, spent or not;
// deleted drafts; expired validations. Records of the trail stay.
func (tx *Tx) Forget(before int64) (f Forgotten, err error) {
	if !tx.writable {
		return f, ErrReadOnly
	}
	if before > tx.now {
		return f, invalid("what will be over at %d is not over", before)
	}
	for _, step := range []struct {
		count *int64
		query string
	}{
		{&f.Plans, `DELETE FROM plans WHERE status <> 'prepared' AND moved < $1 AND id NOT IN
			(SELECT plan FROM executions WHERE plan IS NOT NULL AND (ended >= $1 OR coalesce(state, '') NOT IN ` + finals() + `))`},
		{&f.Nonces, `DELETE FROM nonces WHERE expires < $1`},
		{&f.Validations, `DELETE FROM validations WHERE expires < $1`},
		{&f.Drafts, `DELETE FROM drafts WHERE deleted > 0 AND deleted < $1`},
	} {
		if *step.count, err = tx.exec(step.query, before); err != nil {
			return f, err
		}
	}
	return f, nil
}

// TrimTrail removes the records up to the one with this number, and tells how
// many there were. The last record always stays. Whoever verifies what is left
// names the first record there is, and has signed heads for those before.
func (tx *Tx) TrimTrail(through int64) (int64, error) {
	if !tx.writable {
		return 0, ErrReadOnly
	}
	chain, err := tx.Chain()
	if err != nil {
		return 0, err
	}
	if through < 0 || through >= int64(chain.Seq) {
		return 0, invalid("%w", errors.New("the last record of the trail stays"))
	}
	return tx.exec(`DELETE FROM trail WHERE seq <= $1`, through)
}
