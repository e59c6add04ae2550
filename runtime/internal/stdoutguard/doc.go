// Package stdoutguard takes standard output away from everything but the
// protocol that a process speaks on it. It must never know what that protocol
// is, and it imports only syscall.
//
// A worker, and a host that serves MCP over stdio, speak a protocol on
// descriptor 1. A package that prints while it is initialized does so before
// main can do anything about it, and would corrupt the stream. So this package
// acts while it is initialized itself: in such a process it moves descriptor 1
// to a private descriptor, which Stdout returns, and makes descriptor 1 a
// second standard error.
//
//	fd, ok := stdoutguard.Stdout()
//	if ok {
//		out = os.NewFile(uintptr(fd), "protocol")
//	}
//
// # Why it comes first
//
// Go initializes packages in one order: sorted by import path, repeatedly the
// first one whose imports are all initialized (Go spec, "Program
// initialization"). This package becomes ready with syscall. Whoever prints
// through os or fmt waits for packages internal/poll, io/fs and os, which wait
// for syscall too and sort after this module's path. This is why there is a
// package variable with an effect here, the one exception to the house rule,
// and why no import may be added.
//
// # Limits
//
//   - A package that writes to descriptor 1 by syscall alone and whose import
//     path sorts before this one's, and the constructors of C libraries, come
//     first all the same.
//   - The order is of Go 1.21 and later, as built by cmd/go.
//   - A process is recognized by its environment (Marker) and, on Linux, by
//     its first argument being stdio, which is read from /proc/self/cmdline:
//     package os is not there yet. Elsewhere a stdio host is not recognized
//     so early; and on Windows nothing is.
//   - A worker built as a plugin or a C library never runs this.
package stdoutguard
