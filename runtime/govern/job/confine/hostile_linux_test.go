package confine_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/scope"
)

const (
	// otherAccount is one that set-user-id programs of this test have.
	otherAccount = 70001
	// processMark is a variable by which the test finds the processes of a
	// candidate.
	processMark = "CAPGEN_TEST_MARK"
)

// theater is a stage and what has to be seen of it afterwards.
type theater struct {
	stage
	spec   confine.Spec
	victim *exec.Cmd
	// attributed: its files can have extended attributes.
	attributed bool
	before     map[string]string // what is on the stage that is to stay
}

// theaters counts them, so that each has an account of its own.
var theaters atomic.Int32

// newTheater sets up all that a candidate could be after. Everybody may read and
// write it as far as modes go: nothing but the tier is in the way.
func newTheater(t *testing.T, tier confine.Tier) *theater {
	t.Helper()
	plain(t)
	h := &theater{stage: stage{Dir: place(t)}}
	for _, name := range []string{"state/token.key", "state/state.db", "trust/approvers", "home/.netrc", "state/jobs/other/box/out/result.json"} {
		write(t, h.path(name), secret, 0o644)
	}
	write(t, h.path("free/file"), secret, 0o666)
	if err := os.Chmod(h.path("free"), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, h.path("bin/writable"), secret, 0o666)
	h.attributed = true
	for _, path := range h.openToAll() {
		h.attributed = unix.Setxattr(path, "user.capgen-first", []byte("x"), 0) == nil && h.attributed
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bin/candidate", "bin/set-user-id"} {
		write(t, h.path(name), string(binary), 0o755)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(h.path("bin/set-user-id"), otherAccount, otherAccount); err != nil {
			t.Fatal(err)
		}
		if err := unix.Chmod(h.path("bin/set-user-id"), 0o4755); err != nil {
			t.Fatal(err)
		}
	}
	h.victim = sleeper(t)
	h.Victim, h.Traced, h.Slowed = h.victim.Process.Pid, sleeper(t).Process.Pid, sleeper(t).Process.Pid
	h.TCP4 = listener(t, unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	h.TCP6 = listener(t, unix.AF_INET6, &unix.SockaddrInet6{Addr: [16]byte{15: 1}})
	h.Unix, h.Abstract = h.path("socket"), filepath.Base(h.Dir)
	listener(t, unix.AF_UNIX, &unix.SockaddrUnix{Name: h.Unix})
	listener(t, unix.AF_UNIX, &unix.SockaddrUnix{Name: "@" + h.Abstract})
	if err := os.Chmod(h.Unix, 0o777); err != nil {
		t.Fatal(err)
	}
	h.Shared = segment(t)

	h.spec = confine.Spec{Tier: tier, Read: append(system(), h.path("bin")), Box: newBox(t, h.path("state/jobs/own"), "main", "code")}
	if os.Geteuid() == 0 && (tier == confine.Namespaces || tier == confine.Landlock) {
		h.spec.UID = account + int(theaters.Add(1)) // its processes are counted together
		h.spec.GID = h.spec.UID
	}
	if err := h.spec.Own(); err != nil {
		t.Fatal(err)
	}
	h.before = h.seen(t)
	return h
}

// sleeper is a process of this account that does nothing.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	c := exec.Command("/bin/sleep", "1000")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	return c
}

// listener listens, and is its port where it has one; 0 where the family is not
// here. Package net is not used: where it links C code, workers have not all their
// layers.
func listener(t *testing.T, family int, at unix.Sockaddr) (port int) {
	t.Helper()
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, at); err != nil {
		if family == unix.AF_INET6 {
			return 0
		}
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 16); err != nil {
		t.Fatal(err)
	}
	own, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	switch own := own.(type) {
	case *unix.SockaddrInet4:
		return own.Port
	case *unix.SockaddrInet6:
		return own.Port
	}
	return 0
}

// segment is shared memory that everybody may read.
func segment(t *testing.T) int {
	t.Helper()
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o666)
	if err != nil {
		t.Skip("no shared memory of System V: ", err)
	}
	t.Cleanup(func() { unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	b, err := unix.SysvShmAttach(id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	copy(b, secret)
	if err := unix.SysvShmDetach(b); err != nil {
		t.Fatal(err)
	}
	return id
}

// seen is all files of the stage with what is in them, but for what the candidate
// may write.
func (h *theater) seen(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(h.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == filepath.Join(h.spec.Box, "out") || path == filepath.Join(h.spec.Box, "tmp") {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		all[path] = info.Mode().String()
		if d.Type().IsRegular() && !strings.HasPrefix(path, h.path("bin")) {
			text, err := os.ReadFile(path)
			all[path] += string(text)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// play runs a candidate of that kind to its end, in the weakest scope.
func (h *theater) play(t *testing.T, k task, limits scope.Limits) (string, scope.Exit, string) {
	t.Helper()
	return h.playIn(t, scope.Options{Tier: scope.Tree}, k, limits)
}

func (h *theater) playIn(t *testing.T, o scope.Options, k task, limits scope.Limits) (string, scope.Exit, string) {
	t.Helper()
	k.Stage, k.Worker = h.stage, h.spec.Tier == confine.Worker
	if h.spec.Tier == confine.Worker {
		limits.Processes = 0 // what is counted is the server's, and it can make none anyway
	}
	mark := filepath.Base(h.Dir) + k.Mode
	c := scope.Command{
		Path: h.path("bin/candidate"), Args: []string{"candidate"}, Dir: h.spec.Box, Limits: limits, Confine: &h.spec,
		Env: []string{candidateMark + "=" + asJSON(t, k), processMark + "=" + mark},
	}
	if k.Spec != nil {
		c.Confine = nil
	}
	output, exit := run(t, o, c)
	return output, exit, mark
}

// living are the processes with a mark.
func living(t *testing.T, mark string) (n int) {
	t.Helper()
	list, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if env, err := os.ReadFile("/proc/" + e.Name() + "/environ"); err == nil && bytes.Contains(env, []byte(processMark+"="+mark+"\x00")) {
			n++
			unix.Kill(pid, unix.SIGKILL)
		}
	}
	return n
}

// found is what came of each threat that one attempt decides.
func (h *theater) found(t *testing.T, output string) map[string]confine.Holds {
	t.Helper()
	all := map[string]confine.Holds{}
	for line := range strings.Lines(output) {
		var w word
		if err := json.Unmarshal([]byte(line), &w); err != nil {
			t.Fatal(output)
		}
		all[w.Threat] = confine.Refused
		if len(w.Works) > 0 {
			all[w.Threat] = confine.Open
			t.Logf("%s: %v work", w.Threat, w.Works)
		}
	}
	if len(all) != len(h.simple()) {
		t.Fatalf("it ended early: %s", output)
	}
	return all
}

var simpleLimits = scope.Limits{Processes: childLimit, File: 1 << 20, Memory: 4 << 30, CPU: 20 * time.Second}

// What happens to each threat in each tier is what the table says: not less, and
// not more.
func TestTable(t *testing.T) {
	for _, a := range probe(t) {
		t.Run(string(a.Tier), func(t *testing.T) {
			if a.Err != nil {
				t.Skip(a.Err)
			}
			if a.Tier == confine.None {
				asRoot(t) // the table is about a server that is
			}
			t.Parallel()
			h := newTheater(t, a.Tier)
			found := h.measured(t)
			output, _, _ := h.play(t, task{Mode: "simple"}, simpleLimits)
			maps.Copy(found, h.found(t, output))
			h.aftermath(t, found)
			for _, r := range confine.Table() {
				got := found[r.Threat]
				delete(found, r.Threat)
				switch reason := h.untested(t, r.Threat); {
				case reason != "":
					t.Logf("%s: not tested, %s", r.Threat, reason)
				case r.Tested && got != r.By[a.Tier]:
					t.Errorf("%s: %q, and the table says %q", r.Threat, got, r.By[a.Tier])
				}
			}
			for threat := range found {
				t.Errorf("the table does not have %q", threat)
			}
		})
	}
}

// byLimits are threats that only who may raise limits can make real.
var byLimits = [...]string{"raise its own limits", "use processor time without end, in one process", "write a file without end"}

// tells reports whether this kernel tells whose a process is, of its descriptor
// (Linux 6.13).
func tells(t *testing.T) bool {
	t.Helper()
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	return pidfdInfo(fd) == nil
}

// untested is why this machine cannot tell something.
func (h *theater) untested(t *testing.T, threat string) string {
	t.Helper()
	switch {
	case threat == "use the network by IPv6" && h.TCP6 == 0:
		return "there is no IPv6"
	case slices.Contains(byLimits[:], threat) && h.spec.Tier == confine.None && !has(t, unix.CAP_SYS_RESOURCE):
		return "root lacks CAP_SYS_RESOURCE"
	case threat == "set extended attributes of a file outside of its box" && !h.attributed:
		return "the file system has none"
	case threat == "take room on the disk beyond the size of its files" && !roomTaken(t.TempDir()):
		return "the file system has no such thing"
	case threat == "find out whose processes of others are" && !tells(t):
		return "the kernel does not tell it of a descriptor"
	case threat == "use processor time without end, in one process" && testing.Short():
		return "short"
	case threat == "get rights by a set-user-id program" && os.Geteuid() != 0:
		return "only root makes one"
	}
	return ""
}

func has(t *testing.T, capability int) bool {
	t.Helper()
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if err := unix.Capget(&head, &have[0]); err != nil {
		t.Fatal(err)
	}
	return have[capability/32].Effective&(1<<(capability%32)) != 0
}

// aftermath compares what the candidate said with what is to be seen.
func (h *theater) aftermath(t *testing.T, found map[string]confine.Holds) {
	t.Helper()
	changed := !maps.Equal(h.before, h.seen(t))
	said := found["write or remove a file outside of its box"] == confine.Open || found["change its own code or arguments"] == confine.Open
	if changed != said {
		t.Errorf("changed: %t, said: %t", changed, said)
	}
	killed := found["signal the server, a supervisor or another job"] == confine.Open
	died := h.dead()
	for began := time.Now(); killed && !died && time.Since(began) < 20*time.Second; died = h.dead() {
		time.Sleep(time.Millisecond) // on a machine that is busy
	}
	if died != killed {
		t.Errorf("the victim has died: %t", died)
	}
}

// dead tells whether the victim is.
func (h *theater) dead() bool {
	return h.victim.Process.Signal(syscall.Signal(0)) != nil || zombie(h.Victim)
}

func zombie(pid int) bool {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, after, _ := strings.Cut(string(text), ") ")
	return strings.HasPrefix(after, "Z")
}

// measured is what comes of the threats that only a measurement decides, in their
// order in parallel where they wait.
func (h *theater) measured(t *testing.T) map[string]confine.Holds {
	t.Helper()
	found := map[string]confine.Holds{}
	var mu sync.Mutex
	var wait sync.WaitGroup
	measure := func(threat, mode string, limits scope.Limits, judge func(output string, n int, exit scope.Exit, mark string) confine.Holds) {
		wait.Go(func() {
			began := time.Now()
			output, exit, mark := h.play(t, task{Mode: mode}, limits)
			n, err := strconv.Atoi(strings.TrimSpace(output))
			if err != nil {
				n = -1
			}
			holds := judge(output, n, exit, mark)
			t.Logf("%s: %s, %d of %d bytes, %v", threat, exit, n, len(output), time.Since(began).Round(time.Millisecond))
			mu.Lock()
			defer mu.Unlock()
			found[threat] = holds
		})
	}
	const most = 1 << 30
	measure("use memory without end, in one process", "memory", scope.Limits{Memory: most}, func(_ string, n int, _ scope.Exit, _ string) confine.Holds {
		switch {
		case n == 0:
			return confine.Refused
		case n > 0 && n <= most/pieceSize:
			return confine.Contained
		}
		return confine.Open
	})
	if !testing.Short() {
		measure("use processor time without end, in one process", "processor time", scope.Limits{CPU: time.Second}, func(_ string, _ int, exit scope.Exit, _ string) confine.Holds {
			if exit.Code != 0 && exit.CPU < 20*time.Second { // it never ends by itself, where it has that limit
				return confine.Contained
			}
			return confine.Open
		})
	}
	measure("write output without end", "output", scope.Limits{}, func(output string, _ int, _ scope.Exit, mark string) confine.Holds {
		if len(output) == maxOutput && living(t, mark) == 0 {
			return confine.Contained
		}
		return confine.Open
	})
	measure("leave its scope (double fork, setsid)", "leave", scope.Limits{}, func(_ string, n int, _ scope.Exit, mark string) confine.Holds {
		switch left := living(t, mark); {
		case left > 0:
			return confine.Open
		case n == 0:
			return confine.Refused
		case n == 7:
			return confine.Contained
		}
		return "unknown"
	})
	wait.Wait() // the number of processes is that of the account

	measure("write a file without end", "file", scope.Limits{File: 3 << 20}, func(_ string, n int, _ scope.Exit, _ string) confine.Holds {
		info, err := os.Stat(filepath.Join(h.spec.Box, "out", "big"))
		switch {
		case err != nil && n == 0:
			return confine.Refused
		case err == nil && info.Size() <= 3<<20:
			return confine.Contained
		}
		return confine.Open
	})
	measure("write files without number", "files", scope.Limits{File: 4096}, func(_ string, n int, _ scope.Exit, _ string) confine.Holds {
		switch {
		case n == 0:
			return confine.Refused
		case n < fileNumber:
			return confine.Contained
		}
		return confine.Open
	})
	measure("fork without end", "fork", scope.Limits{Processes: childLimit}, func(_ string, n int, _ scope.Exit, mark string) confine.Holds {
		switch left := living(t, mark); {
		case left > 0:
			return "unended"
		case n == 0:
			return confine.Refused
		case n > 0 && n < childLimit:
			return confine.Contained
		}
		return confine.Open
	})
	wait.Wait()
	return found
}
