//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// architectures have both tables; each machine tests both.
func architectures() map[string]*calls {
	return map[string]*calls{"amd64": onX86(), "arm64": onARM()}
}

// numbers are an architecture's system calls, as golang.org/x/sys has them.
func numbers(t *testing.T, arch string) map[string]uint32 {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Skip("no go command: ", err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "unix", "zsysnum_linux_"+arch+".go"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]uint32{}
	for _, m := range regexp.MustCompile(`(?m)^\tSYS_(\w+)\s+= (\d+)$`).FindAllStringSubmatch(string(text), -1) {
		n, err := strconv.ParseUint(m[2], 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.ToLower(m[1])] = uint32(n)
	}
	if len(all) < 300 {
		t.Fatalf("%d system calls", len(all))
	}
	return all
}

// machine runs a filter as the kernel does, in userspace. The library's loads
// are big-endian, the kernel's native.
type machine struct {
	t  *testing.T
	vm *bpf.VM
}

const ownPid = 4711

func newMachine(t *testing.T, c *calls) machine {
	t.Helper()
	code, err := c.assemble(ownPid)
	if err != nil {
		t.Fatal(err)
	}
	raw := make([]bpf.RawInstruction, len(code))
	for i, in := range code {
		raw[i] = bpf.RawInstruction{Op: in.Code, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	program, all := bpf.Disassemble(raw)
	if !all {
		t.Fatal("an instruction that is none")
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	return machine{t, vm}
}

func (m machine) run(arch, number uint32, arguments ...uint64) uint32 {
	m.t.Helper()
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[0:], number)
	binary.BigEndian.PutUint32(data[4:], arch)
	for i, a := range arguments {
		// The low half first, as in memory of a little-endian machine.
		binary.BigEndian.PutUint32(data[16+8*i:], uint32(a))
		binary.BigEndian.PutUint32(data[20+8*i:], uint32(a>>32))
	}
	verdict, err := m.vm.Run(data)
	if err != nil {
		m.t.Fatal(err)
	}
	return uint32(verdict)
}

// passes are the calls that the filter lets through whatever their arguments;
// nothing else does.
var passes = strings.Fields(`read write close poll ppoll futex nanosleep clock_nanosleep clock_gettime gettimeofday
	sched_yield getpid gettid getrandom brk munmap rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack restart_syscall
	epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd2 set_robust_list rseq exit exit_group`)

// conditional ones pass or not by their arguments.
var conditional = strings.Fields("mmap mprotect madvise clone clone3 tgkill")

// Every system call that there is, by name: those that pass, and all others
// are refused.
func TestFilterByName(t *testing.T) {
	for arch, c := range architectures() {
		t.Run(arch, func(t *testing.T) {
			known := numbers(t, arch)
			m := newMachine(t, c)
			want := map[uint32]bool{}
			for _, name := range passes {
				if n, ok := known[name]; ok {
					want[n] = true
				} else if arch == "amd64" {
					t.Errorf("no call is named %s", name)
				}
			}
			byArguments := map[uint32]bool{}
			for _, name := range conditional {
				byArguments[known[name]] = true
			}
			for n := uint32(0); n < 1000; n++ {
				verdict := m.run(c.audit, n)
				switch {
				case byArguments[n]:
				case want[n] && verdict != allowed, !want[n] && verdict != refused:
					t.Errorf("call %d: verdict %#x", n, verdict)
				}
			}
			for _, n := range []uint32{1 << 30, 1<<30 | known["read"], 1 << 31, 1<<32 - 1} {
				if arch == "arm64" && n < 1<<31 {
					continue // no second set of numbers there
				}
				if verdict := m.run(c.audit, n); verdict != killed {
					t.Errorf("call %#x: verdict %#x", n, verdict)
				}
			}
			for _, other := range []uint32{0, unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_ARM, c.audit + 1, c.audit &^ (1 << 31)} {
				if verdict := m.run(other, known["read"]); verdict != killed {
					t.Errorf("architecture %#x: verdict %#x", other, verdict)
				}
			}
		})
	}
}

func TestFilterByArguments(t *testing.T) {
	const (
		thread          = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD
		madvSoftOffline = 101 // linux/mman-common.h
		// What the Go runtime and the C libraries start threads with.
		goThread   = thread | unix.CLONE_SYSVSEM
		libcThread = thread | unix.CLONE_SYSVSEM | unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_CLEARTID
	)
	for arch, c := range architectures() {
		t.Run(arch, func(t *testing.T) {
			known := numbers(t, arch)
			m := newMachine(t, c)
			for _, test := range []struct {
				call      string
				arguments []uint64
				want      uint32
			}{
				{"mmap", []uint64{0, 4096, unix.PROT_READ | unix.PROT_WRITE, unix.MAP_ANON}, allowed},
				{"mmap", []uint64{0, 4096, unix.PROT_NONE}, allowed},
				{"mmap", []uint64{0, 4096, unix.PROT_EXEC}, refused},
				{"mmap", []uint64{0, 4096, unix.PROT_READ | unix.PROT_WRITE | unix.PROT_EXEC}, refused},
				{"mmap", []uint64{0, 4096, 1<<32 | unix.PROT_EXEC}, refused},
				{"mprotect", []uint64{0, 4096, unix.PROT_READ}, allowed},
				{"mprotect", []uint64{0, 4096, unix.PROT_READ | unix.PROT_EXEC}, refused},
				{"madvise", []uint64{0, 4096, unix.MADV_DONTNEED}, allowed},
				{"madvise", []uint64{0, 4096, unix.MADV_COLLAPSE}, allowed},
				{"madvise", []uint64{0, 4096, unix.MADV_HWPOISON}, refused},
				{"madvise", []uint64{0, 4096, madvSoftOffline}, refused},
				{"clone", []uint64{goThread}, allowed},
				{"clone", []uint64{libcThread}, allowed},
				{"clone", []uint64{uint64(unix.SIGCHLD)}, refused},
				{"clone", []uint64{0}, refused},
				{"clone", []uint64{unix.CLONE_VM | unix.CLONE_VFORK | uint64(unix.SIGCHLD)}, refused},
				{"clone", []uint64{goThread &^ unix.CLONE_THREAD}, refused},
				{"clone", []uint64{goThread &^ unix.CLONE_FILES}, refused},
				{"clone", []uint64{goThread | unix.CLONE_NEWNET}, refused},
				{"clone", []uint64{goThread | unix.CLONE_NEWUSER}, refused},
				{"clone", []uint64{goThread | unix.CLONE_PTRACE}, refused},
				{"clone", []uint64{goThread | unix.CLONE_PIDFD}, refused},
				{"clone3", nil, absent},
				{"tgkill", []uint64{ownPid, 4712, 23}, allowed},
				{"tgkill", []uint64{ownPid - 1, 1, 9}, refused},
				{"tgkill", []uint64{0, 1, 9}, refused},
			} {
				number, ok := known[test.call]
				if !ok {
					t.Fatalf("no call is named %s", test.call)
				}
				if got := m.run(c.audit, number, test.arguments...); got != test.want {
					t.Errorf("%s%#x: verdict %#x, want %#x", test.call, test.arguments, got, test.want)
				}
			}
		})
	}
}

// The errors that a refused call sees are those of the kernel.
func TestVerdicts(t *testing.T) {
	for verdict, errno := range map[uint32]unix.Errno{refused: unix.EPERM, absent: unix.ENOSYS} {
		if verdict&unix.SECCOMP_RET_ACTION_FULL != unix.SECCOMP_RET_ERRNO || unix.Errno(verdict&unix.SECCOMP_RET_DATA) != errno {
			t.Errorf("%#x is not %v", verdict, errno)
		}
	}
	if len(architectures()) != 2 || native().audit == 0 {
		t.Error("no native table")
	}
}
