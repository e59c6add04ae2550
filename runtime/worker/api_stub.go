package worker

import "context"

// STUB until the worker branch merges.

type Config struct {
	Executable string
	Table      []byte
}

func NewSpawner(Config) (Runner, error)   { return stubRunner{}, nil }
func Probe(context.Context, Config) error { return nil }
func ServeWorkerAndExit()                 {}
func IsWorker() bool                      { return false }

type stubRunner struct{}

func (stubRunner) Run(context.Context, Job) (Result, error) { panic("stub") }
func (stubRunner) Close() error                             { return nil }
