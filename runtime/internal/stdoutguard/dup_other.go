//go:build unix && !linux

package stdoutguard

import "syscall"

// replace makes to a copy of from.
func replace(from, to int) error { return syscall.Dup2(from, to) }
