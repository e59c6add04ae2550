package sandbox

import "time"

// Layer names one thing that confines a process.
type Layer string

// The layers, in the order in which they are entered.
const (
	Descriptors  Layer = "descriptors"
	NoNewPrivs   Layer = "no_new_privs"
	Rlimits      Layer = "rlimits"
	AddressSpace Layer = "address_space"
	Landlock     Layer = "landlock"
	Seccomp      Layer = "seccomp"
)

// Options of Enter.
type Options struct {
	// Memory is the budget in bytes: how much the process's address space may
	// grow from where it stands. It must be positive.
	Memory int64
	// CPU is the processor time that the process may use from now on, rounded
	// up to whole seconds, with one on top. It is a net under the host's
	// deadline. Zero is no bound.
	CPU time.Duration
	// Keep are the descriptors that stay open beside 0, 1 and 2.
	Keep []int
	// File is how many bytes a file may have that the process writes to by a
	// descriptor that it kept. Zero: it can write to none.
	File int64
}

// Missing is a layer that does not hold, and why.
type Missing struct {
	Layer Layer
	Err   error
}
