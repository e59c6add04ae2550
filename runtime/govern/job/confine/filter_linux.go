//go:build amd64 || arm64

package confine

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refusedCalls are the system calls that no interpreter of a candidate needs, with
// which it could reach others, or much of the kernel. Calls of one architecture
// alone are in moreRefused.
var refusedCalls = [...]uint32{
	// Sockets, of any family, made or found.
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
	unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_SENDMMSG,
	// Other processes.
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE,
	unix.SYS_KCMP, unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	// Namespaces and mounts. Clone has its own place.
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_CHROOT, unix.SYS_PIVOT_ROOT, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_MOUNT_SETATTR,
	unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT,
	unix.SYS_FSPICK, unix.SYS_STATMOUNT, unix.SYS_LISTMOUNT, unix.SYS_LISTNS, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_QUOTACTL,
	unix.SYS_QUOTACTL_FD, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	// Files by something else than a path, and watching those of others. What has no
	// path could be executed.
	unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,
	unix.SYS_INOTIFY_INIT1, unix.SYS_INOTIFY_ADD_WATCH,
	// What the host has a number of for all, and memory that no limit counts. The
	// ruleset has been entered before.
	unix.SYS_IO_SETUP, unix.SYS_IO_SUBMIT, unix.SYS_IO_GETEVENTS, unix.SYS_IO_PGETEVENTS, unix.SYS_IO_CANCEL, unix.SYS_IO_DESTROY,
	unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF,
	// The kernel itself.
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER,
	unix.SYS_IO_URING_REGISTER, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD,
	unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT, unix.SYS_SYSLOG, unix.SYS_ACCT, unix.SYS_VHANGUP, unix.SYS_PERSONALITY,
	// Keyrings.
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	// Memory, semaphores and messages that others can reach.
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	// The clock.
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
}

// lackingCalls set extended attributes, of files outside of the box too: Landlock does
// not keep a candidate from that where modes let everybody. They do what they do on a
// file system that has none, which programs that copy files know. Fallocate takes room
// on the disk that no limit of a file's size bounds, and that nobody who counts files
// sees in one without a name; C libraries write instead.
var lackingCalls = [...]uint32{
	unix.SYS_FALLOCATE,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR,
	unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT,
}

// lastCall is the last system call of which it was decided whether it is refused.
// Later ones are as if they were not there, and so are those with the bit of x32.
const lastCall = unix.SYS_RSEQ_SLICE_YIELD

// newNamespaces are the flags of clone that make one.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
	unix.CLONE_NEWPID | unix.CLONE_NEWNET

// Requests of ioctl that are fallocate by other names, of all file systems, those of
// XFS alone that have its older kernels allocate, and the one that sets how much it
// takes at least at a time (linux/falloc.h, linux/fs.h, xfs_fs.h).
const (
	allocSpace   = 0x4030580a
	allocSpace64 = 0x40305824
	takeSpace    = 0x40305828
	freeSpace    = 0x40305829
	takeSpace64  = 0x4030582a
	freeSpace64  = 0x4030582b
	zeroRange    = 0x40305839
	setExtents   = 0x401c5820
)

// refusedCommands are second arguments of calls that are not refused: requests of
// ioctl that put words into a terminal, or take room on the disk, and the one of fcntl
// that has the kernel tell of what others do in a directory.
var refusedCommands = [...]struct {
	call     uint32
	commands []uint32
}{
	{unix.SYS_IOCTL, []uint32{
		unix.TIOCSTI, unix.TIOCLINUX, allocSpace, allocSpace64, takeSpace, freeSpace, takeSpace64, freeSpace64, zeroRange, setExtents,
	}},
	{unix.SYS_FCNTL, []uint32{unix.F_NOTIFY}},
}

// argument is one of a call, by its offset, and the value that it has to have.
type argument struct{ offset, value uint32 }

// ownCalls set limits, priority and processors of a process that an argument names,
// which may be another one of the same account. 0 is the caller.
var ownCalls = [...]struct {
	call uint32
	has  []argument
}{
	{unix.SYS_PRLIMIT64, []argument{{dataFirst, 0}}},
	{unix.SYS_SCHED_SETAFFINITY, []argument{{dataFirst, 0}}},
	{unix.SYS_SCHED_SETSCHEDULER, []argument{{dataFirst, 0}}},
	{unix.SYS_SCHED_SETPARAM, []argument{{dataFirst, 0}}},
	{unix.SYS_SCHED_SETATTR, []argument{{dataFirst, 0}}},
	{unix.SYS_SETPRIORITY, []argument{{dataFirst, unix.PRIO_PROCESS}, {dataSecond, 0}}},
	{unix.SYS_IOPRIO_SET, []argument{{dataFirst, ioprioProcess}, {dataSecond, 0}}},
}

// ioprioProcess is IOPRIO_WHO_PROCESS (ioprio_set(2)).
const ioprioProcess = 1

// Verdicts. A refusal is an error, not a kill, so that an interpreter that looks
// for something at its start goes on without it.
const (
	refused = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	lacking = unix.SECCOMP_RET_ERRNO | uint32(unix.EOPNOTSUPP)
	// absent makes C libraries fall back from clone3 to clone, whose flags a filter
	// can read.
	absent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

// Offsets in the kernel's struct seccomp_data; of arguments the low halves, which
// come first on both architectures.
const (
	dataNumber = 0
	dataArch   = 4
	dataFirst  = 16
	dataSecond = 24
)

// filter is the program that the kernel runs for each system call. The kernel
// keeps what it says for a number, so that its length costs nothing.
func filter() []unix.SockFilter {
	var code []unix.SockFilter
	load := func(offset uint32) {
		code = append(code, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset})
	}
	end := func(verdict uint32) {
		code = append(code, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: verdict})
	}
	// The next n instructions are for what compares with k.
	when := func(compare uint16, k uint32, n uint8) {
		code = append(code, unix.SockFilter{Code: unix.BPF_JMP | compare | unix.BPF_K, Jf: n, K: k})
	}
	load(dataArch)
	code = append(code, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: auditArch})
	end(unix.SECCOMP_RET_KILL_PROCESS)
	load(dataNumber)
	when(unix.BPF_JGT, lastCall, 1)
	end(absent)
	when(unix.BPF_JEQ, unix.SYS_CLONE3, 1)
	end(absent)
	for _, number := range slices.Concat(refusedCalls[:], moreRefused[:]) {
		when(unix.BPF_JEQ, number, 1)
		end(refused)
	}
	for _, number := range lackingCalls {
		when(unix.BPF_JEQ, number, 1)
		end(lacking)
	}
	when(unix.BPF_JEQ, unix.SYS_CLONE, 4)
	load(dataFirst)
	when(unix.BPF_JSET, newNamespaces, 1)
	end(refused)
	end(unix.SECCOMP_RET_ALLOW)
	for _, of := range refusedCommands {
		when(unix.BPF_JEQ, of.call, uint8(2+2*len(of.commands)))
		load(dataSecond)
		for _, command := range of.commands {
			when(unix.BPF_JEQ, command, 1)
			end(refused)
		}
		end(unix.SECCOMP_RET_ALLOW)
	}
	for _, own := range ownCalls {
		when(unix.BPF_JEQ, own.call, uint8(3*len(own.has)+1))
		for _, a := range own.has {
			load(a.offset)
			code = append(code, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: a.value})
			end(refused)
		}
		end(unix.SECCOMP_RET_ALLOW)
	}
	end(unix.SECCOMP_RET_ALLOW)
	return code
}

// installFilter installs the filter on the calling thread. It needs no_new_privs.
func installFilter() error {
	code := filter()
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(code)
	if errno != 0 {
		return fmt.Errorf("install the filter: %w", errno)
	}
	return nil
}
