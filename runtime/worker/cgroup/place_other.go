//go:build !linux

package cgroup

import (
	"errors"
	"syscall"
)

// Place fails: only Linux has control groups.
func (g *Group) Place(*syscall.SysProcAttr) error {
	return errors.New("cgroup: only Linux has control groups")
}
