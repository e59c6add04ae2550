//go:build !unix

package tree

import "os"

const (
	openFlags     = os.O_RDONLY
	directoryFlag = 0
)
