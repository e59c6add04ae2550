package scope

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// statusFD is where that process says why it could not; it closes by itself when
// the command runs.
const statusFD = 3

// maxStatus bounds what is read of it.
const maxStatus = 1 << 10

// serveEnter confines and bounds this process and becomes the command, by the
// thread that is confined; it returns only when it has failed. The bound of the
// address space comes last: from then on there may be no memory for anything but
// the call that gives it back.
func serveEnter(text string) {
	unix.CloseOnExec(statusFD)
	var c Command
	err := json.Unmarshal([]byte(text), &c)
	if err == nil {
		debug.SetGCPercent(-1)
		// Rights that the keeper has in its namespaces, and no command.
		err = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
		if err == nil && c.Confine != nil {
			err = c.Confine.Enter()
		}
		if err == nil {
			err = c.Limits.set()
		}
		if err == nil {
			err = syscall.Exec(c.Path, c.Args, c.Env)
		}
	}
	unix.Write(statusFD, []byte(err.Error()))
}

// set bounds this process, and what it becomes.
func (l Limits) set() error {
	seconds := int64((l.CPU + time.Second - 1) / time.Second)
	for _, r := range []struct {
		name     string
		resource int
		most     int64
	}{
		{"processor time", unix.RLIMIT_CPU, seconds},
		{"file size", unix.RLIMIT_FSIZE, l.File},
		{"open files", unix.RLIMIT_NOFILE, int64(l.Open)},
		{"processes", unix.RLIMIT_NPROC, int64(l.Processes)},
		{"memory", unix.RLIMIT_AS, l.Memory},
	} {
		if r.most <= 0 {
			continue
		}
		var now unix.Rlimit
		err := unix.Getrlimit(r.resource, &now)
		if err == nil {
			hard := min(uint64(r.most), now.Max)
			soft := hard
			if r.resource == unix.RLIMIT_CPU { // SIGXCPU first, SIGKILL for who does not heed it
				hard = min(hard+1, now.Max)
			}
			err = unix.Setrlimit(r.resource, &unix.Rlimit{Cur: soft, Max: hard})
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}

// fork starts the process that becomes the command, and tells its number when it
// has, or why it has not. A process that failed is left to be waited for.
func fork(c Command, sys *syscall.SysProcAttr) (pid int, err error) {
	text, err := json.Marshal(c)
	if err != nil {
		return 0, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	if c.Confine != nil {
		c.Confine.Attributes(sys)
	}
	if sys.Unshareflags&unix.CLONE_NEWUSER != 0 {
		// Who it is there, only a dumpable process can say, and the new one is until
		// it executes what this one is. Nothing of this scope runs yet that could use
		// that.
		unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
		defer unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	}
	pid, err = syscall.ForkExec("/proc/self/exe", []string{"enter"}, &syscall.ProcAttr{
		Dir:   c.Dir,
		Env:   []string{runMark + "=" + string(text), "GOMAXPROCS=1"},
		Files: []uintptr{stdinFD, stdoutFD, stderrFD, w.Fd()},
		Sys:   sys,
	})
	w.Close()
	if err != nil {
		return 0, err
	}
	status, err := io.ReadAll(io.LimitReader(r, maxStatus))
	if err == nil && len(status) > 0 {
		err = errors.New(strings.ToValidUTF8(string(status), "?"))
	}
	return pid, err
}
