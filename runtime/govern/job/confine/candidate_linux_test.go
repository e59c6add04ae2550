package confine_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/worker/sandbox"
)

// candidateMark is the variable that makes the test binary a candidate; its value
// is what it does.
const candidateMark = "CAPGEN_TEST_CANDIDATE"

// task is what a candidate does, as JSON, or the bare mode.
type task struct {
	Mode  string
	Stage stage
	// Worker has it enter the sandbox of workers first, as who runs a program
	// there does.
	Worker bool
	// Spec and Without are a tier to be entered without some layers before.
	Spec    *confine.Spec
	Without []string
}

// workerMemory is the budget of a candidate in the sandbox of workers.
const workerMemory = 256 << 20

// become is what a candidate does in this process.
func become(text string) {
	runtime.LockOSThread()
	var k task
	if text[0] != '{' {
		k.Mode = text
	} else if err := json.Unmarshal([]byte(text), &k); err != nil {
		panic(err)
	}
	if k.Spec != nil {
		k.enter()
	}
	k.Stage.supervisor = unix.Getppid()
	if k.Worker {
		if _, missing := sandbox.Enter(sandbox.Options{Memory: workerMemory, CPU: 1}, sandbox.Layers()...); len(missing) > 0 {
			panic(fmt.Sprint(missing))
		}
	}
	switch k.Mode {
	case "simple":
		k.Stage.trySimple()
	case "euid": // of the account that set-user-id programs of this test have
		if unix.Geteuid() == otherAccount {
			unix.Exit(42)
		}
		unix.Exit(1)
	case "container":
		contain()
	case "memory":
		memory()
	case "output":
		for {
			if _, err := unix.Write(1, make([]byte, 4096)); err != nil {
				unix.Exit(1)
			}
		}
	case "processor time":
		if raise(unix.RLIMIT_CPU) {
			say(spin(3 * time.Second))
			break
		}
		// A shell, which the first signal ends; a worker cannot become one.
		unix.Exec("/bin/sh", []string{"sh", "-c", "while :; do :; done"}, nil)
		for n := 0; n < math.MaxInt; n++ {
			_ = n
		}
	case "file":
		raise(unix.RLIMIT_FSIZE)
		say(grow("out/big", 1<<20, 16))
	case "files":
		for i := range fileNumber {
			if n := grow("out/"+strconv.Itoa(i), 4096, 1); n == 0 {
				say(i)
				break
			} else if i == fileNumber-1 {
				say(fileNumber)
			}
		}
	case "fork":
		say(k.fork())
	case "leave":
		k.leave()
	}
	unix.Exit(0)
}

// enter becomes the same candidate in a tier that lacks some layers.
func (k task) enter() {
	runtime.LockOSThread()
	if k.Spec.Tier == confine.Namespaces {
		if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS); err != nil {
			panic(err)
		}
	}
	path := k.Stage.path("bin/candidate")
	if err := k.Spec.EnterWithout(k.Without...); err != nil {
		fmt.Println("not entered:", err)
		unix.Exit(1)
	}
	k.Spec = nil
	text, err := json.Marshal(k)
	if err != nil {
		panic(err)
	}
	panic(syscall.Exec(path, []string{"candidate"}, []string{candidateMark + "=" + string(text)}))
}

func say(n int) { unix.Write(1, []byte(strconv.Itoa(n)+"\n")) }

// pieces is how many pieces of memory a candidate takes, pieceSize how big they
// are.
const (
	pieceSize = 64 << 20
	pieces    = 64
)

// memory takes memory, first that which has an address and then that of a file
// without a path, and says how many pieces it got.
func memory() {
	raise(unix.RLIMIT_AS)
	n := 0
	for n < pieces {
		b, err := unix.Mmap(-1, 0, pieceSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			break
		}
		b[0] = 1
		n++
	}
	if fd, err := unix.MemfdCreate("x", unix.MFD_CLOEXEC); err == nil {
		for i := int64(0); n < pieces; i++ {
			if _, err := unix.Pwrite(fd, []byte{1}, i*pieceSize); err != nil {
				break
			}
			n++
		}
	}
	say(n)
}

// raise tells whether it has taken a limit from itself.
func raise(resource int) bool {
	return unix.Prlimit(0, resource, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}, nil) == nil
}

// spin uses so much processor time, and is 1 then.
func spin(most time.Duration) int {
	for {
		var used unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
			return 0
		}
		if time.Duration(used.Utime.Nano()+used.Stime.Nano()) >= most {
			return 1
		}
	}
}

// grow writes a file of so many pieces, and tells how many of them it could.
func grow(path string, size, pieces int) int {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	for i := range pieces {
		if n, err := unix.Write(fd, make([]byte, size)); err != nil || n < size {
			return i
		}
	}
	return pieces
}

const (
	// fileNumber is how many files a candidate writes.
	fileNumber = 512
	// childNumber is how many processes a candidate wants, childLimit how many it
	// may have.
	childNumber = 200
	childLimit  = 48
)

// fork starts processes that live on, and tells how many it could.
func (k task) fork() (n int) {
	for n < childNumber {
		if _, err := k.start(&syscall.SysProcAttr{}); err != nil {
			break
		}
		n++
	}
	return n
}

func (k task) start(sys *syscall.SysProcAttr) (int, error) {
	return syscall.ForkExec("/bin/sleep", []string{"sleep", "1000"}, &syscall.ProcAttr{Env: marked(), Files: []uintptr{0, 0, 0}, Sys: sys})
}

// marked is the environment's mark, by which the test knows its processes.
func marked() []string {
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, processMark+"=") {
			return []string{v}
		}
	}
	return nil
}

// leave leaves processes in sessions of their own behind, whose parents are gone.
func (k task) leave() {
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", "(setsid sleep 1000 &) ; (setsid sh -c '(sleep 1000 &) ; exec sleep 1000' &) ; exit 7"},
		&syscall.ProcAttr{Env: append(marked(), "PATH=/usr/bin:/bin"), Files: []uintptr{0, 0, 0}, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		say(0)
		return
	}
	var status unix.WaitStatus
	unix.Wait4(pid, &status, 0, nil)
	say(status.ExitStatus())
}
