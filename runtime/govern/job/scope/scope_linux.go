package scope

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/worker/cgroup"
)

const (
	// defaultPatience is how long a keeper may take before it is no longer asked.
	defaultPatience = 5 * time.Second
	// maxReport bounds a line of a keeper, which is ours and yet is not trusted.
	maxReport = 4 << 10
)

// Scope is the processes of one run. Its methods may be called by several
// goroutines at a time, End only once.
type Scope struct {
	options Options
	handle  Handle
	keeper  *os.Process
	group   *cgroup.Group // in tier Cgroup

	mu      sync.Mutex
	control *os.File // nil once it is closed

	started chan error    // what came of Start, once
	exited  chan struct{} // closed when exit is set
	done    chan struct{} // closed when the keeper was waited for
	exit    Exit
	empty   bool // the keeper has said so; read after done
	memory  bool // the group's bound of memory was met; set by End
}

// Open starts the keeper of an empty scope. The error wraps [ErrUnsupported] where
// the tier cannot be had here.
func Open(o Options) (s *Scope, err error) {
	s = &Scope{options: o, started: make(chan error, 1), exited: make(chan struct{}), done: make(chan struct{})}
	defer func() {
		if err != nil {
			s.discard()
			s = nil
		}
	}()
	if err := s.prepare(); err != nil {
		return s, fmt.Errorf("%w: tier %s: %w", ErrUnsupported, o.Tier, err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return s, fmt.Errorf("scope: %w", err)
	}
	defer null.Close()
	theirControl, control, err := os.Pipe()
	if err != nil {
		return s, fmt.Errorf("scope: %w", err)
	}
	s.control = control
	defer theirControl.Close()
	reports, theirReports, err := os.Pipe()
	if err != nil {
		return s, fmt.Errorf("scope: %w", err)
	}
	files := []*os.File{null, null, null, theirControl, theirReports, o.Alive, null, o.Stdout, o.Stderr}
	for i := range files {
		if files[i] == nil {
			files[i] = null
		}
	}
	if s.group != nil {
		files = append(files, s.group.Opened())
	}
	s.keeper, err = os.StartProcess("/proc/self/exe", []string{"keeper"}, &os.ProcAttr{
		Dir:   "/",
		Env:   []string{runMark + "=" + string(o.Tier), "GOMAXPROCS=1"},
		Files: files,
		Sys:   attributes(o.Tier),
	})
	theirReports.Close()
	if err != nil {
		reports.Close()
		return s, fmt.Errorf("%w: tier %s: start the keeper: %w", ErrUnsupported, o.Tier, err)
	}
	// Before anybody waits for it, its number is its own.
	s.handle.Tier = o.Tier
	s.handle.Keeper, err = Identify(s.keeper.Pid)
	go s.watch(reports) // until the keeper has ended
	return s, err
}

// prepare is what a tier needs before its keeper starts.
func (s *Scope) prepare() error {
	switch s.options.Tier {
	case Cgroup:
		parent, err := cgroup.Open(s.options.Cgroup, s.limits()...)
		if err != nil {
			return err
		}
		if s.group, err = parent.Make(cgroup.Limits{Memory: s.options.Memory, Processes: s.options.Processes}); err != nil {
			return err
		}
		s.handle.Cgroup = s.group.Path()
	case Namespace:
	case Tree:
		if err := childrenKnown(); err != nil {
			return fmt.Errorf("children are not listed (CONFIG_PROC_CHILDREN): %w", err)
		}
	default:
		return errors.New("there is no such tier")
	}
	if s.options.Alone {
		return adopt()
	}
	return nil
}

// limits are the controllers that the wanted limits need.
func (s *Scope) limits() (needed []string) {
	if s.options.Memory > 0 {
		needed = append(needed, cgroup.ForMemory)
	}
	if s.options.Processes > 0 {
		needed = append(needed, cgroup.ForProcesses)
	}
	return needed
}

// attributes of a keeper. Who is not root makes a namespace of users for that of
// processes, in which it stays who it is; its keeper can make more of them, for
// the first process.
func attributes(t Tier) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true}
	if t != Namespace {
		return a
	}
	a.Cloneflags = unix.CLONE_NEWPID
	if uid := os.Geteuid(); uid != 0 {
		gid := os.Getegid()
		a.Cloneflags |= unix.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	}
	return a
}

// watch reads what the keeper says and waits for its end.
func (s *Scope) watch(reports *os.File) {
	defer close(s.done)
	lines := bufio.NewScanner(reports)
	lines.Buffer(nil, maxReport)
	var exited bool
	for lines.Scan() {
		var r report
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			break
		}
		switch {
		case r.Started:
			s.answer(nil)
		case r.Failed != "":
			s.answer(fmt.Errorf("scope: the first process: %s", r.Failed))
		case r.Exit != nil && !exited:
			exited, s.exit = true, *r.Exit
			close(s.exited)
		case r.Empty:
			s.empty = true
		}
	}
	reports.Close()
	s.keeper.Wait() // fails only for what is no child
	s.answer(errors.New("scope: the keeper has ended"))
}

func (s *Scope) answer(err error) {
	select {
	case s.started <- err:
	default: // it has its answer
	}
}

// Handle is what ends this scope from elsewhere. It should be kept, durable,
// before Start.
func (s *Scope) Handle() Handle { return s.handle }

// Start starts the first process, once. After an error nothing of it was run, or
// End ends it.
func (s *Scope) Start(ctx context.Context, c Command) error {
	if !filepath.IsAbs(c.Path) || !filepath.IsAbs(c.Dir) || len(c.Args) == 0 {
		return errors.New("scope: a command has absolute paths, and a name it goes by")
	}
	text, err := json.Marshal(c)
	if err == nil && len(text) > maxCommand {
		err = fmt.Errorf("a command of %d bytes, at most %d", len(text), maxCommand)
	}
	if err == nil {
		err = s.say(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...))
	}
	if err != nil {
		return fmt.Errorf("scope: start: %w", err)
	}
	select {
	case err := <-s.started:
		return err
	case <-ctx.Done():
		return fmt.Errorf("scope: start: %w", ctx.Err())
	}
}

func (s *Scope) say(text []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.control == nil {
		return os.ErrClosed
	}
	_, err := s.control.Write(text)
	return err
}

// Wait is how the first process ended. What it left behind is then being ended as
// well; End waits for that.
func (s *Scope) Wait(ctx context.Context) (Exit, error) {
	select {
	case <-s.exited:
		return s.exit, nil
	case <-ctx.Done():
		return Exit{}, fmt.Errorf("scope: %w", ctx.Err())
	case <-s.done:
	}
	select {
	case <-s.exited:
		return s.exit, nil
	default:
		return Exit{}, errors.New("scope: the keeper has ended, and nobody knows how the first process did")
	}
}

// Terminate sends SIGTERM: to the process group of the first process, in a
// namespace to everything in it.
func (s *Scope) Terminate() error {
	if err := s.say([]byte{sayTerminate}); err != nil {
		return fmt.Errorf("scope: terminate: %w", err)
	}
	return nil
}

// End ends everything in the scope. Nil is the proof that nothing of it runs any
// more; after an error there is none, and it may be tried again by the [Handle].
func (s *Scope) End(ctx context.Context) error {
	s.closeControl() // which the keeper takes for the order
	if !s.doneWithin(ctx, cmp.Or(s.options.patience, defaultPatience)) && (s.options.Tier != Tree || s.options.Alone) {
		// Something has stopped it. Without its keeper, a namespace ends, the group
		// can be killed, and a tree falls to this process.
		s.keeper.Kill()
	}
	select {
	case <-s.done:
	case <-ctx.Done():
		return fmt.Errorf("scope: the keeper does not end: %w", ctx.Err())
	}
	if s.group != nil {
		s.memory = s.group.OutOfMemory()
		if err := endGroup(ctx, s.group); err != nil {
			return err
		}
		s.group = nil
	}
	switch {
	case s.options.Alone:
		var orphans family
		return until(ctx, func() bool {
			orphans.signal(unix.SIGKILL)
			return orphans.reap()
		})
	case s.options.Tier == Tree && !s.empty:
		return ErrUnproved
	}
	return nil
}

// OutOfMemory reports, after End, whether the kernel has killed a process of the
// scope because of the bound of its group. Without a group it is not known, and
// false.
func (s *Scope) OutOfMemory() bool { return s.memory }

func (s *Scope) doneWithin(ctx context.Context, most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-s.done:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

func (s *Scope) closeControl() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.control != nil {
		s.control.Close()
		s.control = nil
	}
}

// discard undoes an Open that failed.
func (s *Scope) discard() {
	s.closeControl()
	if s.keeper != nil {
		s.keeper.Kill()
		<-s.done
	}
	if s.group != nil {
		s.group.Kill()
		s.group.Remove()
	}
}

// endGroup kills a group, waits until it is empty and removes it. One that somebody
// else has removed was empty. One that cannot be removed is empty all the same.
func endGroup(ctx context.Context, g *cgroup.Group) error {
	populated, unknown := true, error(nil)
	failed := g.Kill()
	switch {
	case errors.Is(failed, fs.ErrNotExist), errors.Is(failed, unix.ENODEV):
		populated = false
	case failed != nil: // who owns it can make it one that is not killed at once
		populated, unknown = g.Populated()
	default:
		failed = until(ctx, func() bool {
			populated, unknown = g.Populated()
			return unknown != nil || !populated
		})
	}
	switch {
	case populated && unknown == nil && errors.Is(failed, unix.EOPNOTSUPP):
		return fmt.Errorf("%w: the group cannot be killed", ErrUnproved)
	case populated || unknown != nil:
		return fmt.Errorf("scope: the group is not empty: %w", errors.Join(failed, unknown))
	}
	g.Remove()
	return nil
}

// Probe reports why a tier cannot be had here, by making an empty scope of it and
// ending it.
func Probe(ctx context.Context, o Options) error {
	s, err := Open(o)
	if err != nil {
		return err
	}
	return s.End(ctx)
}
