//go:build amd64 || arm64

package worker

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/internal/stdoutguard"
	"github.com/capgen/capgen/runtime/worker/sandbox"
)

// nobody is the user of tests that run as root and try as someone else.
const nobody = 65534

// available are the layers that a worker of this binary can enter here. A test
// says what it leaves out.
func available(t testing.TB) []sandbox.Layer {
	t.Helper()
	layers := sandbox.Layers()
	why := ""
	if sandbox.LandlockABI() == 0 {
		why = "this kernel has no Landlock"
	} else if sandbox.LinksC() {
		why = "this test binary links C code, as one does with the race detector"
	}
	if why != "" {
		t.Log("without Landlock: " + why)
		layers = slices.DeleteFunc(layers, func(l sandbox.Layer) bool { return l == sandbox.Landlock })
	}
	if _, err := os.Stat("/proc/sys/kernel/seccomp"); err != nil {
		t.Skip("this kernel has no filters of system calls: ", err)
	}
	return layers
}

// Available are the names of available.
func Available(t testing.TB) (names []string) {
	for _, l := range available(t) {
		names = append(names, string(l))
	}
	return names
}

// field is what stands around an escape: files, listeners, a victim.
type field struct {
	Escape
	user   int
	layers []sandbox.Layer // that can hold here
	secret *os.File
}

func newField(t *testing.T, user int) *field {
	t.Helper()
	f := &field{user: user, layers: available(t)}
	dir, err := os.MkdirTemp("", "escape")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	f.Dir = dir
	if f.secret, err = os.Create(filepath.Join(dir, "secret")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.secret.Close() })
	if _, err := f.secret.WriteString("secret"); err != nil {
		t.Fatal(err)
	}
	// Bare sockets: package net may bring C code into this binary, and with it
	// other rules for the sandbox.
	loopback := [4]byte{127, 0, 0, 1}
	f.TCP = listen(t, unix.AF_INET, unix.SOCK_STREAM, &unix.SockaddrInet4{Addr: loopback}).(*unix.SockaddrInet4).Port
	f.UDP = listen(t, unix.AF_INET, unix.SOCK_DGRAM, &unix.SockaddrInet4{Addr: loopback}).(*unix.SockaddrInet4).Port
	f.Unix = fmt.Sprintf("@capgen-escape-%d-%d", os.Getpid(), user)
	listen(t, unix.AF_UNIX, unix.SOCK_STREAM, &unix.SockaddrUnix{Name: f.Unix})
	victim := exec.Command("/proc/self/exe")
	victim.Env = []string{FakeVariable + "=hang"}
	victim.SysProcAttr = f.attributes()
	if err := victim.Start(); errors.Is(err, syscall.EPERM) && user != os.Getuid() {
		t.Skip("this process may not become another user: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { victim.Process.Kill(); victim.Wait() })
	f.Victim = victim.Process.Pid
	return f
}

func listen(t *testing.T, family, kind int, at unix.Sockaddr) unix.Sockaddr {
	t.Helper()
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, at); err != nil {
		t.Fatal(err)
	}
	if kind == unix.SOCK_STREAM {
		if err := unix.Listen(fd, 1024); err != nil {
			t.Fatal(err)
		}
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func (f *field) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{}
	if f.user != os.Getuid() {
		a.Credential = &syscall.Credential{Uid: uint32(f.user), Gid: uint32(f.user)}
	}
	return a
}

// report is what one escape came to.
type report struct {
	ready    *message
	outcomes map[string]string // "done", or the error's text
	status   string            // of each thread, while it tried
	stderr   string
}

// confined is a worker of this binary in a fake mode, which has said ready.
type confined struct {
	process *os.Process
	ready   *message
	out     io.Reader   // what it says after that
	stderr  chan string // all of it, once it has ended
}

// startConfined starts a worker that is killed after a minute; extra is open
// in it as descriptor 3.
func startConfined(t *testing.T, mode string, attributes *syscall.SysProcAttr, extra *os.File) *confined {
	t.Helper()
	in, childIn := pipes(t, false)
	out, childOut := pipes(t, true)
	words, childWords, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &confined{stderr: make(chan string, 1)}
	go func() {
		defer words.Close()
		text, _ := io.ReadAll(words)
		c.stderr <- string(text)
	}()
	c.process, err = os.StartProcess("/proc/self/exe", []string{"capgen-worker"}, &os.ProcAttr{
		Env:   []string{stdoutguard.Marker + "=1", FakeVariable + "=" + mode},
		Files: []*os.File{childIn, childOut, childWords, extra},
		Sys:   attributes,
	})
	childWords.Close()
	childIn.Close()
	childOut.Close()
	if err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(time.Minute, func() { c.process.Kill() })
	t.Cleanup(func() {
		stop.Stop()
		c.process.Kill()
		c.process.Wait()
	})
	cpu := int64(60_000)
	if mode == spinMode {
		cpu = 1
	}
	table := message{kind: kindTable, protocol: protocol, memory: DefaultMemory, cpuMillis: cpu, sandbox: true, body: binding.EncodeTable(nil)}
	frame, err := appendFrame(nil, table.append)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write(frame); err != nil {
		t.Fatal(err)
	}
	frames := newFrameReader(out, slackBytes)
	payload, err := frames.next()
	if err != nil {
		c.process.Kill()
		t.Fatalf("no ready: %v\n%s", err, <-c.stderr)
	}
	if c.ready, err = decode(payload); err != nil {
		t.Fatal(err)
	}
	c.out = io.MultiReader(strings.NewReader(string(frames.unread())), out)
	return c
}

// try runs one worker that tries everything.
func (f *field) try(t *testing.T, pressure bool, without ...sandbox.Layer) report {
	t.Helper()
	e := f.Escape
	e.Pressure = pressure
	for _, l := range without {
		e.Without = append(e.Without, string(l))
	}
	if _, err := f.secret.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	c := startConfined(t, e.Mode(), f.attributes(), f.secret)
	r := report{ready: c.ready, outcomes: map[string]string{}}
	status, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", c.process.Pid))
	for _, name := range status {
		text, _ := os.ReadFile(name)
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "NoNewPrivs:") && !strings.HasSuffix(line, "\t1\n") {
				r.status += line
			}
		}
	}
	lines := bufio.NewScanner(c.out)
	for lines.Scan() {
		name, outcome, _ := strings.Cut(lines.Text(), ": ")
		r.outcomes[name] = strings.TrimPrefix(outcome, ": ")
	}
	if r.outcomes["exec"] == "" {
		r.outcomes["exec"] = "done"
	}
	r.stderr = <-c.stderr
	return r
}

func pipes(t *testing.T, read bool) (*hostPipe, *os.File) {
	t.Helper()
	host, child, err := newPipe(read)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	return host, child
}

// alone is what Landlock refuses by itself, as far as this kernel's goes.
func alone() []string {
	names := []string{"open", "open a folder", "open memory", "openat2", "create", "mkdir", "rename", "unlink", "exec"}
	abi := sandbox.LandlockABI()
	if abi >= 4 {
		names = append(names, "TCP", "TCP, listen")
	}
	if abi >= 6 {
		names = append(names, "unix", "kill", "tgkill")
	}
	return append(names, "ptrace", "read a process", "mount")
}

// violations is all that should not have happened to workers that enter all
// layers but those: each is tried calmly, under memory pressure, and with
// Landlock alone against what seccomp would refuse before it.
func (f *field) violations(t *testing.T, without ...sandbox.Layer) (out []string) {
	t.Helper()
	for _, pressure := range []bool{false, true} {
		name := map[bool]string{false: "calm", true: "under pressure"}[pressure]
		r := f.try(t, pressure, without...)
		for _, probe := range f.names() {
			outcome := r.outcomes[probe]
			if (outcome == "done") != (probe == "alive") || outcome == "" {
				out = append(out, fmt.Sprintf("%s: %s: %q", name, probe, outcome))
			}
		}
		if strings.Contains(r.stderr, "fatal error") {
			out = append(out, name+": "+r.stderr)
		}
		if r.status != "" {
			out = append(out, name+": "+r.status)
		}
		for _, l := range f.layers {
			if !slices.Contains(r.ready.layers, string(l)) && !slices.Contains(without, l) {
				out = append(out, fmt.Sprintf("%s: not reported: %s", name, l))
			}
		}
	}
	if !slices.Contains(f.layers, sandbox.Landlock) {
		return out
	}
	r := f.try(t, false, append(without, sandbox.Seccomp)...)
	for _, probe := range alone() {
		if outcome := r.outcomes[probe]; outcome == "done" || outcome == "" {
			out = append(out, fmt.Sprintf("without seccomp: %s: %s", probe, outcome))
		}
	}
	return out
}

// names are those of all that is tried.
func (f *field) names() []string {
	names := []string{"alive", "exec"}
	for _, a := range f.probes() {
		names = append(names, a.name)
	}
	return names
}

func asUsers(t *testing.T, test func(t *testing.T, f *field)) {
	for _, user := range []struct {
		name string
		id   int
	}{{"root", 0}, {"nobody", nobody}} {
		t.Run(user.name, func(t *testing.T) {
			id := user.id
			if os.Getuid() != 0 {
				if id == 0 {
					t.Skip("the test does not run as root")
				}
				id = os.Getuid()
			}
			test(t, newField(t, id))
		})
	}
}

// Nothing that a worker's process tries gets out of it, and its runtime works.
func TestEscapes(t *testing.T) {
	asUsers(t, func(t *testing.T, f *field) {
		for _, v := range f.violations(t) {
			t.Error(v)
		}
	})
}

// What a kernel may not have, or a container or an unprivileged user may not do
// in the first place. All else every process can.
var privileged = []string{
	"openat2", "open memory", "netlink", "clone3", "pidfd", "ptrace", "read a process", "io_uring", "bpf", "unshare", "unshare a namespace",
	"mount", "chroot", "shared memory", "keyring", "perf", "raised address space",
}

// Without a sandbox what is tried succeeds: the probes can fail.
func TestEscapesSucceedWithoutSandbox(t *testing.T) {
	asUsers(t, func(t *testing.T, f *field) {
		r := f.try(t, false, sandbox.Layers()...)
		if len(r.ready.layers) > 0 {
			t.Errorf("layers %v", r.ready.layers)
		}
		for _, probe := range f.names() {
			outcome := r.outcomes[probe]
			switch {
			case outcome == "done":
			case outcome != "" && slices.Contains(privileged, probe):
				t.Logf("this system refuses it without a sandbox: %s: %s", probe, outcome)
			default:
				t.Errorf("%s: %q", probe, outcome)
			}
		}
	})
}

// Each layer is needed: without it, something gets out.
func TestEachLayerIsNeeded(t *testing.T) {
	asUsers(t, func(t *testing.T, f *field) {
		for _, l := range f.layers {
			v := f.violations(t, l)
			if len(v) == 0 {
				t.Errorf("without %s all is refused as well", l)
			} else {
				t.Logf("without %s: %d, %q", l, len(v), v[0])
			}
		}
	})
}
