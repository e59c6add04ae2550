//go:build linux && (amd64 || arm64)

package worker

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/worker/sandbox"
)

// Escape is what a worker that tries to get out is told: as text, the mode of
// a fake worker.
type Escape struct {
	Without  []string // layers that it does not enter
	Pressure bool     // try with most of the memory budget in use
	Dir      string   // a folder in which everybody may write
	Victim   int      // a process of the same user
	TCP, UDP int      // ports of this machine on which somebody listens
	Unix     string   // the abstract socket on which somebody listens
}

// Mode is the text for RunFake.
func (e Escape) Mode() string {
	return fmt.Sprintf("escape %s %t %s %d %d %d %s", strings.Join(append(e.Without, "-"), ","), e.Pressure, e.Dir, e.Victim, e.TCP, e.UDP, e.Unix)
}

// LeakedDescriptor is one that a careless host leaves open for its workers.
const LeakedDescriptor = 3

// runEscape is the worker's own entry, up to ready; then it tries.
func runEscape(mode string) {
	var e Escape
	var without string
	if _, err := fmt.Sscanf(mode, "escape %s %t %s %d %d %d %s", &without, &e.Pressure, &e.Dir, &e.Victim, &e.TCP, &e.UDP, &e.Unix); err != nil {
		panic(err)
	}
	e.Without = strings.Split(without, ",")
	if !e.Pressure {
		// As a package initialization of a host might, it has the runtime make
		// its poller. Under pressure the runtime makes it late.
		time.Sleep(time.Microsecond)
	}
	layers := slices.DeleteFunc(sandbox.Layers(), func(l sandbox.Layer) bool { return slices.Contains(e.Without, string(l)) })
	w := newChild(layers)
	if _, err := w.greet(); err != nil {
		panic(err)
	}
	say := func(name string, err error) {
		text := "done"
		if err != nil {
			text = err.Error()
		}
		fmt.Fprintf(w.out, "%s: %s\n", name, text)
	}
	var ballast [][]byte
	if e.Pressure {
		// The budget is of address space, which the runtime takes in pieces of
		// 64 MiB.
		share := 3 * DefaultMemory / 5
		if sandbox.LinksC() {
			share /= 3 // the race detector has a shadow of all memory
		}
		ballast = fill(share)
	}
	for _, p := range e.probes() {
		if e.Pressure {
			garbage(1 << 20)
		}
		say(p.name, p.try())
	}
	say("alive", alive())
	runtime.KeepAlive(ballast)
	// The last one, for if it succeeds there is no more of this program.
	fmt.Fprint(w.out, "exec: ")
	say("", e.exec())
	exit(0)
}

// fill uses that much memory, page by page.
func fill(bytes int) (ballast [][]byte) {
	const piece = 1 << 20
	for range bytes / piece {
		b := make([]byte, piece)
		for i := 0; i < piece; i += 4096 {
			b[i] = 1
		}
		ballast = append(ballast, b)
	}
	return ballast
}

func garbage(bytes int) {
	for range bytes / 4096 {
		runtime.KeepAlive(make([]byte, 4096))
	}
}

// alive shows that what the runtime needs late still works: threads, timers,
// which make the poller, and collections.
func alive() error {
	numbers := make(chan int)
	for i := range 8 {
		go func() {
			time.Sleep(time.Duration(i) * time.Millisecond)
			garbage(4 << 20)
			numbers <- i
		}()
	}
	sum := 0
	for range 8 {
		select {
		case n := <-numbers:
			sum += n
		case <-time.After(20 * time.Second):
			return fmt.Errorf("goroutines hang")
		}
	}
	// Threads that wait in the kernel, so that new ones are needed.
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], 0); err == nil {
		unix.Close(pipe[0])
		unix.Close(pipe[1])
	}
	started := make(chan int)
	for range 8 {
		go func() {
			runtime.LockOSThread() // ends its thread with it
			started <- unix.Gettid()
		}()
	}
	for range 8 {
		<-started
	}
	runtime.GC()
	if sum != 28 {
		return fmt.Errorf("goroutines computed %d", sum)
	}
	return nil
}

type attempt struct {
	name string
	try  func() error
}

// errnoOf is nil for zero.
func errnoOf(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

func call(trap uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	fd, _, e := unix.Syscall6(trap, a[0], a[1], a[2], a[3], a[4], a[5])
	_ = fd
	return errnoOf(e)
}

// probes are all that must be refused. Without a sandbox each succeeds, which
// the test checks too.
func (e *Escape) probes() []attempt {
	file := func(name string, flags int) func() error {
		return func() error {
			fd, err := unix.Open(name, flags, 0o600)
			if err == nil {
				unix.Close(fd)
			}
			return err
		}
	}
	return []attempt{
		{"leaked descriptor", func() error { var b [1]byte; _, err := unix.Pread(LeakedDescriptor, b[:], 0); return err }},
		{"leaked descriptor, read", func() error { var b [1]byte; _, err := unix.Read(LeakedDescriptor, b[:]); return err }},
		{"open", file("/etc/passwd", unix.O_RDONLY)},
		{"open a folder", file("/", unix.O_RDONLY|unix.O_DIRECTORY)},
		{"open memory", file("/proc/self/mem", unix.O_RDWR)},
		{"openat2", func() error {
			fd, err := unix.Openat2(unix.AT_FDCWD, "/etc/passwd", &unix.OpenHow{})
			if err == nil {
				unix.Close(fd)
			}
			return err
		}},
		{"stat", func() error { var s unix.Stat_t; return unix.Stat("/etc/passwd", &s) }},
		{"statx", func() error { var s unix.Statx_t; return unix.Statx(unix.AT_FDCWD, "/etc/passwd", 0, 0, &s) }},
		{"readlink", func() error { var b [64]byte; _, err := unix.Readlink("/proc/self/exe", b[:]); return err }},
		{"create", file(filepath.Join(e.Dir, strconv.Itoa(os.Getpid())), unix.O_CREAT|unix.O_WRONLY)},
		{"mkdir", func() error { return unix.Mkdir(filepath.Join(e.Dir, "d"+strconv.Itoa(os.Getpid())), 0o700) }},
		{"rename", func() error {
			return unix.Rename(filepath.Join(e.Dir, strconv.Itoa(os.Getpid())), filepath.Join(e.Dir, "r"+strconv.Itoa(os.Getpid())))
		}},
		{"unlink", func() error { return unix.Unlink(filepath.Join(e.Dir, "r"+strconv.Itoa(os.Getpid()))) }},
		{"chdir", func() error { return unix.Chdir("/") }},
		{"inotify", func() error { return closing(unix.InotifyInit1(0)) }},
		{"TCP", func() error {
			return e.connect(unix.AF_INET, unix.SOCK_STREAM, &unix.SockaddrInet4{Port: e.TCP, Addr: [4]byte{127, 0, 0, 1}})
		}},
		{"TCP, listen", func() error { return bind(unix.SOCK_STREAM) }},
		{"UDP", func() error {
			return e.connect(unix.AF_INET, unix.SOCK_DGRAM, &unix.SockaddrInet4{Port: e.UDP, Addr: [4]byte{127, 0, 0, 1}})
		}},
		{"unix", func() error { return e.connect(unix.AF_UNIX, unix.SOCK_STREAM, &unix.SockaddrUnix{Name: e.Unix}) }},
		{"netlink", func() error { return closing(unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, 0)) }},
		{"socketpair", func() error {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err == nil {
				unix.Close(pair[0])
				unix.Close(pair[1])
			}
			return err
		}},
		{"fork", fork},
		{"clone3", clone3},
		{"kill", func() error { return unix.Kill(e.Victim, 0) }},
		{"tgkill", func() error { return unix.Tgkill(e.Victim, e.Victim, 0) }},
		{"pidfd", func() error { return closing(unix.PidfdOpen(e.Victim, 0)) }},
		{"ptrace", e.ptrace},
		{"read a process", e.readVictim},
		{"priority", func() error { return unix.Setpriority(unix.PRIO_PROCESS, 0, 10) }},
		{"RWX mmap", func() error {
			b, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE)
			if err == nil {
				unix.Munmap(b)
			}
			return err
		}},
		{"executable mprotect", func() error {
			b, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
			if err != nil {
				return fmt.Errorf("plain mmap: %w", err)
			}
			defer unix.Munmap(b)
			return unix.Mprotect(b, unix.PROT_READ|unix.PROT_EXEC)
		}},
		{"io_uring", func() error {
			var params [120]byte
			fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
			return closing(int(fd), errnoOf(errno))
		}},
		{"bpf", func() error {
			// A map of one element: BPF_MAP_CREATE, BPF_MAP_TYPE_ARRAY.
			attributes := [18]uint32{2, 4, 4, 1}
			fd, _, errno := unix.Syscall(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&attributes)), unsafe.Sizeof(attributes))
			return closing(int(fd), errnoOf(errno))
		}},
		{"memfd", func() error { return closing(unix.MemfdCreate("x", 0)) }},
		{"unshare", func() error { return unix.Unshare(unix.CLONE_SYSVSEM) }},
		{"unshare a namespace", func() error { return onItsOwnThread(func() error { return unix.Unshare(unix.CLONE_NEWUTS) }) }},
		{"mount", func() error {
			err := unix.Mount("none", e.Dir, "tmpfs", 0, "")
			if err == nil {
				unix.Unmount(e.Dir, unix.MNT_DETACH)
			}
			return err
		}},
		{"chroot", func() error { return unix.Chroot("/") }},
		{"shared memory", func() error { return call(unix.SYS_SHMGET, 0, 4096, unix.IPC_CREAT|0o600) }},
		{"keyring", func() error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_PROCESS_KEYRING, true); return err }},
		{"perf", func() error {
			a := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
			return closing(unix.PerfEventOpen(&a, 0, -1, -1, 0))
		}},
		{"fcntl", func() error { _, err := unix.FcntlInt(2, unix.F_SETOWN, e.Victim); return err }},
		{"raised rlimit", func() error {
			var now unix.Rlimit
			if err := unix.Getrlimit(unix.RLIMIT_CORE, &now); err != nil {
				return err
			}
			return unix.Setrlimit(unix.RLIMIT_CORE, &now)
		}},
		{"raised address space", func() error {
			return unix.Prlimit(0, unix.RLIMIT_AS, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}, nil)
		}},
		{"many descriptors", func() error {
			var list []int
			defer func() {
				for _, fd := range list {
					unix.Close(fd)
				}
			}()
			for range 2 * 16 {
				fd, err := unix.EpollCreate1(0)
				if err != nil {
					return err
				}
				list = append(list, fd)
			}
			return nil
		}},
		{"a gigabyte", func() error {
			b, err := unix.Mmap(-1, 0, 1<<30, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
			if err == nil {
				unix.Munmap(b)
			}
			return err
		}},
	}
}

func closing(fd int, err error) error {
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func (e *Escape) connect(family, kind int, to unix.Sockaddr) error {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, to); err != nil {
		return err
	}
	_, err = unix.Write(fd, []byte("x"))
	return err
}

func bind(kind int) error {
	fd, err := unix.Socket(unix.AF_INET, kind, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
}

// fork makes a process that ends at once.
func fork() error {
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno == 0 && pid == 0 {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	return reaped(pid, errno)
}

func clone3() error {
	arguments := [8]uint64{4: uint64(unix.SIGCHLD)}
	pid, _, errno := unix.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&arguments)), unsafe.Sizeof(arguments), 0)
	if errno == 0 && pid == 0 {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	return reaped(pid, errno)
}

func reaped(pid uintptr, errno unix.Errno) error {
	if errno != 0 {
		return errno
	}
	_, err := unix.Wait4(int(pid), nil, 0, nil)
	return err
}

// ptrace seizes the victim, from a thread that ends and so lets go.
func (e *Escape) ptrace() error {
	const seize = 0x4206
	return onItsOwnThread(func() error { return call(unix.SYS_PTRACE, seize, uintptr(e.Victim)) })
}

func (e *Escape) readVictim() error {
	// Where the linker puts the text of an executable that is not relocated.
	const text = 0x400000
	var b [8]byte
	_, err := unix.ProcessVMReadv(e.Victim,
		[]unix.Iovec{{Base: &b[0], Len: 8}}, []unix.RemoteIovec{{Base: text, Len: 8}}, 0)
	return err
}

func onItsOwnThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		done <- f()
	}()
	return <-done
}

func (e *Escape) exec() error {
	return unix.Exec("/bin/true", []string{"true"}, nil)
}
