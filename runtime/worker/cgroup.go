package worker

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
	"time"
)

// Files of a control group, version 2 (the kernel's
// Documentation/admin-guide/cgroup-v2.rst).
const (
	groupControllers = "cgroup.controllers"
	groupSubtree     = "cgroup.subtree_control"
	groupKill        = "cgroup.kill"
	groupEvents      = "cgroup.events"
	groupMemory      = "memory.max"
	groupSwap        = "memory.swap.max"
	groupMemoryEvent = "memory.events"
	groupPids        = "pids.max"
)

const (
	// groupSlack is what a worker's group may have beyond the budget: what the
	// process had before, and what the kernel keeps for it. A worker is to meet
	// the bound of its address space first, which it can tell of.
	groupSlack = 64 << 20
	// groupThreads bounds a worker's threads; it has about six.
	groupThreads = 64
	// groupGrace is how long the kernel may take to empty a group.
	groupGrace = time.Second
)

// cgroups makes a control group for each worker, below one that was delegated
// to this process's user. It is safe for concurrent use.
type cgroups struct {
	dir  string
	made atomic.Uint64
	// mkdir is os.Mkdir; a test's makes the files too, which are the kernel's
	// to make.
	mkdir func(string, fs.FileMode) error
	// bare groups have no limits, in a test where the kernel has them
	// elsewhere.
	bare bool
}

// openCgroups takes the delegated group at dir, an absolute path, and has the
// limits of memory and pids passed on to the groups below it.
func openCgroups(dir string) (*cgroups, error) {
	fail := func(err error) (*cgroups, error) { return nil, fmt.Errorf("worker: cgroup %s: %w", dir, err) }
	if !filepath.IsAbs(dir) {
		return fail(errors.New("it is not an absolute path"))
	}
	wanted := []string{"memory", "pids"}
	for _, name := range []string{groupControllers, groupSubtree} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return fail(err)
		}
		has := strings.Fields(string(text))
		missing := slices.DeleteFunc(slices.Clone(wanted), func(w string) bool { return slices.Contains(has, w) })
		switch {
		case len(missing) == 0:
		case name == groupControllers:
			return fail(fmt.Errorf("the controllers %s are not delegated to it", strings.Join(missing, " and ")))
		default:
			if err := writeFile(filepath.Join(dir, groupSubtree), "+"+strings.Join(missing, " +")); err != nil {
				return fail(fmt.Errorf("pass controllers on (no process may be in the group itself): %w", err))
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, groupKill)); err != nil {
		return fail(fmt.Errorf("groups cannot be killed (Linux 5.14): %w", err))
	}
	return &cgroups{dir: dir, mkdir: os.Mkdir}, nil
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

// cgroup is one worker's. A group that was killed kills whoever enters it
// later as well, so each is used once.
type cgroup struct {
	dir    string
	opened *os.File // in which the worker is started
}

// make makes a group with limits for a worker with this memory budget.
func (c *cgroups) make(memory int64) (*cgroup, error) {
	g := &cgroup{dir: filepath.Join(c.dir, fmt.Sprintf("capgen-%d-%d-%d", os.Getpid(), time.Now().UnixNano(), c.made.Add(1)))}
	if err := c.mkdir(g.dir, 0o755); err != nil {
		return nil, fmt.Errorf("worker: cgroup: %w", err)
	}
	err := c.limit(g, memory)
	if err == nil {
		g.opened, err = os.Open(g.dir)
	}
	if err != nil {
		os.Remove(g.dir)
		return nil, fmt.Errorf("worker: cgroup: %w", err)
	}
	return g, nil
}

func (c *cgroups) limit(g *cgroup, memory int64) error {
	if c.bare {
		return nil
	}
	err := writeFile(filepath.Join(g.dir, groupMemory), strconv.FormatInt(memory+groupSlack, 10))
	if err == nil {
		err = writeFile(filepath.Join(g.dir, groupPids), strconv.Itoa(groupThreads))
	}
	if err == nil {
		// Missing where the kernel was built without swap.
		if err = writeFile(filepath.Join(g.dir, groupSwap), "0"); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return err
}

// kill kills all processes of the group at once, those that have left the
// worker's process group included.
func (g *cgroup) kill() error { return writeFile(filepath.Join(g.dir, groupKill), "1") }

// outOfMemory reports whether the kernel has killed a process of the group
// because of its limit.
func (g *cgroup) outOfMemory() bool { return g.count(groupMemoryEvent, "oom_kill") > 0 }

// count reads a number from one of the group's flat keyed files.
func (g *cgroup) count(file, key string) int {
	text, err := os.ReadFile(filepath.Join(g.dir, file))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(string(line)), " "); ok && name == key {
			n, _ := strconv.Atoi(value)
			return n
		}
	}
	return 0
}

// remove removes the group, whose processes must have been killed: it waits
// until the kernel has emptied it.
func (g *cgroup) remove() error {
	g.opened.Close()
	for began := time.Now(); g.count(groupEvents, "populated") > 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > groupGrace {
			return fmt.Errorf("worker: cgroup %s is not empty %v after it was killed", g.dir, groupGrace)
		}
	}
	if err := os.Remove(g.dir); err != nil {
		return fmt.Errorf("worker: cgroup: %w", err)
	}
	return nil
}
