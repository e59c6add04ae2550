//go:build !unix

package worker

import (
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

func killTree(p *os.Process) { p.Kill() }
