package sandbox

import (
	"cmp"
	"fmt"
	"math"
	"slices"

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
// in the kernel. Last stand those that a runtime calls late: when it makes its
// first timer or poller, or a thread ends.
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
// process with this id. It searches for the call's number by halves: when the
// filter is installed, the kernel runs it for every number that there is.
func (c *calls) assemble(pid uint32) ([]unix.SockFilter, error) {
	var p program
	p.load(dataArch)
	p.when(unix.BPF_JEQ, c.audit, next, toKilled)
	p.load(dataNumber)
	p.when(unix.BPF_JGT, c.highest, toKilled, next)
	routes := make([]route, 0, len(c.allow)+6)
	for _, number := range c.allow {
		routes = append(routes, route{number, toAllowed})
	}
	routes = append(routes, route{c.clone3, toAbsent}, route{c.mmap, toPages}, route{c.mprotect, toPages},
		route{c.madvise, toAdvice}, route{c.clone, toThread}, route{c.tgkill, toSignal})
	slices.SortFunc(routes, func(a, b route) int { return cmp.Compare(a.number, b.number) })
	p.search(routes)

	p.argument(toPages, 2) // no page is made executable
	p.when(unix.BPF_JSET, unix.PROT_EXEC, toRefused, toAllowed)
	p.argument(toAdvice, 2)
	p.when(unix.BPF_JGE, firstPoison, toRefused, toAllowed)
	p.argument(toThread, 0)
	p.and(^uint32(threadDetails))
	p.when(unix.BPF_JEQ, threadFlags, toAllowed, toRefused)
	p.argument(toSignal, 0) // to a thread of this process: preemption, and dying of one
	p.when(unix.BPF_JEQ, pid, toAllowed, toRefused)

	p.verdict(toAllowed, allowed)
	p.verdict(toRefused, refused)
	p.verdict(toAbsent, absent)
	p.verdict(toKilled, killed)
	return p.finish()
}

// place is where a filter goes on.
type place int

const (
	next place = iota // the instruction that follows
	toAllowed
	toRefused
	toAbsent
	toKilled
	toPages
	toAdvice
	toThread
	toSignal
	places
)

// route is where the call with a number goes.
type route struct {
	number uint32
	to     place
}

// program is a filter in the making.
type program struct {
	code  []unix.SockFilter
	at    [places]int // where each place is
	jumps []jump
}

// jump is one whose offsets are not known yet.
type jump struct {
	at         int
	yes, other place
}

func (p *program) add(code uint16, k uint32) {
	p.code = append(p.code, unix.SockFilter{Code: code, K: k})
}

// load puts a word of the call's data into the accumulator.
func (p *program) load(offset uint32) { p.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset) }

func (p *program) and(k uint32) { p.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, k) }

// when goes on at yes where the accumulator compares with k, else at other.
func (p *program) when(compare uint16, k uint32, yes, other place) {
	p.jumps = append(p.jumps, jump{len(p.code), yes, other})
	p.add(unix.BPF_JMP|compare|unix.BPF_K, k)
}

// search goes where the accumulator's number is routed to, and refuses one that
// is not among routes, which are sorted.
func (p *program) search(routes []route) {
	if len(routes) == 1 {
		p.when(unix.BPF_JEQ, routes[0].number, routes[0].to, toRefused)
		return
	}
	half := len(routes) / 2
	at := len(p.code)
	p.add(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, routes[half].number)
	p.search(routes[:half])
	p.code[at].Jt = uint8(len(p.code) - at - 1)
	p.search(routes[half:])
}

// argument begins the place that decides by an argument of the call.
func (p *program) argument(to place, index int) {
	p.at[to] = len(p.code)
	p.load(dataArgs + 8*uint32(index))
}

// verdict is a place that ends with v.
func (p *program) verdict(to place, v uint32) {
	p.at[to] = len(p.code)
	p.add(unix.BPF_RET|unix.BPF_K, v)
}

// finish fills in the offsets of the jumps, which count from the instruction
// that follows. They have eight bits, which is enough for a filter of so many
// instructions.
func (p *program) finish() ([]unix.SockFilter, error) {
	if len(p.code) > math.MaxUint8 {
		return nil, fmt.Errorf("a filter of %d instructions", len(p.code))
	}
	for _, j := range p.jumps {
		if j.yes != next {
			p.code[j.at].Jt = uint8(p.at[j.yes] - j.at - 1)
		}
		if j.other != next {
			p.code[j.at].Jf = uint8(p.at[j.other] - j.at - 1)
		}
	}
	return p.code, nil
}
