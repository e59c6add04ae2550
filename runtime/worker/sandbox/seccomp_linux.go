//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// seccomp installs the filter on all threads. It needs no_new_privs, on the
// calling thread at least, which the kernel then gives to the others too, or
// rights that a worker should not have.
func seccomp() error {
	code, err := native().assemble(uint32(unix.Getpid()))
	if err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	out, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(code)
	if errno != 0 {
		return fmt.Errorf("install the filter: %w", errno)
	}
	if out != 0 {
		return fmt.Errorf("thread %d cannot take the filter", out)
	}
	return nil
}
