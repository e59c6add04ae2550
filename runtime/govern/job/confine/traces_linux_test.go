package confine_test

import (
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What a hostile candidate finds out of others, or leaves with them, without a byte of
// a file.

// notify asks the same, by the older way, of a directory that it may read. No signal
// comes before the first event.
func (s stage) notify() error {
	fd, err := open(s.path("bin"), unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.FcntlInt(uintptr(fd), unix.F_NOTIFY, dnCreate)
	return err
}

// dnCreate is DN_CREATE (fcntl(2)), of which package unix does not know.
const dnCreate = 4

// openToAll are a file and a directory that everybody may write, and a file that it
// may read besides.
func (s stage) openToAll() []string {
	return []string{s.path("free/file"), s.path("free"), s.path("bin/writable")}
}

// attribute is the extended attribute that a candidate sets.
const attribute = "user.capgen-test"

func (s stage) attributes() (ways []func() error) {
	for _, path := range s.openToAll() {
		ways = append(ways,
			func() error { return unix.Setxattr(path, attribute, []byte("x"), 0) },
			func() error { return unix.Lsetxattr(path, attribute, []byte("x"), 0) },
			func() error {
				fd, err := open(path, unix.O_RDONLY)
				if err != nil {
					return err
				}
				defer unix.Close(fd)
				return unix.Fsetxattr(fd, attribute, []byte("x"), 0)
			},
			func() error { return unix.Removexattr(path, "user.capgen-first") },
			func() error { // setxattrat(2)
				path, err := unix.BytePtrFromString(path)
				if err != nil {
					return err
				}
				name, err := unix.BytePtrFromString(attribute)
				if err != nil {
					return err
				}
				value := struct {
					value       *byte
					size, flags uint32
				}{value: name, size: 1}
				at := unix.AT_FDCWD
				_, _, errno := unix.Syscall6(unix.SYS_SETXATTRAT, uintptr(at), uintptr(unsafe.Pointer(path)), 0,
					uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&value)), unsafe.Sizeof(value))
				if errno != 0 {
					return errno
				}
				return nil
			},
		)
	}
	return ways
}

func (s stage) times() (ways []func() error) {
	for _, path := range s.openToAll() {
		ways = append(ways, func() error { return unix.UtimesNanoAt(unix.AT_FDCWD, path, nil, 0) })
	}
	return ways
}

// numbers are ways to tell whether there is a process.
func (s stage) numbers() []func() error {
	nobody := 1<<22 + 1 // more than the kernel counts to
	return []func() error{
		func() error {
			if there, not := unix.Kill(s.Victim, 0), unix.Kill(nobody, 0); there == not {
				return there
			}
			return nil
		},
		func() error { _, err := unix.Getsid(s.Victim); return err },
		func() error { _, err := unix.Getpriority(unix.PRIO_PROCESS, s.Victim); return err },
	}
}

// owners are ways to what else there is to know of a process.
func (s stage) owners() []func() error {
	return []func() error{
		func() error {
			fd, err := unix.PidfdOpen(s.Victim, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return pidfdInfo(fd)
		},
		opens("/proc/"+strconv.Itoa(s.Victim)+"/status", unix.O_RDONLY),
		opens("/proc/"+strconv.Itoa(s.Victim)+"/stat", unix.O_RDONLY),
	}
}

// governs are ways to slow another process down, or to have the kernel end it.
func (s stage) governs() []func() error {
	const (
		batch     = 3       // SCHED_BATCH
		ofProcess = 1       // IOPRIO_WHO_PROCESS
		lowest    = 3 << 13 // of class idle
	)
	var parameters [1]int32
	attributes := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: batch}
	return []func() error{
		func() error {
			var now unix.Rlimit
			if err := unix.Prlimit(s.Slowed, unix.RLIMIT_NOFILE, nil, &now); err != nil {
				return err
			}
			now.Cur--
			return unix.Prlimit(s.Slowed, unix.RLIMIT_NOFILE, &now, nil)
		},
		func() error { return unix.Setpriority(unix.PRIO_PROCESS, s.Slowed, 1) },
		func() error { return unix.Setpriority(unix.PRIO_PGRP, s.Slowed, 2) },
		func() error {
			var set unix.CPUSet
			if err := unix.SchedGetaffinity(0, &set); err != nil {
				return err
			}
			return unix.SchedSetaffinity(s.Slowed, &set)
		},
		made(unix.SYS_SCHED_SETSCHEDULER, uintptr(s.Slowed), batch, uintptr(unsafe.Pointer(&parameters))),
		made(unix.SYS_SCHED_SETPARAM, uintptr(s.Slowed), uintptr(unsafe.Pointer(&parameters))),
		func() error { return unix.SchedSetAttr(s.Slowed, &attributes, 0) },
		made(unix.SYS_IOPRIO_SET, ofProcess, uintptr(s.Slowed), lowest),
	}
}

// pidfdInfo asks for parent, accounts and control group of a process, by the first
// version of PIDFD_GET_INFO (linux/pidfd.h).
func pidfdInfo(fd int) error {
	const pidfdGetInfo, credentials = 0xc040ff0b, 1 << 1
	info := [8]uint64{credentials}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), pidfdGetInfo, uintptr(unsafe.Pointer(&info)))
	if errno != 0 {
		return errno
	}
	return nil
}

// asynchronous reserves one event of those that fs.aio-max-nr counts.
func asynchronous() error {
	var ring uintptr
	if _, _, errno := unix.Syscall(unix.SYS_IO_SETUP, 1, uintptr(unsafe.Pointer(&ring)), 0); errno != 0 {
		return errno
	}
	unix.Syscall(unix.SYS_IO_DESTROY, ring, 0, 0)
	return nil
}
