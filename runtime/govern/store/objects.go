package store

import (
	"fmt"
	"iter"
	"strings"

	"github.com/capgen/capgen/runtime/govern/cas"
)

// MaxObjects bounds the objects that one plan or draft pins.
const MaxObjects = 25_000

// pin keeps the objects of a plan or a draft from being swept.
func (tx *Tx) pin(table, column, id string, objects []cas.Digest) error {
	if len(objects) > MaxObjects {
		return invalid("%s needs %d objects, at most %d", id, len(objects), MaxObjects)
	}
	const batch = 200
	for len(objects) > 0 {
		n := min(batch, len(objects))
		values, args := make([]string, n), []any{id}
		for i := range n {
			args = append(args, objects[i][:])
			values[i] = fmt.Sprintf("($1, $%d)", len(args))
		}
		q := `INSERT INTO ` + table + ` (` + column + `, digest) VALUES ` + strings.Join(values, ", ") + ` ON CONFLICT DO NOTHING`
		if _, err := tx.exec(q, args...); err != nil {
			return err
		}
		objects = objects[n:]
	}
	return nil
}

// Referenced are the objects that must not be swept: those of plans that are
// prepared, whose execution has something left to do, or that have moved, or whose
// execution has ended, at since or later; and those of drafts that are not deleted. Some come more than
// once. Until the last one, or an error, the transaction does nothing else.
func (tx *Tx) Referenced(since int64) iter.Seq2[cas.Digest, error] {
	return func(yield func(cas.Digest, error) bool) {
		answer, err := tx.query(`SELECT o.plan, o.digest FROM plan_objects o JOIN plans p ON p.id = o.plan LEFT JOIN executions e ON e.plan = p.id
			WHERE p.status = 'prepared' OR p.moved >= $1 OR e.ended >= $1 OR (e.plan IS NOT NULL AND coalesce(e.state, '') NOT IN `+finals()+`)
			UNION ALL SELECT d.id, d.body FROM drafts d WHERE d.deleted = 0
			UNION ALL SELECT o.draft, o.digest FROM draft_objects o JOIN drafts d ON d.id = o.draft WHERE d.deleted = 0`, since)
		if err != nil {
			yield(cas.Digest{}, err)
			return
		}
		defer answer.Close()
		for answer.Next() {
			var id string
			var digest cas.Digest
			if err := answer.Scan(text(&id), fixed(digest[:])); err != nil {
				yield(cas.Digest{}, &CorruptError{Table: "plan_objects, drafts or draft_objects", ID: id, Err: err})
				return
			}
			if !yield(digest, nil) {
				return
			}
		}
		if err := answer.Err(); err != nil {
			yield(cas.Digest{}, tx.failed(err))
		}
	}
}
