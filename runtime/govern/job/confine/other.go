//go:build !linux || !(amd64 || arm64)

package confine

import (
	"context"
	"syscall"
)

// Attributes does nothing here.
func (Spec) Attributes(*syscall.SysProcAttr) {}

// Enter fails with [ErrUnsupported] for all but [None] without an account.
func (s Spec) Enter() error {
	if s.Tier == None && s.UID == 0 {
		return nil
	}
	return ErrUnsupported
}

// ServeProbeAndExit returns.
func ServeProbeAndExit(string) {}

func try(_ context.Context, t Tier, o Options) error {
	return Spec{Tier: t, UID: o.UID, GID: o.GID}.Enter()
}
