package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The kinds of executions.
const (
	KindChange = "change" // a tree under a root is replaced
	KindCall   = "call"   // a handler is called
)

// state is one state of an execution.
type state struct {
	next []string
	// ended: what it was to do is done, or will not be. An ended execution may
	// still have something to clean.
	ended bool
}

// executionStates are the states of each kind of execution, which begins with
// INTENT, and their transitions; there are no others. Those of a change are
// the states of package change.
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

// finals is a list for SQL of the states after which nothing comes.
func finals() string {
	set := map[string]bool{}
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
	Kind    string // KindChange or KindCall
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
	s, known := executionStates[e.Kind][e.State]
	c.that(known, "an execution of kind %q has no state %q", e.Kind, e.State)
	c.bytes("the outcome", e.Outcome, 0, MaxBody)
	c.that(e.Started > 0, "it started at %d", e.Started)
	c.that(s.ended == (e.Ended > 0), "it is %s, and ended at %d", e.State, e.Ended)
	c.that(e.Epoch > 0, "its epoch is %d", e.Epoch)
	return c.err()
}

// InsertExecution begins the execution of a plan, in INTENT and epoch 1. A
// second one is [ErrExists], for ever.
func (tx *Tx) InsertExecution(plan, kind string) (Execution, error) {
	e := Execution{Plan: plan, Kind: kind, State: intent, Outcome: []byte{}, Started: tx.now, Epoch: 1}
	if !tx.writable {
		return e, ErrReadOnly
	}
	if err := e.check(); err != nil {
		return e, invalid("an execution of %q: %w", plan, err)
	}
	if _, err := tx.Plan(plan); err != nil {
		return e, err
	}
	return e, tx.insert(`INSERT INTO executions (`+executionColumns+`) VALUES ($1, $2, $3, $4, $5, 0, 1)`, plan, kind, intent, e.Outcome, e.Started)
}

// Execution is the execution of a plan, or [ErrNotFound].
func (tx *Tx) Execution(plan string) (Execution, error) {
	return one[Execution](tx, "executions", `SELECT `+executionColumns+` FROM executions WHERE plan = $1`, plan)
}

// Unfinished are executions that have something left to do, APPLIED among them
// until it is CLEANED: a page, by the ids of their plans, after one.
func (tx *Tx) Unfinished(after string, limit int) ([]Execution, error) {
	limit, err := pageSize(limit)
	if err != nil {
		return nil, err
	}
	return rows[Execution](tx, "executions", `SELECT `+executionColumns+` FROM executions
		WHERE plan > $1 AND coalesce(state, '') NOT IN `+finals()+` ORDER BY plan LIMIT $2`, after, int64(limit))
}

// TakeOver gives an execution to the caller: what any earlier one writes from
// now on is refused with [ErrState]. It returns the execution with its new
// epoch.
func (tx *Tx) TakeOver(plan string) (Execution, error) {
	if _, err := tx.exec(`UPDATE executions SET epoch = epoch + 1 WHERE plan = $1`, plan); err != nil {
		return Execution{}, err
	}
	return tx.Execution(plan)
}

// Advance moves an execution that is in from, in this epoch, to a state in
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
