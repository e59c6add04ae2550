package storetest

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/store"
)

// hostileRows: whoever may write the database may write any row, into tables
// without any constraint too. Each column of each table gets what this package
// never writes; reading it is an error that names table and row, and no panic.
func hostileRows(t *testing.T, b Backend) {
	s := newScene(t, b)
	v := store.Validation{ID: "validation_" + hex32(1), Draft: draftID(1), Revision: 1, Status: store.Passed, Subject: alice, Expires: start * 2}
	scope := store.Scope{Subject: alice, Capability: "c", Step: "apply"}
	approval := store.ApprovalID([]byte("a"))
	s.update(func(tx *store.Tx) {
		s.ok(tx.InsertPlan(plan(1, alice), "plan", []cas.Digest{{1}}))
		_, err := tx.InsertApproval(planID(1), []byte("a"))
		s.ok(err)
		_, err = tx.InsertExecution(planID(1), store.KindChange)
		s.ok(err)
		s.ok(tx.RememberKey(scope, "k", [32]byte{}, planID(1)))
		_, err = tx.InsertDraft(draftID(1), alice, [32]byte{}, cas.Digest{}, []cas.Digest{{2}})
		s.ok(err)
		s.ok(tx.InsertValidation(v))
		s.ok(tx.InsertPlan(plan(2, bob), "plan", nil))
		s.reach(tx, 2, job.Succeeded)
	})
	second := func(_ any, err error) error { return err }
	readPlan := func(tx *store.Tx) error {
		list, err := tx.Plans(store.Filter{Owner: alice})
		if len(list) == 0 { // its owner is another
			list, err = tx.Plans(store.Filter{Everyone: true})
			list = slices.DeleteFunc(list, func(p store.Listed) bool { return p.ID == planID(2) })
		}
		if err == nil && (len(list) != 1 || !errors.Is(list[0].Err, store.ErrCorrupt)) {
			t.Errorf("listed: %+v", list)
		}
		return errors.Join(second(tx.Plan(planID(1))), err)
	}
	readApproval := func(tx *store.Tx) error { return second(tx.Approvals(planID(1))) }
	readExecution := func(tx *store.Tx) error {
		list, err := tx.Unfinished("", 0)
		for _, e := range list {
			if e.Err != nil && e.Outcome != nil {
				t.Errorf("listed: %+v", e)
			}
			err = errors.Join(err, e.Err)
		}
		return err
	}
	readRun := func(tx *store.Tx) error {
		list, err := tx.Jobs(store.JobFilter{Owner: bob})
		if err == nil && (len(list) != 1 || !errors.Is(list[0].Err, store.ErrCorrupt) || list[0].Handle != nil) {
			t.Errorf("listed: %+v", list)
		}
		return errors.Join(second(tx.Job(planID(2))), err)
	}
	readDraft := func(tx *store.Tx) error { return second(tx.Drafts(alice, "", 0)) }
	readValidation := func(tx *store.Tx) error { return second(tx.Validation(alice, v.ID)) }
	readKey := func(tx *store.Tx) error { _, _, _, err := tx.Idempotent(scope, "k"); return err }
	readNonce := func(tx *store.Tx) error {
		err := tx.SpendNonce(nonce(1), "plan", planID(1))
		if errors.Is(err, store.ErrSpent) {
			return nil
		}
		return err
	}
	spendApproval := func(tx *store.Tx) error { return tx.SpendApproval(approval, planID(1)) }
	readObjects := func(tx *store.Tx) error {
		for _, err := range tx.Referenced(0) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	text, number, blob := []string{"NULL", "''", "'\u0007'", "17", "x"}, []string{"NULL", "-1", "'a'", "x"}, []string{"NULL", "x", "1"}
	id := append([]string{"'plan_1'", "'" + strings.Repeat("z", 5000) + "'"}, text...)
	raw := b.Raw(t, s.place)
	named, refused := 0, 0
	// Columns that rows are looked up by have no value here that hides a row.
	for _, c := range []struct {
		table, column string
		values        []string
		read          func(*store.Tx) error
	}{
		{"plans", "owner", text, readPlan},
		{"plans", "capability", text, readPlan},
		{"plans", "hash", blob, readPlan},
		{"plans", "body", []string{"NULL", "1", "empty"}, readPlan},
		{"plans", "status", append([]string{"'landed'", "'consumed'"}, text...), readPlan},
		{"plans", "reason", []string{"NULL", "'\u0007'", "17"}, readPlan},
		{"plans", "moved_by", []string{"NULL", "'\u0007'", "17"}, readPlan},
		{"plans", "moved", []string{"NULL", "1", "'a'"}, readPlan},
		{"plans", "nonce", blob, readPlan},
		{"plans", "created", number, readPlan},
		{"plans", "expires", number, readPlan},
		{"approvals", "envelope", []string{"NULL", "x", "empty"}, readApproval},
		{"approvals", "used_by", []string{"NULL", "'somebody'", "17"}, readApproval},
		{"approvals", "used_by", []string{"NULL"}, spendApproval},
		{"approvals", "created", number, readApproval},
		{"approvals", "id", text, readApproval},
		{"nonces", "used_by", []string{"NULL", "'somebody'", "17"}, readNonce},
		{"executions", "kind", text, readExecution},
		{"executions", "state", text, readExecution},
		{"executions", "outcome", []string{"NULL", "1"}, readExecution},
		{"executions", "started", number, readExecution},
		{"executions", "ended", []string{"NULL", "1", "'a'"}, readExecution},
		{"executions", "epoch", append([]string{"0"}, number...), readExecution},
		{"executions", "plan", []string{"'plan_1'", "'\u0007'"}, readExecution},
		{"jobs", "plan", []string{"NULL", "'plan_2'"}, readRun},
		{"jobs", "created", append([]string{"0"}, number...), readRun},
		{"jobs", "created_up", number, readRun},
		{"jobs", "created_boot", text, readRun},
		{"jobs", "begun", append([]string{"0"}, number...), readRun},
		{"jobs", "begun_up", number, readRun},
		{"jobs", "begun_boot", text, readRun},
		{"jobs", "heartbeat", number, readRun},
		{"jobs", "progress", []string{"NULL", "'\u0007'", "17"}, readRun},
		{"jobs", "handle", []string{"NULL", "1"}, readRun},
		{"jobs", "failure", append([]string{"'candidate'"}, slices.DeleteFunc(slices.Clone(text), func(v string) bool { return v == "''" })...), readRun},
		{"jobs", "message", []string{"NULL", "'\u0007'", "17"}, readRun},
		{"jobs", "result", append([]string{"empty"}, blob...), readRun},
		{"jobs", "reason", []string{"NULL", "'\u0007'", "17"}, readRun},
		{"jobs", "host", append([]string{"'here'"}, text...), readRun},
		{"jobs", "uid", number, readRun},
		{"jobs", "cancelled_by", []string{"NULL", "'\u0007'", "17"}, readRun},
		{"executions", "state", append([]string{"'QUEUED'", "'RUNNING'", "'STARTING'", "'FAILED'", "'DONE'"}, text...), readRun},
		{"executions", "epoch", []string{"0", "1", "2", "4"}, readRun},
		{"executions", "ended", []string{"0", "-1"}, readRun},
		{"idempotency", "request_hash", blob, readKey},
		{"idempotency", "plan", id, readKey},
		{"drafts", "id", id, readDraft},
		{"drafts", "revision", append([]string{"0"}, number...), readDraft},
		{"drafts", "manifest", blob, readDraft},
		{"drafts", "body", blob, readDraft},
		{"drafts", "created", number, readDraft},
		{"drafts", "updated", number, readDraft},
		{"drafts", "body", blob, readObjects},
		{"plan_objects", "digest", blob, readObjects},
		{"draft_objects", "digest", blob, readObjects},
		{"validations", "draft", id, readValidation},
		{"validations", "revision", number, readValidation},
		{"validations", "manifest", blob, readValidation},
		{"validations", "report", blob, readValidation},
		{"validations", "status", text, readValidation},
		{"validations", "created", number, readValidation},
		{"validations", "expires", number, readValidation},
		{"meta", "log", text, func(tx *store.Tx) error { return second(tx.Chain()) }},
		{"meta", "seq", number, func(tx *store.Tx) error { return second(tx.Chain()) }},
		{"meta", "hash", blob, func(tx *store.Tx) error { return second(tx.Chain()) }},
		{"meta", "high_water", number, func(tx *store.Tx) error { return second(tx.HighWater()) }},
		{"trail", "line", []string{"NULL", "1", "empty"}, func(tx *store.Tx) error { return second(tx.Trail(0, 0)) }},
		{"trail", "seq", []string{"-1"}, func(tx *store.Tx) error { return second(tx.Trail(-2, 0)) }},
	} {
		for _, value := range c.values {
			what := fmt.Sprintf("%s.%s = %.20s", c.table, c.column, value)
			undo := corrupt(t, raw, c.table, c.column, value)
			err := s.Update(t.Context(), c.read)
			var corrupt *store.CorruptError
			switch {
			case errors.As(err, &corrupt):
				named++
				if !strings.Contains(corrupt.Error(), c.table) {
					t.Errorf("%s: error %v", what, err)
				}
			case err == nil, errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrSpent), errors.Is(err, store.ErrInvalid):
				t.Errorf("%s: error %v", what, err)
			default:
				refused++ // the database compares no number with a text, say
			}
			undo()
			if t.Failed() {
				return
			}
		}
	}
	if named < 100 {
		t.Errorf("%d rows were named, and the database itself refused %d", named, refused)
	}
	t.Logf("%d rows were named, and the database itself refused %d", named, refused)
}

// corrupt makes a table one without constraints, in which a column has another
// value: as SQL, and what NULL, x (two bytes) and empty (none) stand for in both
// databases. It returns what undoes that.
func corrupt(t *testing.T, raw *sql.DB, table, column, value string) (undo func()) {
	t.Helper()
	columns, err := raw.Query(`SELECT * FROM ` + table)
	if err != nil {
		t.Fatal(err)
	}
	names, err := columns.Columns()
	if err != nil {
		t.Fatal(err)
	}
	columns.Close()
	from := "meta"
	if table == "meta" {
		from = "kept"
	}
	switch value {
	case "x":
		value = "substr(other.bytes, 1, 2)"
	case "empty":
		value = "substr(other.bytes, 1, 0)"
	}
	for i, name := range names {
		if name == column {
			names[i] = value + " AS " + name
		}
	}
	both := func(first, second string) {
		t.Helper()
		tx, err := raw.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []string{first, second} {
			if _, err := tx.Exec(q); err != nil {
				t.Fatalf("%s: %v", q, err)
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	both(`ALTER TABLE `+table+` RENAME TO kept`,
		`CREATE TABLE `+table+` AS SELECT `+strings.Join(names, ", ")+` FROM kept CROSS JOIN (SELECT hash AS bytes FROM `+from+`) AS other`)
	return func() { t.Helper(); both(`DROP TABLE `+table, `ALTER TABLE kept RENAME TO `+table) }
}
