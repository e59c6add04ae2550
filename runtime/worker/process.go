package worker

import (
	"fmt"
	"os"
	"strconv"
	"sync"

	"github.com/capgen/capgen/runtime/internal/stdoutguard"
)

// process is one worker. kill may come from any goroutine; all else belongs to
// the one that started it.
type process struct {
	in, out  *hostPipe
	inClosed bool
	os       *os.Process

	mu     sync.Mutex
	killed bool
	reaped bool
}

// start runs executable as a worker: no arguments, no variables but the
// marker, no descriptors but the two pipes and stderr.
func start(executable string, stderr *os.File) (*process, error) {
	in, childIn, err := newPipe(false)
	if err != nil {
		return nil, fmt.Errorf("worker: pipe: %w", err)
	}
	defer childIn.Close()
	out, childOut, err := newPipe(true)
	if err != nil {
		in.Close()
		return nil, fmt.Errorf("worker: pipe: %w", err)
	}
	defer childOut.Close()
	p := &process{in: in, out: out}
	p.os, err = os.StartProcess(executable, []string{"capgen-worker"}, &os.ProcAttr{
		Env:   []string{stdoutguard.Marker + "=" + strconv.Itoa(protocol)},
		Files: []*os.File{childIn, childOut, stderr},
		Sys:   attributes(),
	})
	if err != nil {
		in.Close()
		out.Close()
		return nil, fmt.Errorf("worker: start: %w", err)
	}
	return p, nil
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
	killTree(p.os)
}

// end closes the input, kills, closes the output and reaps, in this order. It
// is called once.
func (p *process) end() { p.closeInput(); p.kill(); p.reap() }

func (p *process) closeInput() {
	if !p.inClosed {
		p.inClosed = true
		p.in.Close()
	}
}

// reap closes the output and waits for the process, which must be ending.
func (p *process) reap() *os.ProcessState {
	p.out.Close()
	return p.wait()
}
