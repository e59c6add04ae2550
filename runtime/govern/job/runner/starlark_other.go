//go:build !linux || !(amd64 || arm64)

package runner

import "os"

// Starlark is refused: a candidate would be a process that nothing confines.
func Starlark() (Runner, error) { return Runner{}, ErrUnsupported }

func serveStarlark() { os.Exit(ExitBox) }
