package worker

import "syscall"

func newGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func joinParentsGroup() error {
	group, err := syscall.Getpgid(syscall.Getppid())
	if err != nil {
		return err
	}
	return syscall.Setpgid(0, group)
}
