package stdoutguard

import "syscall"

// Marker is the environment variable that makes a process a worker. Its value
// is the protocol version.
const Marker = "CAPGEN_WORKER"

// saved is the private descriptor, or -1. Its initializer is the point of this
// package; see the package documentation.
//
//capgenvet:allow quietinit it asks for one variable, which its parent set, and for its own arguments
var saved = install()

func install() int {
	if !wanted() {
		return -1
	}
	return divert()
}

func wanted() bool {
	if value, ok := syscall.Getenv(Marker); ok && value != "" {
		return true
	}
	return servesStdio()
}

// Stdout returns the descriptor that standard output was moved to. It is false
// in a process that needs no guard, and where there is none. The descriptor
// belongs to whoever speaks the protocol; it is not inherited by children.
func Stdout() (fd int, ok bool) { return saved, saved >= 0 }
