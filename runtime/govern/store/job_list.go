package store

import (
	"errors"
	"fmt"

	"github.com/capgen/capgen/runtime/govern/job"
)

// JobFilter says which runs are listed.
type JobFilter struct {
	// Owner is whose; Everyone lists all, and then Owner is empty.
	Owner    string
	Everyone bool
	// State, Capability: empty is any. Active is all states that are no end.
	State      job.State
	Active     bool
	Capability string
	// After is the plan of the last run of the page before.
	After string
	// Limit is 1 to MaxPage; 0 is DefaultPage.
	Limit int
}

// ListedJob is a run in a list. Of a row that is corrupt Err says so, and only its
// plan is set, as far as it can be read.
type ListedJob struct {
	Job
	Err error
}

// Jobs lists runs, the newest first. A corrupt row keeps no other from being
// listed.
func (tx *Tx) Jobs(f JobFilter) (list []ListedJob, err error) {
	if f.Everyone == (f.Owner != "") {
		return nil, invalid("a list is of one owner, or of everyone")
	}
	limit, err := pageSize(f.Limit)
	if err != nil {
		return nil, err
	}
	q := conditions{}
	q.add("e.kind = ?", KindRun)
	if !f.Everyone {
		q.add("p.owner = ?", f.Owner)
	}
	if f.State != "" {
		q.add("e.state = ?", string(f.State))
	}
	if f.Active {
		q.add("coalesce(e.state, '') NOT IN " + finals())
	}
	if f.Capability != "" {
		q.add("p.capability = ?", f.Capability)
	}
	const from = ` FROM executions e JOIN plans p ON p.id = e.plan LEFT JOIN jobs j ON j.plan = e.plan`
	if f.After != "" {
		last, err := one[place](tx, "executions", `SELECT e.plan, p.owner, e.started FROM executions e JOIN plans p ON p.id = e.plan WHERE e.kind = 'run' AND e.plan = $1`, f.After)
		if err != nil {
			return nil, fmt.Errorf("the page before: %w", err)
		}
		if !f.Everyone && last.owner != f.Owner {
			return nil, fmt.Errorf("the page before: %w", ErrNotFound)
		}
		q.add("(e.started, e.plan) < (?, ?)", last.created, last.id)
	}
	query := `SELECT ` + jobColumns + from + q.where() + ` ORDER BY e.started DESC, e.plan DESC` + q.limit(limit)
	err = each(tx, "executions and jobs", query, q.args, func(r jobRow, err error) error {
		if err != nil {
			r.Job = Job{Execution: Execution{Plan: r.Plan}}
		}
		list = append(list, ListedJob{r.Job, err})
		return nil
	})
	return list, err
}

// countRow is a number.
type countRow struct{ n int64 }

func (c *countRow) columns() []any { return []any{whole(&c.n)} }
func (c *countRow) key() string    { return "" }
func (c *countRow) check() error {
	if c.n < 0 {
		return errors.New("there are fewer than none")
	}
	return nil
}

// ActiveJobs counts the runs that have not ended: all of them, and those of one
// capability.
func (tx *Tx) ActiveJobs(capability string) (all, of int, err error) {
	count := func(condition string, args ...any) (int, error) {
		r, err := one[countRow](tx, "executions", `SELECT count(*) FROM executions e JOIN plans p ON p.id = e.plan
			WHERE e.kind = 'run' AND coalesce(e.state, '') NOT IN `+finals()+condition, args...)
		return int(r.n), err
	}
	if all, err = count(""); err == nil {
		of, err = count(" AND p.capability = $1", capability)
	}
	return all, of, err
}

// uidRow is an account.
type uidRow struct{ uid int64 }

func (r *uidRow) columns() []any { return []any{whole(&r.uid)} }
func (r *uidRow) key() string    { return fmt.Sprint(r.uid) }
func (r *uidRow) check() error   { return nil }

// JobUIDs are the accounts that candidates have: of runs that have not ended, and
// of those of this boot of which nobody knows whether something runs.
func (tx *Tx) JobUIDs(boot string) ([]int64, error) {
	list, err := rows[uidRow](tx, "jobs", `SELECT j.uid FROM jobs j JOIN executions e ON e.plan = j.plan
		WHERE j.uid > 0 AND (coalesce(e.state, '') NOT IN `+finals()+` OR e.state = 'ORPHANED' AND j.created_boot = $1)`, boot)
	uids := make([]int64, len(list))
	for i, r := range list {
		uids[i] = r.uid
	}
	return uids, err
}
