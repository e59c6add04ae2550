package stdoutguard

import "syscall"

// replace makes to a copy of from. Not every Linux has dup2.
func replace(from, to int) error { return syscall.Dup3(from, to, 0) }
