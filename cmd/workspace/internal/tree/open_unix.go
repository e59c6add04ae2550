//go:build unix

package tree

import (
	"os"
	"syscall"
)

// Opening a FIFO or a device that took the place of a file or directory must
// neither block nor make it the controlling terminal.
const (
	openFlags     = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY
	directoryFlag = syscall.O_DIRECTORY
)
