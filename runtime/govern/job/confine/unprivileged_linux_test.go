package confine_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/scope"
)

// again runs tests of this package once more, as another server would: in a
// process that prepare makes. They have to pass, and those that are named have to
// be run.
func again(t *testing.T, run string, prepare func(*exec.Cmd), named ...string) {
	t.Helper()
	plain(t)
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(place(t), "test")
	write(t, path, string(binary), 0o755)
	c := exec.CommandContext(soon(t), path, "-test.run="+run, "-test.v", "-test.short")
	c.Dir = filepath.Dir(path)
	prepare(c)
	output, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for line := range strings.Lines(string(output)) {
		if strings.Contains(line, "--- ") || strings.Contains(line, "not on this system") {
			t.Log(strings.TrimSpace(line))
		}
	}
	for _, name := range named {
		if !strings.Contains(string(output), "--- PASS: "+name) {
			t.Errorf("%s has not passed", name)
		}
	}
}

// A server that is not root: the tiers that it can have hold what the table says,
// though its candidates have its own account, and so has what they attack.
func TestUnprivileged(t *testing.T) {
	asRoot(t)
	// Whether there are namespaces of users for it, the log tells.
	again(t, "^(TestTable|TestHonest|TestUseful|TestReadByLink|TestProcessesOfOneAccount|TestCountedApart)$", func(c *exec.Cmd) {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherAccount, Gid: otherAccount}}
	})
}

// Candidates that have their server's account do not count one another's
// processes, nor those of the server and of their keepers: each has all that it may
// have, and none has more.
func TestProcessesOfOneAccount(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("TestUnprivileged runs it")
	}
	if !slices.ContainsFunc(native(t), func(s confine.Spec) bool { return s.Tier == confine.Namespaces }) {
		t.Skip("no tier namespaces here")
	}
	for _, o := range scopes(t) {
		t.Run(string(o.Tier), func(t *testing.T) {
			h := newTheater(t, confine.Namespaces)
			for range 2 {
				h.full(t, o)
			}
			output, _, mark := h.playIn(t, o, task{Mode: "fork"}, scope.Limits{Processes: childLimit})
			n, err := strconv.Atoi(strings.TrimSpace(output))
			if left := living(t, mark); err != nil || n <= 0 || n >= childLimit || left > 0 {
				t.Errorf("%q, at most %d processes; %d are left", output, childLimit, left)
			}
		})
	}
}

// full starts a candidate that has as many processes as it may have until the test
// ends: fewer than the threads of a keeper.
func (h *theater) full(t *testing.T, o scope.Options) {
	t.Helper()
	out, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	o.Stdout, o.Stderr = theirs, theirs
	s, err := scope.Open(o)
	if err != nil {
		theirs.Close()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		if err := s.End(ctx); err != nil {
			t.Error(err)
		}
	})
	err = s.Start(soon(t), scope.Command{
		Path: "/bin/sh", Args: []string{"sh", "-c", "sleep 1000 & sleep 1000 & sleep 1000 & echo full; exec sleep 1000"},
		Env: []string{"PATH=/usr/bin:/bin"}, Dir: h.spec.Box, Limits: scope.Limits{Processes: 4}, Confine: &h.spec,
	})
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "full\n" {
		t.Errorf("it has not the processes that it may have: %q, %v", line, err)
	}
}

// A server that is root in a container has not the rights to make namespaces. It
// is told so, and has tier landlock.
func TestContainer(t *testing.T) {
	asRoot(t)
	if !slices.ContainsFunc(native(t), func(s confine.Spec) bool { return s.Tier == confine.Landlock }) {
		t.Skip("no tier landlock here")
	}
	again(t, "^(TestTable|TestHonest|TestNoNamespaces)$", func(c *exec.Cmd) {
		c.Env = append(os.Environ(), candidateMark+"=container")
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Groups: []uint32{4, 27}}} // which candidates leave
	}, "TestTable/landlock", "TestHonest/landlock/tree/sh", "TestNoNamespaces")
}

// inContainer is what root may do in a container of the usual kind.
var inContainer = []int{
	unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FSETID, unix.CAP_FOWNER, unix.CAP_MKNOD, unix.CAP_NET_RAW, unix.CAP_SETGID, unix.CAP_SETUID,
	unix.CAP_SETFCAP, unix.CAP_SETPCAP, unix.CAP_NET_BIND_SERVICE, unix.CAP_SYS_CHROOT, unix.CAP_KILL, unix.CAP_AUDIT_WRITE,
}

// contain becomes this test binary once more, with no rights but those.
func contain() {
	for c := range 64 {
		if !slices.Contains(inContainer, c) {
			unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		}
	}
	os.Unsetenv(candidateMark)
	os.Setenv(containerMark, "1")
	panic(syscall.Exec("/proc/self/exe", os.Args, os.Environ()))
}

// containerMark is the variable of a process that contain has made.
const containerMark = "CAPGEN_TEST_CONTAINER"

func TestNoNamespaces(t *testing.T) {
	if os.Getenv(containerMark) == "" {
		t.Skip("TestContainer runs it")
	}
	for _, a := range confine.Probe(soon(t), confine.Options{UID: account, GID: account}) {
		switch {
		case a.Tier == confine.Namespaces:
			if !errors.Is(a.Err, confine.ErrUnsupported) || !strings.Contains(a.Err.Error(), "operation not permitted") {
				t.Error(a.Err)
			}
		case a.Err != nil:
			t.Error(a.Err)
		}
	}
}
