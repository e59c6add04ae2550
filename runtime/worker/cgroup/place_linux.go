package cgroup

import "syscall"

// Place has the process start in the group: there is no moment in which it is
// outside.
func (g *Group) Place(a *syscall.SysProcAttr) error {
	a.UseCgroupFD, a.CgroupFD = true, int(g.opened.Fd())
	return nil
}
