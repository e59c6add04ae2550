package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// calls are the system calls of one architecture that the filter knows. All
// others are refused with EPERM: the runtime takes that for an answer, where a
// kill would make of a call that nobody thought of a lost program.
type calls struct {
	audit uint32 // the architecture's AUDIT_ARCH
	// highest number of a call of this architecture; amd64 has those of x32
	// above.
	highest uint32
	allow   []uint32
	// What has a condition on its arguments.
	mmap, mprotect, madvise, clone, clone3, tgkill uint32
}

// onX86 is amd64's table: the numbers of arch/x86/entry/syscalls/syscall_64.tbl
// in the kernel. Those that are called most stand first, and last those that a
// runtime calls late: when it makes its first timer or poller, or a thread ends.
func onX86() *calls {
	return &calls{
		audit:   unix.AUDIT_ARCH_X86_64,
		highest: 0x40000000 - 1,
		allow: []uint32{
			0,   // read
			1,   // write
			202, // futex
			14,  // rt_sigprocmask
			15,  // rt_sigreturn
			35,  // nanosleep
			24,  // sched_yield
			11,  // munmap
			7,   // poll
			12,  // brk
			39,  // getpid
			186, // gettid
			228, // clock_gettime
			230, // clock_nanosleep
			96,  // gettimeofday
			13,  // rt_sigaction
			131, // sigaltstack
			3,   // close
			219, // restart_syscall
			318, // getrandom
			291, // epoll_create1
			233, // epoll_ctl
			232, // epoll_wait
			281, // epoll_pwait
			271, // ppoll
			290, // eventfd2
			273, // set_robust_list
			334, // rseq
			60,  // exit
			231, // exit_group
		},
		mmap: 9, mprotect: 10, madvise: 28, clone: 56, clone3: 435, tgkill: 234,
	}
}

// onARM is arm64's table: the numbers of scripts/syscall.tbl in the kernel.
func onARM() *calls {
	return &calls{
		audit:   unix.AUDIT_ARCH_AARCH64,
		highest: 1<<31 - 1,
		allow: []uint32{
			63,  // read
			64,  // write
			98,  // futex
			135, // rt_sigprocmask
			139, // rt_sigreturn
			101, // nanosleep
			124, // sched_yield
			215, // munmap
			73,  // ppoll
			214, // brk
			172, // getpid
			178, // gettid
			113, // clock_gettime
			115, // clock_nanosleep
			169, // gettimeofday
			134, // rt_sigaction
			132, // sigaltstack
			57,  // close
			128, // restart_syscall
			278, // getrandom
			20,  // epoll_create1
			21,  // epoll_ctl
			22,  // epoll_pwait
			19,  // eventfd2
			99,  // set_robust_list
			293, // rseq
			93,  // exit
			94,  // exit_group
		},
		mmap: 222, mprotect: 226, madvise: 233, clone: 220, clone3: 435, tgkill: 131,
	}
}

// Offsets in the kernel's struct seccomp_data; only the low halves of
// arguments are looked at, which come first on both architectures.
const (
	dataNumber = 0
	dataArch   = 4
	dataArgs   = 16
)

const (
	// A thread of this process, and nothing else that clone can make.
	threadFlags = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD
	// Flags that change nothing of that.
	threadDetails = unix.CLONE_SYSVSEM | unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_CLEARTID |
		unix.CLONE_CHILD_SETTID | unix.CLONE_DETACHED
	// Advice from here on injects memory errors, for root.
	firstPoison = 100
)

// Verdicts.
const (
	allowed = unix.SECCOMP_RET_ALLOW
	refused = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	// absent makes C libraries fall back to clone, whose flags a filter can read.
	absent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	killed = unix.SECCOMP_RET_KILL_PROCESS
)

// assemble is the filter as the kernel's classic BPF machine runs it, for the
// process with this id.
func (c *calls) assemble(pid uint32) ([]unix.SockFilter, error) {
	var p program
	p.load(dataArch)
	p.unless(unix.BPF_JEQ, c.audit, killed)
	p.load(dataNumber)
	p.when(unix.BPF_JGT, c.highest, killed)
	for _, number := range c.allow {
		p.when(unix.BPF_JEQ, number, allowed)
	}
	p.when(unix.BPF_JEQ, c.clone3, absent)
	// No page is made executable.
	for _, number := range []uint32{c.mmap, c.mprotect} {
		p.argument(number, 2, func() {
			p.when(unix.BPF_JSET, unix.PROT_EXEC, refused)
			p.verdict(allowed)
		})
	}
	p.argument(c.madvise, 2, func() {
		p.when(unix.BPF_JGE, firstPoison, refused)
		p.verdict(allowed)
	})
	p.argument(c.clone, 0, func() {
		p.and(^uint32(threadDetails))
		p.when(unix.BPF_JEQ, threadFlags, allowed)
		p.verdict(refused)
	})
	// A signal to a thread of this process: preemption, and dying of one.
	p.argument(c.tgkill, 0, func() {
		p.when(unix.BPF_JEQ, pid, allowed)
		p.verdict(refused)
	})
	p.verdict(refused)
	if len(p.code) > unix.BPF_MAXINSNS {
		return nil, fmt.Errorf("a filter of %d instructions", len(p.code))
	}
	return p.code, nil
}

// program is a filter in the making. Its jumps span few instructions, so that
// their 8-bit offsets always do.
type program struct{ code []unix.SockFilter }

func (p *program) add(code uint16, jt, jf uint8, k uint32) {
	p.code = append(p.code, unix.SockFilter{Code: code, Jt: jt, Jf: jf, K: k})
}

// load puts a word of the call's data into the accumulator.
func (p *program) load(offset uint32) { p.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0, 0, offset) }

func (p *program) and(k uint32) { p.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0, 0, k) }

func (p *program) verdict(v uint32) { p.add(unix.BPF_RET|unix.BPF_K, 0, 0, v) }

// when ends with verdict v where the accumulator compares with k.
func (p *program) when(compare uint16, k, v uint32) {
	p.add(unix.BPF_JMP|compare|unix.BPF_K, 0, 1, k)
	p.verdict(v)
}

// unless ends with verdict v where it does not.
func (p *program) unless(compare uint16, k, v uint32) {
	p.add(unix.BPF_JMP|compare|unix.BPF_K, 1, 0, k)
	p.verdict(v)
}

// argument runs decide, which ends with a verdict, for the call with this
// number; the accumulator, which holds the number, then holds an argument.
func (p *program) argument(number uint32, index int, decide func()) {
	at := len(p.code)
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 0, number)
	p.load(dataArgs + 8*uint32(index))
	decide()
	p.code[at].Jf = uint8(len(p.code) - at - 1)
}
