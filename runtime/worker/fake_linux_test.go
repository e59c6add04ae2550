package worker

import "syscall"

func newGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
