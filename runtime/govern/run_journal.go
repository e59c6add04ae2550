package govern

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/capgen/capgen/internal/visible"
	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/supervise"
	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/token"
)

// maxMessage bounds what is kept of why a job failed, maxProgress what of its
// progress, in bytes.
const (
	maxMessage  = 1 << 10
	maxProgress = 1 << 10
)

// jobJournal keeps what becomes of a job in the store.
type jobJournal struct {
	s *Service
	p opened
}

// kept is the row of the job.
func (j jobJournal) kept(ctx context.Context) (kept store.Job, err error) {
	err = j.s.o.Store.View(ctx, func(tx *store.Tx) (err error) {
		kept, err = tx.Job(j.p.ID)
		return err
	})
	return kept, err
}

// Look is the job as it is now.
func (j jobJournal) Look(ctx context.Context) (supervise.View, error) {
	kept, err := j.kept(ctx)
	if err != nil {
		return supervise.View{}, err
	}
	v := supervise.View{State: kept.RunState(), Times: job.Times{Created: kept.Created, Begun: kept.Begun}}
	if kept.Heartbeat > 0 {
		v.Beat = token.Instant{Wall: time.UnixMicro(kept.Heartbeat).UTC()}
	}
	if len(kept.Handle) > 0 && !v.State.Ended() {
		if v.Handle, err = j.unseal(kept.Handle); err != nil {
			return v, err
		}
	}
	return v, nil
}

// Move lets an event happen, with its records in the audit trail.
func (j jobJournal) Move(ctx context.Context, m supervise.Move) (job.State, error) {
	if m.Event == job.EventClaim {
		return j.claim(ctx, m)
	}
	state, err := j.move(ctx, m)
	if err == nil && m.From == job.Queued {
		j.s.over(ctx, j.p)
	}
	return state, err
}

// claim takes the one start of a job, if people have approved it and its plan has
// not expired for longer than a job may wait. The keepers of approvals remember
// that it is about to be, and then that it was: from then on no copy of the
// database starts it, and only then its supervisor is started.
func (j jobJournal) claim(ctx context.Context, m supervise.Move) (job.State, error) {
	// fail ends it, unless somebody has ended it before; then is what follows.
	fail := func(from job.State, message string, then func()) (job.State, error) {
		state, err := j.move(ctx, supervise.Move{
			From: from, Event: job.EventFail, By: job.ByServer, Empty: true, // nothing of it was ever started
			Failure: job.FailInfrastructure, Message: message,
		})
		if err == nil {
			then()
			err = supervise.ErrMoved
		}
		return state, err
	}
	_, err := j.s.confirmed(ctx, j.p)
	if err == nil && j.p.Expires().Later(jobStart+jobGrace).Reached(j.s.o.Now()) {
		err = unapproved(errors.New("its plan has expired"))
	}
	if not := (*Refusal)(nil); errors.As(err, &not) && never(err) {
		// Who has cancelled it meanwhile has told the keepers: then nothing is wrong.
		return fail(m.From, not.Message, func() { j.s.refused(ctx, about(eventLand, j.s.system(), j.p.Plan), not) })
	}
	if err != nil {
		return m.From, err // it is tried again until it is too late
	}
	state, err := j.move(ctx, m)
	if err != nil {
		return state, err
	}
	if err := j.s.ended(ctx, j.p); err != nil {
		j.s.o.Logger.ErrorContext(ctx, "a keeper of approvals does not remember that a job was started, so it is not", "job", jobID(j.p.ID), "error", err)
		return fail(state, "the keeper of approvals does not answer", func() {})
	}
	return state, nil
}

// over tells the keepers of approvals that a plan is not to be landed any more
// whose job has ended before it was started. Without them nothing is lost but that.
func (s *Service) over(ctx context.Context, p opened) {
	err := s.begun(ctx, p)
	if err == nil {
		err = s.ended(ctx, p)
	}
	if err != nil && !never(err) {
		s.o.Logger.WarnContext(ctx, "a keeper of approvals does not remember the end of a job", "job", jobID(p.ID), "error", err)
	}
}

func (j jobJournal) move(ctx context.Context, m supervise.Move) (job.State, error) {
	s := j.s
	to := store.JobMove{Event: m.Event, By: m.By, Empty: m.Empty, Failure: m.Failure, Message: line(m.Message, maxMessage)}
	if m.Event == job.EventBegin {
		to.At = whole(s.o.Now())
	}
	var after store.Job
	move := func(tx *store.Tx) (err error) {
		if after, err = tx.MoveJob(j.p.ID, m.From, to); err != nil {
			return err
		}
		return s.recordMove(tx, j.p, m, after)
	}
	var err error
	if m.Event == job.EventSucceed {
		d := cas.Of(m.Result)
		to.Result = &d
		if to.Seal, err = s.seal(kindResult, sealedResult{j.p.ID, d.String()}); err != nil {
			return m.From, err
		}
		err = s.Keep(ctx, [][]byte{m.Result}, move)
	} else {
		err = s.update(ctx, move)
	}
	if errors.Is(err, store.ErrState) {
		return after.RunState(), supervise.ErrMoved
	}
	return after.RunState(), err
}

// recordMove keeps in the trail what has become of a job.
func (s *Service) recordMove(tx *store.Tx, p opened, m supervise.Move, after store.Job) error {
	d := details{"job": jobID(p.ID)}
	var what string
	switch after.RunState() {
	case job.Starting:
		return nil // that it was queued is known, and that it begins will be
	case job.Running:
		what = "started"
	default:
		what = strings.ToLower(after.State)
		if after.Failure != "" {
			d["failure"] = after.Failure
		}
		if after.Result != nil {
			d["result"] = after.Result.String()
		}
	}
	if m.By == job.ByWatchdog {
		if err := s.record(tx, about(eventRun+".recovered", s.system(), p.Plan), details{"job": jobID(p.ID), "from": m.From, "event": m.Event, "proof": m.Empty}); err != nil {
			return err
		}
	}
	return s.record(tx, about(eventRun+"."+what, s.system(), p.Plan), d)
}

// Keep keeps what ends the job's processes.
func (j jobJournal) Keep(ctx context.Context, h supervise.Handle) error {
	text, err := j.s.seal(kindHandle, sealedHandle{j.p.ID, h})
	if err != nil {
		return err
	}
	err = j.s.update(ctx, func(tx *store.Tx) error {
		_, err := tx.KeepHandle(j.p.ID, text)
		return err
	})
	if errors.Is(err, store.ErrState) {
		return fmt.Errorf("%w: %w", supervise.ErrMoved, err)
	}
	return err
}

// sealedHandle is what a row keeps of the processes of a job, sealed by the
// server's keys: whoever can write the database must not have the server kill
// what it likes.
type sealedHandle struct {
	Plan   string           `json:"plan"`
	Handle supervise.Handle `json:"handle"`
}

// sealedResult is what a row keeps in the handle's place of a job that succeeded:
// else its digest could be made that of another object, which somebody else's
// result may be.
type sealedResult struct {
	Plan   string `json:"plan"`
	Result string `json:"result"`
}

// What is sealed for the rows of jobs.
const (
	kindHandle = "handle"
	kindResult = "result"
)

func (s *Service) seal(kind string, v any) ([]byte, error) {
	ring, err := s.ring()
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	text, err := ring.Seal(kind, body)
	return []byte(text), err
}

func (s *Service) unseal(kind string, text []byte, v any) error {
	ring, err := s.ring()
	if err != nil {
		return err
	}
	body, err := ring.Unseal(string(text), kind)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, v)
}

func (j jobJournal) unseal(text []byte) (supervise.Handle, error) {
	var sealed sealedHandle
	if err := j.s.unseal(kindHandle, text, &sealed); err != nil || sealed.Plan != j.p.ID {
		return supervise.Handle{}, altered("its handle is not one that was kept for it")
	}
	return sealed.Handle, nil
}

// itsResult refuses a job whose result is not the one that was kept for it.
func (s *Service) itsResult(v startedRun) error {
	var sealed sealedResult
	err := s.unseal(kindResult, v.job.Handle, &sealed)
	switch {
	case errors.Is(err, token.ErrKeyUnknown):
		return notKept().because(err)
	case errors.Is(err, token.ErrInvalid), err == nil && sealed != sealedResult{v.ID, v.job.Result.String()}:
		return altered("its result is not the one that was kept for it")
	}
	return err
}

// Beat keeps that the supervisor lives.
func (j jobJournal) Beat(ctx context.Context, progress string) (job.State, error) {
	var kept store.Job
	err := j.s.update(ctx, func(tx *store.Tx) (err error) {
		kept, err = tx.Beat(j.p.ID, line(progress, maxProgress))
		return err
	})
	return kept.RunState(), err
}

// line is text as one line that can be seen, without absolute paths, of at most
// most bytes.
func line(text string, most int) string {
	text = redact(visible.Text(strings.ToValidUTF8(text, "\ufffd")))
	if len(text) <= most {
		return text
	}
	const cut = "…"
	text = text[:most-len(cut)]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text + cut
}
