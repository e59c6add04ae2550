// Package sandbox takes from a worker process what the operating system would
// let it do: files, sockets, processes, signals to others, code in writable
// memory, memory beyond its budget. It must never know what a program, a
// capability or the protocol is.
//
// A worker calls Enter once, when it has opened all that it needs and before
// it reads the first byte of a program:
//
//	held, missing := sandbox.Enter(sandbox.Options{Memory: 256 << 20, Keep: []int{in, out}}, sandbox.Layers()...)
//
// Nothing that Enter does can be undone. A layer that the system cannot give
// is in missing, with the reason; the caller says so to its host, which
// decides whether that is enough.
//
// # Layers
//
// On Linux, in the order in which they are entered:
//
//   - descriptors: everything but the standard streams, the descriptors to
//     keep and the runtime's own poller is closed;
//   - no_new_privs: no set-user-id program or file capability gives rights;
//   - rlimits: no core file, no file that grows beyond what was asked
//     for, few new descriptors, a bound of processor time;
//   - address_space: no memory beyond what the process has plus the budget;
//   - landlock: no file, no TCP, no abstract socket or signal of others;
//   - seccomp: only the system calls of a Go runtime that computes.
//
// Other systems have no layers.
package sandbox
