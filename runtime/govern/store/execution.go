package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/capgen/capgen/runtime/govern/job"
)

// The kinds of executions.
const (
	KindChange = "change" // a tree under a root is replaced
	KindCall   = "call"   // a handler is called
	KindRun    = "run"    // candidate code runs; see Job
)

// state is one state of an execution.
type state struct {
	next []string
	// ended: what it was to do is done, or will not be. An ended execution may
	// still have something to clean.
	ended bool
}

// executionStates are the states of changes and calls, which begin with INTENT,
// and their transitions; there are no others. Those of a change are the states of
// package change; those of a run, of package job.
var executionStates = map[string]map[string]state{
	KindChange: {
		"INTENT":   {next: []string{"STAGED", "ABORTED", "CONFLICT"}},
		"STAGED":   {next: []string{"APPLIED", "ABORTED", "CONFLICT"}},
		"APPLIED":  {next: []string{"CLEANED"}, ended: true},
		"CLEANED":  {ended: true},
		"ABORTED":  {ended: true},
		"CONFLICT": {ended: true},
	},
	KindCall: {
		"INTENT":  {next: []string{"CALLED", "ABORTED"}},
		"CALLED":  {next: []string{"DONE", "FAILED", "UNKNOWN"}}, // the handler may have run
		"DONE":    {ended: true},
		"FAILED":  {ended: true},
		"UNKNOWN": {ended: true},
		"ABORTED": {ended: true},
	},
}

const intent = "INTENT"

// stateOf is a state of a kind of execution, if it is one of an epoch.
func stateOf(kind, name string, epoch int64) (s state, known bool) {
	if kind == KindRun {
		is := job.State(name)
		return state{ended: is.Ended()}, is.Known() && runEpoch(is, epoch)
	}
	s, known = executionStates[kind][name]
	return s, known && epoch > 0
}

// finals is a list for SQL of the states after which nothing comes.
func finals() string {
	set := map[string]bool{}
	for _, s := range job.States() {
		if s.Ended() {
			set["'"+string(s)+"'"] = true
		}
	}
	for _, states := range executionStates {
		for name, s := range states {
			if len(s.next) == 0 {
				set["'"+name+"'"] = true
			}
		}
	}
	return "(" + strings.Join(slices.Sorted(maps.Keys(set)), ", ") + ")"
}

// Execution is the one execution that a plan can have; the plan's id is its id.
type Execution struct {
	Plan    string
	Kind    string // KindChange, KindCall or KindRun
	State   string
	Outcome []byte // what Finish was given, at most MaxBody
	// Started and Ended are microseconds since 1970 UTC; Ended is 0 until then.
	Started, Ended int64
	// Epoch counts from 1 who has worked on it; see TakeOver.
	Epoch int64
}

const executionColumns = `plan, kind, state, outcome, started, ended, epoch`

func (e *Execution) columns() []any {
	return []any{text(&e.Plan), text(&e.Kind), text(&e.State), blob{&e.Outcome}, whole(&e.Started), whole(&e.Ended), whole(&e.Epoch)}
}

func (e *Execution) key() string { return e.Plan }

func (e *Execution) check() error {
	var c checks
	c.id("the plan", e.Plan)
	s, known := stateOf(e.Kind, e.State, e.Epoch)
	c.that(known, "an execution of kind %q has no state %q in epoch %d", e.Kind, e.State, e.Epoch)
	c.bytes("the outcome", e.Outcome, 0, MaxBody)
	c.that(e.Started > 0, "it started at %d", e.Started)
	c.that(s.ended == (e.Ended > 0), "it is %q, and ended at %d", e.State, e.Ended)
	return c.err()
}

// InsertExecution begins the execution of a change or a call, in INTENT and epoch
// 1. A second one is [ErrExists], for ever.
func (tx *Tx) InsertExecution(plan, kind string) (Execution, error) {
	e := Execution{Plan: plan, Kind: kind, State: intent, Outcome: []byte{}, Started: tx.now, Epoch: 1}
	return e, tx.insertExecution(e, e.check)
}

func (tx *Tx) insertExecution(e Execution, check func() error) error {
	if !tx.writable {
		return ErrReadOnly
	}
	if err := check(); err != nil {
		return invalid("an execution of %q: %w", e.Plan, err)
	}
	if _, err := tx.Plan(e.Plan); err != nil {
		return err
	}
	return tx.insert(`INSERT INTO executions (`+executionColumns+`) VALUES ($1, $2, $3, $4, $5, 0, 1)`, e.Plan, e.Kind, e.State, e.Outcome, e.Started)
}

// Execution is the execution of a plan, or [ErrNotFound].
func (tx *Tx) Execution(plan string) (Execution, error) {
	return one[Execution](tx, "executions", `SELECT `+executionColumns+` FROM executions WHERE plan = $1`, plan)
}

// ListedExecution is an execution in a list. Of a row that is corrupt Err says so,
// and only its plan and its kind are set, as far as they can be read.
type ListedExecution struct {
	Execution
	Err error
}

// Unfinished are executions that have something left to do, APPLIED among them
// until it is CLEANED: a page, by the ids of their plans, after one. A corrupt row
// keeps no other from being listed.
func (tx *Tx) Unfinished(after string, limit int) (list []ListedExecution, err error) {
	limit, err = pageSize(limit)
	if err != nil {
		return nil, err
	}
	query := `SELECT ` + executionColumns + ` FROM executions WHERE plan > $1 AND coalesce(state, '') NOT IN ` + finals() + ` ORDER BY plan LIMIT $2`
	err = each(tx, "executions", query, []any{after, int64(limit)}, func(e Execution, err error) error {
		if err != nil {
			e = Execution{Plan: e.Plan, Kind: e.Kind}
		}
		list = append(list, ListedExecution{e, err})
		return nil
	})
	return list, err
}

// TakeOver gives the execution of a change or a call to the caller: what any
// earlier one writes from now on is refused with [ErrState]. It returns the
// execution with its new epoch.
func (tx *Tx) TakeOver(plan string) (Execution, error) {
	if _, err := tx.exec(`UPDATE executions SET epoch = epoch + 1 WHERE plan = $1 AND kind <> 'run'`, plan); err != nil {
		return Execution{}, err
	}
	e, err := tx.Execution(plan)
	if err == nil && e.Kind == KindRun {
		err = invalid("nobody takes a run over")
	}
	return e, err
}

// Advance moves the execution of a change or a call that is in from, in this epoch, to a state in
// which it goes on, or from one in which it had ended.
func (tx *Tx) Advance(plan, from, to string, epoch int64) error {
	return tx.advance(plan, from, to, epoch, false, nil)
}

// Finish is Advance to a state in which the execution has ended, and keeps what
// came of it.
func (tx *Tx) Finish(plan, from, to string, epoch int64, outcome []byte) error {
	return tx.advance(plan, from, to, epoch, true, outcome)
}

func (tx *Tx) advance(plan, from, to string, epoch int64, finish bool, outcome []byte) error {
	if len(outcome) > MaxBody {
		return invalid("an outcome of %d bytes, at most %d", len(outcome), MaxBody)
	}
	if !tx.writable {
		return ErrReadOnly
	}
	e, err := tx.Execution(plan)
	if err != nil {
		return err
	}
	have, want := fmt.Sprintf("%s in epoch %d", e.State, e.Epoch), fmt.Sprintf("%s in epoch %d", from, epoch)
	states := executionStates[e.Kind]
	ends := states[to].ended && !states[from].ended
	switch {
	case !slices.Contains(states[from].next, to):
		return invalid("no %s becomes %q from %q", e.Kind, to, from)
	case finish != ends:
		return invalid("whether an execution ends with %q, and is finished, differ", to)
	case have != want:
		return &StateError{ID: plan, Have: have, Want: want}
	}
	if ends {
		e.Ended, e.Outcome = tx.now, append([]byte{}, outcome...)
	}
	n, err := tx.exec(`UPDATE executions SET state = $1, ended = $2, outcome = $3 WHERE plan = $4 AND state = $5 AND epoch = $6`,
		to, e.Ended, e.Outcome, plan, from, epoch)
	if err == nil && n != 1 {
		return &StateError{ID: plan, Have: "another", Want: want}
	}
	return err
}
