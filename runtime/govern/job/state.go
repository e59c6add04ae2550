package job

import "slices"

// State is how far a run has come.
type State string

// The states. A run begins queued.
const (
	Queued          State = "QUEUED"           // landed; nothing of it was ever started
	Starting        State = "STARTING"         // somebody has claimed the one start that it has
	Running         State = "RUNNING"          // the candidate may run
	CancelRequested State = "CANCEL_REQUESTED" // somebody asked for its end, which is not proved yet
	Cancelled       State = "CANCELLED"
	Succeeded       State = "SUCCEEDED" // with a result that was validated
	Failed          State = "FAILED"
	TimedOut        State = "TIMED_OUT"
	Orphaned        State = "ORPHANED" // who supervised it is gone, and nobody knows what it came to
)

// States are all of them, in the order in which they are declared.
func States() []State {
	return []State{Queued, Starting, Running, CancelRequested, Cancelled, Succeeded, Failed, TimedOut, Orphaned}
}

// Known reports whether s is one of the states.
func (s State) Known() bool { return slices.Contains(States(), s) }

// Ended reports whether s is a state that nothing follows.
func (s State) Ended() bool {
	return s.Known() && !slices.ContainsFunc(table, func(t Transition) bool { return t.From == s })
}

// Active reports whether a run in s takes up room: it has not ended.
func (s State) Active() bool { return s.Known() && !s.Ended() }
