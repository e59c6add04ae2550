package store

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/token"
)

// MaxHandle bounds what is kept of the processes of a run.
const MaxHandle = 4 << 10

const (
	epochQueued = 1 // nothing of it was started
	epochBegun  = 3 // the candidate may have been
)

// runEpoch tells whether a run that is in s can be in an epoch: each start of
// something counts, so that no state alone takes a claim or a begin back.
func runEpoch(s job.State, epoch int64) bool {
	if s == job.Queued {
		return epoch == epochQueued
	}
	for _, t := range job.Transitions() {
		if t.To == s && runEpoch(t.From, epoch-counts(t.Event)) {
			return true
		}
	}
	return false
}

// counts is by how much an event raises the epoch of a run.
func counts(e job.Event) int64 {
	if e == job.EventClaim || e == job.EventBegin {
		return 1
	}
	return 0
}

// Job is the execution of a run, with what is kept of it besides.
type Job struct {
	Execution
	// Created is when it was queued, Begun when its candidate may have begun: the
	// zero Instant before.
	Created, Begun token.Instant
	Heartbeat      int64 // when its supervisor was last seen, 0 if never
	Progress       string
	Handle         []byte // what ends its processes, empty if there are none; of a run that succeeded JobMove.Seal
	Failure        job.Failure
	Message        string
	Result         *cas.Digest // of a run that succeeded
	Reason, By     string      // of who asked for its end
	// Host is the id of the state directory that it runs in: no other host knows
	// what becomes of its processes.
	Host string
	// UID is the account that its candidate has for itself, 0 if it has none.
	UID int64
}

// RunState is its state, as package job names it.
func (j *Job) RunState() job.State { return job.State(j.State) }

const jobColumns = `e.plan, e.kind, e.state, e.outcome, e.started, e.ended, e.epoch, j.created, j.created_up, j.created_boot,
	j.begun, j.begun_up, j.begun_boot, j.heartbeat, j.progress, j.handle, j.failure, j.message, j.result, j.reason, j.cancelled_by, j.host, j.uid`

// jobRow is a Job as its columns are scanned.
type jobRow struct {
	Job
	created, createdUp, begun, begunUp int64
	createdBoot, begunBoot             string
	result                             []byte
}

func (r *jobRow) columns() []any {
	return append(r.Execution.columns(), whole(&r.created), whole(&r.createdUp), text(&r.createdBoot),
		whole(&r.begun), whole(&r.begunUp), text(&r.begunBoot), whole(&r.Heartbeat), text(&r.Progress), blob{&r.Handle},
		text((*string)(&r.Failure)), text(&r.Message), blob{&r.result}, text(&r.Reason), text(&r.By), text(&r.Host), whole(&r.UID))
}

func (r *jobRow) check() error {
	if err := r.Execution.check(); err != nil {
		return err
	}
	var c checks
	c.that(r.Kind == KindRun, "it is a %q", r.Kind)
	c.that(len(r.Outcome) == 0, "a run has no outcome")
	r.Created = c.instant("it was queued", r.created, r.createdUp, r.createdBoot)
	c.that((r.Epoch == epochBegun) == (r.begun > 0), "its epoch is %d, and its candidate began at %d", r.Epoch, r.begun)
	if r.begun != 0 {
		r.Begun = c.instant("its candidate began", r.begun, r.begunUp, r.begunBoot)
	}
	c.that(r.begun != 0 || r.begunUp == 0 && r.begunBoot == "", "its candidate began at no time")
	c.that(r.Heartbeat >= 0, "its supervisor was seen at %d", r.Heartbeat)
	c.bytes("its handle", r.Handle, 0, MaxHandle)
	c.that(len(r.Handle) == 0 || r.Epoch > epochQueued, "it was not started, and has a handle")
	c.text("its progress", r.Progress, 0)
	c.text("its message", r.Message, 0)
	c.text("the reason", r.Reason, 0)
	c.text("who asked for its end", r.By, 0)
	c.that(hex32(r.Host), "its host is not 32 hexadecimal digits")
	c.that(r.UID >= 0 && r.UID < math.MaxUint32, "its account is %d", r.UID)
	c.that(failed(r.RunState(), r.Failure), "it is %q, and failed of %q", r.State, r.Failure)
	c.that((r.RunState() == job.Succeeded) == (len(r.result) > 0), "it is %q, and its result has %d bytes of a digest", r.State, len(r.result))
	if len(r.result) > 0 {
		r.Result = new(cas.Digest)
		c.that(copy(r.Result[:], r.result) == len(r.Result) && len(r.result) == len(r.Result), "the digest of its result has %d bytes", len(r.result))
	}
	return c.err()
}

// failed tells whether a run in s can have failed of f.
func failed(s job.State, f job.Failure) bool {
	if all := job.Failures(s); len(all) > 0 {
		return slices.Contains(all, f)
	}
	return f == ""
}

func (c *checks) instant(what string, wall, up int64, boot string) token.Instant {
	const most = 1 << 53 // in microseconds, which as nanoseconds are an int64 yet
	c.that(wall > 0 && wall < most && up >= 0 && up < most && (boot != "" || up == 0), "%s at %d, %d of a boot", what, wall, up)
	c.text("the boot", boot, 0)
	return token.Instant{Wall: time.UnixMicro(wall).UTC(), Boot: boot, Up: time.Duration(up) * time.Microsecond}
}

// InsertJob begins the execution of a run, QUEUED and in epoch 1, on a host, whose
// candidate has an account for itself where uid is not 0. A second one is
// [ErrExists], for ever.
func (tx *Tx) InsertJob(plan string, created token.Instant, host string, uid int64) (Job, error) {
	r := jobRow{
		Job:     Job{Execution: Execution{Plan: plan, Kind: KindRun, State: string(job.Queued), Outcome: []byte{}, Started: tx.now, Epoch: epochQueued}, Handle: []byte{}, Host: host, UID: uid},
		created: created.Wall.UnixMicro(), createdUp: created.Up.Microseconds(), createdBoot: created.Boot,
	}
	if err := tx.insertExecution(r.Execution, r.check); err != nil {
		return Job{}, err
	}
	err := tx.insert(`INSERT INTO jobs (plan, created, created_up, created_boot, begun, begun_up, begun_boot, heartbeat, progress, handle, failure, message, result, reason, cancelled_by, host, uid)
		VALUES ($1, $2, $3, $4, 0, 0, '', 0, '', $5, '', '', $5, '', '', $6, $7)`, plan, r.created, r.createdUp, r.createdBoot, r.Handle, host, uid)
	return r.Job, err
}

// Job is the run of a plan, or [ErrNotFound].
func (tx *Tx) Job(plan string) (Job, error) {
	r, err := one[jobRow](tx, "executions and jobs", `SELECT `+jobColumns+` FROM executions e LEFT JOIN jobs j ON j.plan = e.plan WHERE e.kind = 'run' AND e.plan = $1`, plan)
	return r.Job, err
}

// JobMove is what happens to a run.
type JobMove struct {
	Event job.Event
	By    job.Actor
	Empty bool // it was proved that nothing of it runs
	// At is when, of EventBegin.
	At token.Instant
	// Reason and Who are of EventCancel.
	Reason, Who string
	// Failure, Message and Result are of what ends it. Where there is one failure
	// only that it can have, that one need not be named.
	Failure job.Failure
	Message string
	Result  *cas.Digest
	// Seal, of what succeeds, takes the place of the handle, which nothing needs any
	// more: at most MaxHandle bytes, by which the caller knows the result again.
	Seal []byte
}

// MoveJob moves a run that is in from, as package job says, in whose errors it is
// refused: what has ended stays as it is. [ErrState] is a run in another state. It
// returns the run as it is then, moved or not. The result is pinned.
func (tx *Tx) MoveJob(plan string, from job.State, m JobMove) (Job, error) {
	if !tx.writable {
		return Job{}, ErrReadOnly
	}
	j, err := tx.jobIn(plan, from)
	if err != nil {
		return j, err
	}
	to, err := job.Next(j.RunState(), m.Event, m.By, m.Empty)
	if err != nil {
		return j, fmt.Errorf("store: %s: %w", plan, err)
	}
	if all := job.Failures(to); m.Failure == "" && len(all) == 1 {
		m.Failure = all[0]
	}
	var c checks
	c.that(failed(to, m.Failure), "it becomes %s, and failed of %q", to, m.Failure)
	c.that((to == job.Succeeded) == (m.Result != nil), "it becomes %s, and has a result: %v", to, m.Result != nil)
	c.that(len(m.Seal) == 0 || to == job.Succeeded && len(m.Seal) <= MaxHandle, "it becomes %s, and has a seal of %d bytes", to, len(m.Seal))
	c.that(m.Event == job.EventBegin || m.At == token.Instant{}, "only a beginning has its time")
	c.that(m.Event == job.EventCancel || m.Reason == "" && m.Who == "", "only a cancellation has a reason")
	c.that(to.Ended() || m.Message == "", "only what ends has a message")
	c.text("its message", m.Message, 0)
	c.text("the reason", m.Reason, 0)
	c.text("who asked for its end", m.Who, 0)
	if m.Event == job.EventBegin {
		c.instant("its candidate begins", m.At.Wall.UnixMicro(), m.At.Up.Microseconds(), m.At.Boot)
	}
	if err := c.err(); err != nil {
		return j, invalid("%s: %w", plan, err)
	}
	return tx.moveJob(j, to, m)
}

func (tx *Tx) moveJob(j Job, to job.State, m JobMove) (Job, error) {
	next := j
	next.State, next.Epoch = string(to), j.Epoch+counts(m.Event)
	next.Failure, next.Message, next.Result = m.Failure, m.Message, m.Result
	if to.Ended() {
		next.Ended = tx.now
	}
	if m.Event == job.EventBegin {
		next.Begun = m.At
	}
	if len(m.Seal) > 0 {
		next.Handle = slices.Clone(m.Seal)
	}
	if m.Event == job.EventCancel {
		next.Reason, next.By = m.Reason, m.Who
	}
	n, err := tx.exec(`UPDATE executions SET state = $1, epoch = $2, ended = $3 WHERE plan = $4 AND kind = 'run' AND state = $5 AND epoch = $6`,
		next.State, next.Epoch, next.Ended, j.Plan, j.State, j.Epoch)
	if err == nil && n != 1 {
		return j, &StateError{ID: j.Plan, Have: "another", Want: j.State}
	}
	if err != nil {
		return j, err
	}
	result := []byte{}
	if next.Result != nil {
		result = next.Result[:]
		if err := tx.pin("plan_objects", "plan", j.Plan, []cas.Digest{*next.Result}); err != nil {
			return j, err
		}
	}
	begun := int64(0)
	if next.Begun != (token.Instant{}) {
		begun = next.Begun.Wall.UnixMicro()
	}
	_, err = tx.exec(`UPDATE jobs SET begun = $1, begun_up = $2, begun_boot = $3, failure = $4, message = $5, result = $6, reason = $7, cancelled_by = $8, handle = $9 WHERE plan = $10`,
		begun, next.Begun.Up.Microseconds(), next.Begun.Boot, string(next.Failure), next.Message, result, next.Reason, next.By, next.Handle, j.Plan)
	if err != nil {
		return j, err
	}
	return next, nil
}

// jobIn is the run of a plan in this state.
func (tx *Tx) jobIn(plan string, in job.State) (Job, error) {
	j, err := tx.Job(plan)
	if err == nil && j.RunState() != in {
		err = &StateError{ID: plan, Have: j.State, Want: string(in)}
	}
	return j, err
}

// KeepHandle keeps what ends the processes of a run that is STARTING, before there
// is any; else it is [ErrState].
func (tx *Tx) KeepHandle(plan string, handle []byte) (Job, error) {
	if !tx.writable {
		return Job{}, ErrReadOnly
	}
	j, err := tx.jobIn(plan, job.Starting)
	switch {
	case err != nil:
		return j, err
	case len(handle) == 0 || len(handle) > MaxHandle:
		return j, invalid("a handle of %d bytes", len(handle))
	}
	j.Handle = slices.Clone(handle)
	_, err = tx.exec(`UPDATE jobs SET handle = $1 WHERE plan = $2`, j.Handle, plan)
	return j, err
}

// Beat keeps that the supervisor of a run is there, and what the candidate says of
// its progress. It returns the run; one that has ended stays as it is.
func (tx *Tx) Beat(plan, progress string) (Job, error) {
	if !tx.writable {
		return Job{}, ErrReadOnly
	}
	var c checks
	c.text("its progress", progress, 0)
	if err := c.err(); err != nil {
		return Job{}, invalid("%w", err)
	}
	j, err := tx.Job(plan)
	if err != nil || j.RunState().Ended() {
		return j, err
	}
	j.Heartbeat, j.Progress = tx.now, progress
	_, err = tx.exec(`UPDATE jobs SET heartbeat = $1, progress = $2 WHERE plan = $3`, j.Heartbeat, j.Progress, plan)
	return j, err
}
