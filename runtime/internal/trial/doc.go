// Package trial marks servers that only try out examples. It must never know
// anything else.
//
//	b.Trial(trial.New())
package trial

// Mode is the argument of Builder.Trial. Only this module can make one that
// counts: the zero value, which others can pass without naming the type, does
// not.
type Mode struct{ made bool }

// New is a mode that counts.
func New() Mode { return Mode{made: true} }

// Made tells whether New made m.
func (m Mode) Made() bool { return m.made }
