//go:build !linux

package scope

import (
	"context"
	"os"
)

// Scope is the processes of one run, of which this system can hold none.
type Scope struct{}

// Open fails with [ErrUnsupported].
func Open(Options) (*Scope, error) { return nil, ErrUnsupported }

// Probe fails with [ErrUnsupported].
func Probe(context.Context, Options) error { return ErrUnsupported }

// ServeKeeperAndExit returns.
func ServeKeeperAndExit() {}

// Spawn fails with [ErrUnsupported].
func Spawn(string, []string, []string, ...*os.File) error { return ErrUnsupported }

// Handle is of no scope.
func (*Scope) Handle() Handle { return Handle{} }

// Start fails with [ErrUnsupported].
func (*Scope) Start(context.Context, Command) error { return ErrUnsupported }

// Wait fails with [ErrUnsupported].
func (*Scope) Wait(context.Context) (Exit, error) { return Exit{}, ErrUnsupported }

// Terminate fails with [ErrUnsupported].
func (*Scope) Terminate() error { return ErrUnsupported }

// OutOfMemory is false.
func (*Scope) OutOfMemory() bool { return false }

// End fails with [ErrUnsupported].
func (*Scope) End(context.Context) error { return ErrUnsupported }

// End fails with [ErrUnsupported].
func (Handle) End(context.Context, func() (bool, error)) error { return ErrUnsupported }
