package job

import (
	"errors"
	"fmt"
	"slices"
)

// Event is what happens to a run.
type Event string

// The events.
const (
	EventClaim   Event = "claim"   // a server is about to start the supervisor
	EventBegin   Event = "begin"   // the supervisor is about to start the candidate
	EventCancel  Event = "cancel"  // somebody wants it to end
	EventEmptied Event = "emptied" // after that: nothing of it runs
	EventSucceed Event = "succeed" // the candidate ended, and its result is valid
	EventFail    Event = "fail"    // it cannot start, it ended badly, or its result is not valid
	EventExpire  Event = "expire"  // its time is over
	EventLose    Event = "lose"    // the supervisor is gone
	EventAbandon Event = "abandon" // it is, and nobody can prove that nothing of the run runs
)

// Events are all of them, in the order in which they are declared.
func Events() []Event {
	return []Event{EventClaim, EventBegin, EventCancel, EventEmptied, EventSucceed, EventFail, EventExpire, EventLose, EventAbandon}
}

// Actor is who makes an event happen.
type Actor string

// The actors.
const (
	ByRequester  Actor = "requester"  // the subject whose run it is
	ByOperator   Actor = "operator"   // a person at the command line
	ByServer     Actor = "server"     // the process that starts supervisors
	BySupervisor Actor = "supervisor" // the one process that may start the candidate
	ByWatchdog   Actor = "watchdog"   // any process of the host that finds a run without a living supervisor, or one that is late
)

// Actors are all of them, in the order in which they are declared.
func Actors() []Actor { return []Actor{ByRequester, ByOperator, ByServer, BySupervisor, ByWatchdog} }

// Transition is one way from a state to another.
type Transition struct {
	From  State
	Event Event
	To    State
	By    []Actor
	// Empty: only after it was proved that nothing of the run runs.
	Empty bool
}

// table is every transition. While a run is queued nothing of it exists, so that
// no proof is needed. From begin on there may be processes; the claim before it
// may have made a supervisor, which ends by itself when begin is refused to it.
var table = []Transition{
	{Queued, EventClaim, Starting, []Actor{ByServer}, false},
	{Queued, EventCancel, Cancelled, []Actor{ByRequester, ByOperator}, false},
	{Queued, EventFail, Failed, []Actor{ByServer}, false},
	{Queued, EventExpire, TimedOut, []Actor{ByWatchdog}, false},

	{Starting, EventBegin, Running, []Actor{BySupervisor}, false},
	{Starting, EventCancel, CancelRequested, []Actor{ByRequester, ByOperator}, false},
	{Starting, EventFail, Failed, []Actor{ByServer, BySupervisor}, true},
	{Starting, EventExpire, TimedOut, []Actor{BySupervisor, ByWatchdog}, true},
	{Starting, EventLose, Orphaned, []Actor{ByWatchdog}, true},
	{Starting, EventAbandon, Orphaned, []Actor{ByWatchdog}, false},

	{Running, EventCancel, CancelRequested, []Actor{ByRequester, ByOperator}, false},
	{Running, EventSucceed, Succeeded, []Actor{BySupervisor}, true},
	{Running, EventFail, Failed, []Actor{BySupervisor}, true},
	{Running, EventExpire, TimedOut, []Actor{BySupervisor, ByWatchdog}, true},
	{Running, EventLose, Orphaned, []Actor{ByWatchdog}, true},
	{Running, EventAbandon, Orphaned, []Actor{ByWatchdog}, false},

	{CancelRequested, EventEmptied, Cancelled, []Actor{BySupervisor, ByWatchdog}, true},
	{CancelRequested, EventAbandon, Orphaned, []Actor{ByWatchdog}, false},
}

// Transitions are all transitions that there are, grouped by where they start.
// The caller owns what it gets.
func Transitions() []Transition {
	out := slices.Clone(table)
	for i := range out {
		out[i].By = slices.Clone(out[i].By)
	}
	return out
}

// Why a run does not move. Next wraps exactly one of them.
var (
	ErrUnknown  = errors.New("job: no such state, event or actor")
	ErrEnded    = errors.New("job: it has ended")
	ErrNoWay    = errors.New("job: not in this state")
	ErrActor    = errors.New("job: not by this actor")
	ErrNotEmpty = errors.New("job: it is not proved that nothing of it runs")
)

// Next is the state that follows from, or why none does. empty says that it was
// proved, after the last process of the run could have been started, that none is
// left.
func Next(from State, event Event, by Actor, empty bool) (State, error) {
	fail := func(err error) (State, error) { return from, fmt.Errorf("%w: %s, %s by %s", err, from, event, by) }
	if !from.Known() || !slices.Contains(Events(), event) || !slices.Contains(Actors(), by) {
		return fail(ErrUnknown)
	}
	if from.Ended() {
		return fail(ErrEnded)
	}
	i := slices.IndexFunc(table, func(t Transition) bool { return t.From == from && t.Event == event })
	switch {
	case i < 0:
		return fail(ErrNoWay)
	case !slices.Contains(table[i].By, by):
		return fail(ErrActor)
	case table[i].Empty && !empty:
		return fail(ErrNotEmpty)
	}
	return table[i].To, nil
}
