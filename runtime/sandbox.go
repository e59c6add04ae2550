package runtime

import "github.com/capgen/capgen/runtime/worker"

// Sandbox says what a server does about layers of the workers' sandbox that
// its system cannot give.
type Sandbox = worker.Sandbox

// The modes of the sandbox.
const (
	// SandboxAuto enters what the kernel has, and reports it: in the log, in
	// what the server says of itself, in doctor.
	SandboxAuto = worker.SandboxAuto
	// SandboxRequired makes Build fail where a layer is missing, and names it.
	SandboxRequired = worker.SandboxRequired
	// SandboxOff enters no layer. It is for finding out whether a layer is in
	// the way of something.
	SandboxOff = worker.SandboxOff
)

// Confinement is what a worker reported of its sandbox.
type Confinement = worker.Confinement

// UnconfinedError is in what Build returns when a layer that the mode requires
// does not hold.
type UnconfinedError = worker.UnconfinedError
