package worker

import (
	"fmt"
	"os"
	"strconv"
	"sync"

	"github.com/capgen/capgen/runtime/internal/stdoutguard"
	"github.com/capgen/capgen/runtime/worker/cgroup"
)

// process is one worker. kill may come from any goroutine; all else belongs to
// the one that started it.
type process struct {
	in, out  *hostPipe
	words    *lastWords // nil when standard error is another's
	inClosed bool
	os       *os.Process
	group    *cgroup.Group // nil without one
	failed   func(error)   // is told of a group that stays behind
	starved  bool          // once reaped: the kernel ended it for the group's memory

	mu     sync.Mutex
	killed bool
	reaped bool
}

// binaryDescriptor is where a Binary is open in the worker that runs it, until
// the sandbox closes it.
const binaryDescriptor = 3

// start starts a worker: no arguments, a fixed environment, no descriptors but
// the two pipes, what it runs if that is a Binary, and standard error, which is
// stderr or, if that is nil, what process.words reads.
func start(r *resolved, stderr *os.File) (p *process, err error) {
	p = &process{failed: r.failed}
	defer func() {
		if err != nil {
			p.closePipes()
			p.leaveGroup()
			p = nil
		}
	}()
	if stderr == nil {
		if p.words, err = newLastWords(); err != nil {
			return p, fmt.Errorf("worker: pipe: %w", err)
		}
		stderr = p.words.child
	}
	var childIn, childOut *os.File
	if p.in, childIn, err = newPipe(false); err != nil {
		return p, fmt.Errorf("worker: pipe: %w", err)
	}
	defer childIn.Close()
	if p.out, childOut, err = newPipe(true); err != nil {
		return p, fmt.Errorf("worker: pipe: %w", err)
	}
	defer childOut.Close()
	files := []*os.File{childIn, childOut, stderr}
	if r.binary != nil {
		files = append(files, r.binary.opened)
	}
	sys := attributes()
	if r.groups != nil {
		if p.group, err = r.groups.Make(r.bounds); err != nil {
			return p, fmt.Errorf("worker: %w", err)
		}
		if err = p.group.Place(sys); err != nil {
			return p, err
		}
	}
	p.os, err = os.StartProcess(r.executable, []string{BinaryName}, &os.ProcAttr{
		Env:   environment(),
		Files: files,
		Sys:   sys,
	})
	if err != nil {
		return p, fmt.Errorf("worker: start: %w", err)
	}
	return p, nil
}

// environment is all of a worker's: its private marker, and that it computes
// on one processor. The entry could set that too, but with a runtime that has
// started for more processors before, which took a quarter longer.
func environment() []string {
	return []string{stdoutguard.Marker + "=" + strconv.Itoa(protocol), "GOMAXPROCS=1"}
}

// kill ends the process and whatever it is doing on the pipes. It may be
// called often, and does nothing once the process was reaped, when its id may
// be another's.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed || p.reaped {
		return
	}
	p.killed = true
	p.in.stop()
	p.out.stop()
	if p.group != nil {
		p.group.Kill() // the signal below does as well, for the worker
	}
	killTree(p.os)
}

// end kills the process, closes the pipes and reaps. It is called once.
func (p *process) end() { p.kill(); p.reap() }

func (p *process) closeInput() {
	if !p.inClosed && p.in != nil {
		p.inClosed = true
		p.in.Close()
	}
}

// reap closes the pipes and waits for the process, which must be ending.
func (p *process) reap() *os.ProcessState {
	p.closePipes()
	state := p.wait()
	p.leaveGroup()
	return state
}

// leaveGroup removes the worker's group, and with it all that may be left in it.
func (p *process) leaveGroup() {
	if p.group == nil {
		return
	}
	p.starved = p.group.OutOfMemory()
	err := p.group.Kill()
	if err == nil {
		err = p.group.Remove()
	}
	if err != nil {
		p.failed(err)
	}
	p.group = nil
}

func (p *process) closePipes() {
	p.closeInput()
	if p.out != nil {
		p.out.Close()
	}
	if p.words != nil {
		p.words.close()
	}
}
