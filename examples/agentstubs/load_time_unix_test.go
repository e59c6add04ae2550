//go:build unix

package main

import (
	"syscall"
	"time"
)

// ownProcessorTime is what this process has used.
func ownProcessorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // no other answer to an argument that is right
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
