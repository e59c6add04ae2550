package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Files of a control group, version 2 (the kernel's
// Documentation/admin-guide/cgroup-v2.rst).
const (
	fileControllers = "cgroup.controllers"
	fileSubtree     = "cgroup.subtree_control"
	fileKill        = "cgroup.kill"
	fileEvents      = "cgroup.events"
	fileMemory      = "memory.max"
	fileSwap        = "memory.swap.max"
	fileMemoryEvent = "memory.events"
	fileProcesses   = "pids.max"
)

// The controllers that limits need.
const (
	ForMemory    = "memory"
	ForProcesses = "pids"
)

// grace is how long the kernel may take to empty a group.
const grace = time.Second

// Limits bound a group as a whole. Zero is no bound of its own.
type Limits struct {
	Memory    int64 // bytes, swap excluded: there is none
	Processes int   // with their threads
}

// Parent makes groups below one that was delegated to this process's user. It is
// safe for concurrent use.
type Parent struct {
	dir  string
	made atomic.Uint64
	// mkdir is os.Mkdir; a test's makes the files too, which are the kernel's
	// to make.
	mkdir func(string, fs.FileMode) error
}

// Open takes the delegated group at dir, an absolute path, and has these
// controllers passed on to the groups below it.
func Open(dir string, controllers ...string) (*Parent, error) {
	fail := func(err error) (*Parent, error) { return nil, fmt.Errorf("cgroup: %s: %w", dir, err) }
	if !filepath.IsAbs(dir) {
		return fail(errors.New("it is not an absolute path"))
	}
	for _, name := range []string{fileControllers, fileSubtree} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return fail(err)
		}
		has := strings.Fields(string(text))
		missing := slices.DeleteFunc(slices.Clone(controllers), func(c string) bool { return slices.Contains(has, c) })
		switch {
		case len(missing) == 0:
		case name == fileControllers:
			return fail(fmt.Errorf("the controllers %s are not delegated to it", strings.Join(missing, " and ")))
		default:
			if err := writeFile(filepath.Join(dir, fileSubtree), "+"+strings.Join(missing, " +")); err != nil {
				return fail(fmt.Errorf("pass controllers on (no process may be in the group itself): %w", err))
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, fileKill)); err != nil {
		return fail(fmt.Errorf("groups cannot be killed (Linux 5.14): %w", err))
	}
	return &Parent{dir: dir, mkdir: os.Mkdir}, nil
}

// writeFile writes to a file that is there: the kernel makes them.
func writeFile(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// Group is one that this package made. A group that was killed is not used again.
type Group struct {
	dir    string
	opened *os.File // in which processes are started; nil in one that was reopened
}

// Make makes a group with limits.
func (p *Parent) Make(l Limits) (*Group, error) {
	g := &Group{dir: filepath.Join(p.dir, fmt.Sprintf("capgen-%d-%d-%d", os.Getpid(), time.Now().UnixNano(), p.made.Add(1)))}
	if err := p.mkdir(g.dir, 0o755); err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	err := g.limit(l)
	if err == nil {
		g.opened, err = os.Open(g.dir)
	}
	if err != nil {
		os.Remove(g.dir)
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	return g, nil
}

// Reopen is the group at a path that Path has told, perhaps in another process. No
// process can be started in it. A group that is removed is [fs.ErrNotExist].
func Reopen(path string) (*Group, error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || !strings.HasPrefix(filepath.Base(path), "capgen-") {
		return nil, fmt.Errorf("cgroup: %q is not the path of a group of ours", path)
	}
	if _, err := os.Stat(filepath.Join(path, fileKill)); err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	return &Group{dir: path}, nil
}

func (g *Group) limit(l Limits) error {
	write := func(file string, n int64) error {
		if n <= 0 {
			return nil
		}
		return writeFile(filepath.Join(g.dir, file), strconv.FormatInt(n, 10))
	}
	err := write(fileMemory, l.Memory)
	if err == nil {
		err = write(fileProcesses, int64(l.Processes))
	}
	if err == nil && l.Memory > 0 {
		// Missing where the kernel was built without swap.
		if err = writeFile(filepath.Join(g.dir, fileSwap), "0"); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return err
}

// Path is where the group is.
func (g *Group) Path() string { return g.dir }

// Opened is the group's directory, for a process to be started in; it stays the
// group's to close.
func (g *Group) Opened() *os.File { return g.opened }

// Kill kills all processes of the group at once, those that have left a process
// group or session included.
func (g *Group) Kill() error { return writeFile(filepath.Join(g.dir, fileKill), "1") }

// OutOfMemory reports whether the kernel has killed a process of the group
// because of its limit.
func (g *Group) OutOfMemory() bool {
	n, err := g.count(fileMemoryEvent, "oom_kill")
	return err == nil && n > 0
}

// Populated reports whether a process is in the group. In one that is removed none
// is.
func (g *Group) Populated() (bool, error) {
	n, err := g.count(fileEvents, "populated")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV) {
		return false, nil
	}
	return n > 0, err
}

// count reads a number from one of the group's flat keyed files.
func (g *Group) count(file, key string) (int, error) {
	text, err := os.ReadFile(filepath.Join(g.dir, file))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(string(line)), " "); ok && name == key {
			return strconv.Atoi(value)
		}
	}
	return 0, fmt.Errorf("cgroup: %s has no %s", file, key)
}

// Remove removes the group and those in it, whose processes must have been killed:
// it waits until the kernel has emptied it, a second at most, and takes a second
// more for groups in it. One that is removed already is no error.
func (g *Group) Remove() error {
	if g.opened != nil {
		g.opened.Close()
	}
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		populated, err := g.Populated()
		if err != nil {
			return fmt.Errorf("cgroup: %w", err)
		}
		if !populated {
			break
		}
		if time.Since(began) > grace {
			return fmt.Errorf("cgroup: %s is not empty %v after it was killed", g.dir, grace)
		}
	}
	if err := removeTree(g.dir, maxDepth, time.Now().Add(grace)); err != nil {
		return fmt.Errorf("cgroup: %w", err)
	}
	return nil
}

// maxDepth is how deep groups may be in one another that are removed.
const maxDepth = 100

// removeTree removes a group, and before it those that its processes have made in
// it, which they can who have its owner's account. What is not done by end stays.
func removeTree(dir string, depth int, end time.Time) error {
	err := os.Remove(dir)
	if !errors.Is(err, syscall.EBUSY) {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	list, unread := os.ReadDir(dir)
	if unread != nil || depth == 0 || time.Now().After(end) {
		return errors.Join(err, unread)
	}
	for _, e := range list {
		if e.IsDir() {
			if err := removeTree(filepath.Join(dir, e.Name()), depth-1, end); err != nil {
				return err
			}
		}
	}
	return os.Remove(dir)
}
