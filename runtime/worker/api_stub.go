package worker

import "context"

// STUB until the worker branch merges.

type Config struct {
	Executable string
	Table      []byte
}

func NewSpawner(Config) (Runner, error)   { panic("stub") }
func Probe(context.Context, Config) error { return nil }
func ServeWorkerAndExit()                 {}
func IsWorker() bool                      { return false }
