//go:build amd64 || arm64

package confine

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// machine runs the filter as the kernel does, in userspace. The library's loads
// are big-endian, the kernel's native.
func machine(t *testing.T) func(arch, number uint32, arguments ...uint64) uint32 {
	t.Helper()
	var raw []bpf.RawInstruction
	for _, in := range filter() {
		raw = append(raw, bpf.RawInstruction{Op: in.Code, Jt: in.Jt, Jf: in.Jf, K: in.K})
	}
	program, all := bpf.Disassemble(raw)
	vm, err := bpf.NewVM(program)
	if err != nil || !all {
		t.Fatal(all, err)
	}
	return func(arch, number uint32, arguments ...uint64) uint32 {
		t.Helper()
		data := make([]byte, 64)
		binary.BigEndian.PutUint32(data[dataNumber:], number)
		binary.BigEndian.PutUint32(data[dataArch:], arch)
		for i, a := range arguments {
			binary.BigEndian.PutUint32(data[dataFirst+8*i:], uint32(a)) // the low half first, as in memory
			binary.BigEndian.PutUint32(data[dataFirst+4+8*i:], uint32(a>>32))
		}
		verdict, err := vm.Run(data)
		if err != nil {
			t.Fatal(err)
		}
		return uint32(verdict)
	}
}

// Every number that there is: refused as listed, absent where it is too new, else
// allowed.
func TestFilterByNumber(t *testing.T) {
	run := machine(t)
	lists := slices.Concat(refusedCalls[:], moreRefused[:], lackingCalls[:])
	slices.Sort(lists)
	if len(slices.Compact(slices.Clone(lists))) != len(lists) {
		t.Error("a call is listed twice")
	}
	for n := uint32(0); n < 1000; n++ {
		want := uint32(unix.SECCOMP_RET_ALLOW)
		if n == unix.SYS_IOPRIO_SET { // of nothing
			want = refused
		} else if slices.Contains(lackingCalls[:], n) {
			want = lacking
		} else if slices.Contains(lists, n) {
			want = refused
		} else if n > lastCall || n == unix.SYS_CLONE3 {
			want = absent
		}
		if got := run(auditArch, n); got != want {
			t.Errorf("call %d: verdict %#x, want %#x", n, got, want)
		}
	}
	for _, n := range []uint32{1 << 30, 1<<30 | unix.SYS_READ, 1<<30 | unix.SYS_SOCKET, 1 << 31, 1<<32 - 1} {
		if got := run(auditArch, n); got != absent {
			t.Errorf("call %#x: verdict %#x", n, got)
		}
	}
	for _, arch := range []uint32{0, unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_ARM, auditArch + 1, auditArch &^ (1 << 31)} {
		if got := run(arch, unix.SYS_READ); got != unix.SECCOMP_RET_KILL_PROCESS {
			t.Errorf("architecture %#x: verdict %#x", arch, got)
		}
	}
}

func TestFilterByArguments(t *testing.T) {
	run := machine(t)
	const thread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD | unix.CLONE_SYSVSEM | unix.CLONE_SETTLS
	allowed := uint32(unix.SECCOMP_RET_ALLOW)
	for _, c := range []struct {
		number    uint32
		arguments []uint64
		want      uint32
	}{
		{unix.SYS_CLONE, []uint64{thread}, allowed},
		{unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)}, allowed},
		{unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_VFORK | uint64(unix.SIGCHLD)}, allowed},
		{unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, refused},
		{unix.SYS_CLONE, []uint64{unix.CLONE_NEWNS}, refused},
		{unix.SYS_CLONE, []uint64{unix.CLONE_NEWNET}, refused},
		{unix.SYS_CLONE, []uint64{unix.CLONE_NEWPID}, refused},
		{unix.SYS_CLONE, []uint64{unix.CLONE_NEWIPC}, refused},
		{unix.SYS_CLONE, []uint64{unix.CLONE_NEWUTS}, refused},
		{unix.SYS_CLONE, []uint64{unix.CLONE_NEWCGROUP}, refused},
		{unix.SYS_CLONE, []uint64{thread | unix.CLONE_NEWUSER}, refused},
		{unix.SYS_IOCTL, []uint64{0, 0x4030580a}, refused},
		{unix.SYS_IOCTL, []uint64{0, 0x40305824}, refused},
		{unix.SYS_IOCTL, []uint64{0, 0x40305828}, refused},
		{unix.SYS_IOCTL, []uint64{0, 0x40305829}, refused},
		{unix.SYS_IOCTL, []uint64{0, 0x4030582a}, refused},
		{unix.SYS_IOCTL, []uint64{0, 0x4030582b}, refused},
		{unix.SYS_IOCTL, []uint64{0, 0x40305839}, refused},
		{unix.SYS_IOCTL, []uint64{0, 0x401c5820}, refused},
		{unix.SYS_IOCTL, []uint64{0, unix.FICLONE}, allowed},
		{unix.SYS_IOCTL, []uint64{0, unix.TCGETS}, allowed},
		{unix.SYS_IOCTL, []uint64{0, unix.TIOCGWINSZ}, allowed},
		{unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, refused},
		{unix.SYS_IOCTL, []uint64{0, unix.TIOCLINUX}, refused},
		{unix.SYS_IOCTL, []uint64{0, 1<<32 | unix.TIOCSTI}, refused}, // the kernel takes the low half
		{unix.SYS_PRLIMIT64, []uint64{0, unix.RLIMIT_NOFILE}, allowed},
		{unix.SYS_PRLIMIT64, []uint64{1 << 32, unix.RLIMIT_NOFILE}, allowed},
		{unix.SYS_PRLIMIT64, []uint64{7, unix.RLIMIT_NOFILE}, refused},
		{unix.SYS_PRLIMIT64, []uint64{1<<32 | 7, unix.RLIMIT_NOFILE}, refused},
		{unix.SYS_SCHED_SETAFFINITY, []uint64{0, 8}, allowed},
		{unix.SYS_SCHED_SETAFFINITY, []uint64{7, 8}, refused},
		{unix.SYS_SCHED_SETSCHEDULER, []uint64{7, 5}, refused},
		{unix.SYS_SCHED_SETPARAM, []uint64{7}, refused},
		{unix.SYS_SCHED_SETATTR, []uint64{0}, allowed},
		{unix.SYS_SCHED_SETATTR, []uint64{7}, refused},
		{unix.SYS_SETPRIORITY, []uint64{unix.PRIO_PROCESS, 0, 5}, allowed},
		{unix.SYS_SETPRIORITY, []uint64{unix.PRIO_PROCESS, 7, 5}, refused},
		{unix.SYS_SETPRIORITY, []uint64{unix.PRIO_PGRP, 0, 5}, refused},
		{unix.SYS_SETPRIORITY, []uint64{unix.PRIO_USER, 0, 5}, refused},
		{unix.SYS_IOPRIO_SET, []uint64{ioprioProcess, 0, 5}, allowed},
		{unix.SYS_IOPRIO_SET, []uint64{ioprioProcess, 7, 5}, refused},
		{unix.SYS_IOPRIO_SET, []uint64{ioprioProcess + 2, 0, 5}, refused},
		{unix.SYS_FCNTL, []uint64{0, unix.F_SETFD}, allowed},
		{unix.SYS_FCNTL, []uint64{0, unix.F_OFD_SETLK}, allowed},
		{unix.SYS_FCNTL, []uint64{0, unix.F_NOTIFY}, refused},
		{unix.SYS_FCNTL, []uint64{0, 1<<32 | unix.F_NOTIFY}, refused},
		{unix.SYS_FCNTL, []uint64{0, unix.TIOCSTI}, allowed}, // each call has commands of its own
		{unix.SYS_IOCTL, []uint64{0, unix.F_NOTIFY}, allowed},
	} {
		if got := run(auditArch, c.number, c.arguments...); got != c.want {
			t.Errorf("call %d%#x: verdict %#x, want %#x", c.number, c.arguments, got, c.want)
		}
	}
}

// A new system call needs a decision: this fails when golang.org/x/sys knows one
// that the filter does not.
func TestLastCall(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Skip("no go command: ", err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "unix", "zsysnum_linux_"+runtime.GOARCH+".go"))
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for _, m := range regexp.MustCompile(`(?m)^\tSYS_\w+\s+= (\d+)$`).FindAllStringSubmatch(string(text), -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		last = max(last, n)
	}
	if last != lastCall {
		t.Errorf("the last call is %d, and the filter decided up to %d", last, lastCall)
	}
}
