//go:build !linux

package worker

import (
	"errors"
	"syscall"
)

func (g *cgroup) place(*syscall.SysProcAttr) error {
	return errors.New("worker: cgroup: only Linux has control groups")
}
