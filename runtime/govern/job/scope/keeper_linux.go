package scope

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/govern/job/confine"
)

// runMark is the variable that makes a process one of a scope. Its value is the
// tier, of a keeper, or a command as JSON, of what is about to become that; or it
// begins with spawnMark.
const runMark = confine.Mark

// Where a keeper finds what it was given. None of it reaches the first process
// but its three streams.
const (
	controlFD = 3 + iota
	reportFD
	aliveFD
	stdinFD
	stdoutFD
	stderrFD
	groupFD // in tier Cgroup only
)

// What a keeper is told after the command. When nothing can be read any more,
// who opened the scope is gone, which means the same as end.
const (
	sayTerminate = 'T'
	sayEnd       = 'E'
)

// report is what a keeper says, a line of JSON each.
type report struct {
	Started bool   `json:"started,omitempty"`
	Failed  string `json:"failed,omitempty"` // why the first process could not be started
	Exit    *Exit  `json:"exit,omitempty"`
	Empty   bool   `json:"empty,omitempty"`
}

// ServeKeeperAndExit returns at once in a process that is none of a scope. In one
// it serves, and ends the process: a keeper when nothing is left of what it has
// started. It stands first in main, beside the worker's entry: what comes before
// runs in all of them too. It serves those that try a tier for confine.Probe as
// well.
func ServeKeeperAndExit() {
	mark := os.Getenv(runMark)
	confine.ServeProbeAndExit(mark)
	switch {
	case mark == "":
		return
	case mark[0] == '{':
		serveEnter(mark)
	case strings.HasPrefix(mark, spawnMark):
		serveSpawn(strings.TrimPrefix(mark, spawnMark))
	case serveKeeper(Tier(mark)) == nil:
		// os.Exit would run hooks first, of which this process needs none.
		syscall.Exit(0)
	}
	syscall.Exit(1)
}

// keeper is this process.
type keeper struct {
	tier   Tier
	family family
	first  int // the first process while it was not waited for, else 0; guarded by the family's lock
	ending atomic.Bool
}

func serveKeeper(tier Tier) error {
	for fd := range groupFD + 1 {
		unix.CloseOnExec(fd)
	}
	if err := unix.CloseRange(groupFD+1, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return err
	}
	// What has the same user cannot reach the keeper's descriptors by /proc.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	if err := adopt(); err != nil {
		return err
	}
	// A handler for all that can have one, which the first process does not inherit,
	// and not ignored, which it would. Of those that Go handles by itself many would
	// end the first process of a namespace, which the kernel only keeps from what has
	// no handler, and not from 32 to 34, which Go leaves to C libraries. Nobody reads:
	// the keeper ends when it has done its work.
	signal.Notify(make(chan os.Signal, 1))
	k := &keeper{tier: tier}
	k.family.reaped = k.reaped

	command, err := readCommand(fdReader(controlFD))
	if errors.Is(err, io.EOF) { // nothing was ever started
		if tier == Cgroup {
			removeGroup()
		}
		return k.emptied()
	}
	if err == nil {
		err = k.start(command)
	}
	if err != nil {
		tell(report{Failed: err.Error()})
	} else {
		tell(report{Started: true})
		go k.obey() // until the process ends
	}
	for k.family.await(); !k.family.reap(); k.family.await() {
	}
	return k.emptied()
}

// start starts the first process, in a session of its own.
func (k *keeper) start(c Command) error {
	sys := &syscall.SysProcAttr{Setsid: true}
	if k.tier == Cgroup {
		sys.UseCgroupFD, sys.CgroupFD = true, groupFD
	}
	k.family.mu.Lock()
	defer k.family.mu.Unlock()
	pid, err := fork(c, sys)
	if err == nil {
		k.first = pid
	}
	return err
}

// reaped tells how the first process ended. What it leaves behind ends with it.
func (k *keeper) reaped(pid int, status unix.WaitStatus, usage *unix.Rusage) {
	if pid != k.first {
		return
	}
	k.first = 0
	e := Exit{Code: status.ExitStatus(), CPU: time.Duration(usage.Utime.Nano() + usage.Stime.Nano())}
	if status.Signaled() {
		e.Signal = status.Signal()
	}
	tell(report{Exit: &e})
	k.end()
}

// obey does what it is told, until there is nobody any more to tell.
func (k *keeper) obey() {
	control := fdReader(controlFD)
	for {
		var word [1]byte
		if _, err := io.ReadFull(control, word[:]); err != nil || word[0] == sayEnd {
			k.end()
			return
		}
		if word[0] == sayTerminate {
			k.terminate()
		}
	}
}

// terminate asks: the first process and its group, in a namespace everything.
func (k *keeper) terminate() {
	if k.tier == Namespace {
		unix.Kill(-1, unix.SIGTERM)
		return
	}
	k.family.mu.Lock()
	defer k.family.mu.Unlock()
	if k.first != 0 {
		unix.Kill(-k.first, unix.SIGTERM)
	}
}

// end kills all there is, again and again: what is killed leaves children, which
// are the keeper's then. The process ends when none is left.
func (k *keeper) end() {
	if k.ending.Swap(true) {
		return
	}
	go func() { // until the process ends
		for {
			switch k.tier {
			case Namespace:
				unix.Kill(-1, unix.SIGKILL) // all but this one
			case Cgroup:
				killGroup()
				k.family.signal(unix.SIGKILL) // what has left the group has not left the family
			default:
				k.family.signal(unix.SIGKILL)
			}
			time.Sleep(pause)
		}
	}()
}

func killGroup() {
	fd, err := unix.Openat(groupFD, "cgroup.kill", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return // that of who opened the scope will say so
	}
	unix.Write(fd, []byte("1"))
	unix.Close(fd)
}

// removeGroup removes the group, in which nothing ever was: who opened the scope
// may have been killed before anybody else knew of it. With an error it stays,
// which does no harm.
func removeGroup() {
	if path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(groupFD)); err == nil {
		unix.Rmdir(path)
	}
}

// emptied leaves word that nothing of the scope runs.
func (k *keeper) emptied() error {
	_, err := unix.Write(aliveFD, []byte(Emptied))
	if err == nil {
		if err = unix.Fsync(aliveFD); err == unix.EINVAL || err == unix.EROFS { // the null device
			err = nil
		}
	}
	tell(report{Empty: true})
	return err
}

// tell says something to who opened the scope, if it is still there.
func tell(r report) {
	line, err := json.Marshal(r)
	if err != nil {
		return
	}
	unix.Write(reportFD, append(line, '\n')) // at most a few hundred bytes: at once
}

// fdReader reads a descriptor by bare system calls: no poller holds it.
type fdReader int

func (r fdReader) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(int(r), p)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// readCommand reads a command, which its length precedes. With nothing to read
// at all the error is io.EOF.
func readCommand(r io.Reader) (c Command, err error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return c, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxCommand {
		return c, fmt.Errorf("scope: a command of %d bytes, at most %d", n, maxCommand)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return c, io.ErrUnexpectedEOF
	}
	return c, json.Unmarshal(text, &c)
}
