//go:build !unix

package shelltest

import (
	"os"
	"os/exec"
)

func alone(*exec.Cmd) {}

// kill kills the process alone.
func kill(p *os.Process) { p.Kill() }
