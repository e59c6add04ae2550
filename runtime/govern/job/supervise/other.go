//go:build !linux

package supervise

import (
	"context"

	"github.com/capgen/capgen/runtime/govern/job"
)

// Launch fails with [ErrUnsupported].
func Launch(context.Context, Job, Journal) (job.State, error) { return "", ErrUnsupported }

// Run fails with [ErrUnsupported].
func Run(context.Context, Job, Work, Journal) (job.State, error) { return "", ErrUnsupported }

// Launched fails with [ErrUnsupported].
func Launched(string) error { return ErrUnsupported }

// Settle fails with [ErrUnsupported].
func Settle(context.Context, Job, Journal) (job.State, error) { return "", ErrUnsupported }

// Tail fails with [ErrUnsupported].
func Tail(string, string, int64) (Log, error) { return Log{}, ErrUnsupported }

// Remove fails with [ErrUnsupported].
func Remove(context.Context, string) error { return ErrUnsupported }
