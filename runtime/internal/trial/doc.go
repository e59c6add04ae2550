// Package trial marks servers that only try out examples. It must never know
// anything else.
//
//	b.Trial(trial.Mode{})
package trial

// Mode is the argument of Builder.Trial, so that only this module can call it.
type Mode struct{}
