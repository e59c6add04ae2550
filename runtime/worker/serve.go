package worker

import (
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/internal/stdoutguard"
	"github.com/capgen/capgen/runtime/program"
)

const (
	// A worker is short-lived and mostly garbage: collecting later is
	// cheaper. The soft limit is half of WorkerMemory, 256 MiB, so that the
	// collector works harder before the process is ended.
	gcPercent  = 400
	softMemory = 128 << 20
)

// IsWorker reports whether this process is a worker, by its environment.
func IsWorker() bool { return os.Getenv(stdoutguard.Marker) != "" }

// ServeWorkerAndExit returns at once in a process that is no worker. In a
// worker it serves one probe or one execution over the standard streams and
// ends the process, with status 0 if it was served and 1 if not. It writes no
// diagnostics, and deferred functions do not run. It must be the first
// statement of main and of every TestMain of a package that builds a server:
// what comes before runs in every worker too, as package initialization does.
func ServeWorkerAndExit() {
	if !IsWorker() {
		return
	}
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(softMemory)
	runtime.GOMAXPROCS(1)
	in, out, hangup, err := takeStreams()
	if err != nil {
		exit(1)
	}
	w := &child{frames: newFrameReader(in, maxTableBytes+slackBytes), out: out, watch: hangup}
	if w.serve() != nil {
		exit(1)
	}
	exit(0)
}

// exit ends the process at once. os.Exit would run hooks first, of which a
// worker needs none: the race detector's alone takes a second.
func exit(code int) { syscall.Exit(code) }

// child is the worker's side of the protocol. The host is trusted; what it
// sends is checked all the same, so that a stray program that starts a worker
// by hand gets nowhere.
type child struct {
	frames *frameReader
	out    io.Writer
	watch  func() // exits the process when the host is gone
	buf    []byte // scratch of the last frame sent

	sequence uint32
	broken   error // the stream's first error
}

var errProtocol = errors.New("worker: the host broke the protocol")

// serve answers a table with ready and, if there is one, a run with its result.
func (c *child) serve() error {
	m, err := c.receive()
	if err != nil {
		return err
	}
	if m.kind != kindTable {
		return errProtocol
	}
	if m.protocol != protocol {
		// Ready is in every version, to say which this is.
		return errors.Join(errProtocol, c.send(&message{kind: kindReady, protocol: protocol}))
	}
	table, err := binding.ParseTable(append([]byte(nil), m.body...))
	if err != nil {
		return err
	}
	if err := c.send(&message{kind: kindReady, protocol: protocol, digest: table.Digest()}); err != nil {
		return err
	}
	// The table may have been large, the rest is not.
	c.frames = &frameReader{source: c.frames.source, max: maxValueBytes, buf: make([]byte, readSize)}
	if m, err = c.receive(); err == io.EOF {
		return nil // a probe, or a worker that was not needed
	} else if err != nil {
		return err
	}
	if m.kind != kindRun {
		return errProtocol
	}
	return c.run(m, table)
}

func (c *child) run(m *message, table *binding.Table) error {
	c.frames.max = m.limits.ValueBytes + slackBytes
	if c.watch != nil {
		// It ends with the process, which ends when this function returns.
		go c.watch()
	}
	p := program.Program{Source: string(m.body), Limits: m.limits}
	result, f := program.Run(p, table, c)
	switch {
	case c.broken != nil:
		return c.broken
	case f != nil:
		return c.send(&message{kind: kindFault, steps: result.Steps, fault: f})
	}
	return c.send(&message{kind: kindResult, wide: result.WideIntegers, steps: result.Steps, body: result.Value})
}

// Call implements program.Caller.
func (c *child) Call(capability string, arguments []byte) ([]byte, *fault.Fault) {
	c.sequence++
	return c.ask(&message{kind: kindCall, sequence: c.sequence, capability: capability, path: []uint32{c.sequence}, body: arguments})
}

// Refused implements program.Caller.
func (c *child) Refused(capability string) *fault.Fault {
	c.sequence++
	_, f := c.ask(&message{kind: kindUnbound, sequence: c.sequence, capability: capability})
	return f
}

func (c *child) ask(m *message) ([]byte, *fault.Fault) {
	if c.broken != nil {
		return nil, lostHost()
	}
	if c.broken = c.send(m); c.broken != nil {
		return nil, lostHost()
	}
	answer, err := c.receive()
	if err != nil {
		c.broken = err
		return nil, lostHost()
	}
	if answer.sequence != m.sequence {
		c.broken = errProtocol
		return nil, lostHost()
	}
	switch answer.kind {
	case kindReply:
		return answer.body, nil
	case kindRefuse:
		return nil, answer.fault
	}
	c.broken = errProtocol
	return nil, lostHost()
}

// lostHost ends the program; nobody will read it.
func lostHost() *fault.Fault {
	return &fault.Fault{Class: fault.Internal, Message: "the host is gone"}
}

func (c *child) receive() (*message, error) {
	payload, err := c.frames.next()
	if err != nil {
		return nil, err
	}
	m, err := decode(payload)
	if err != nil {
		return nil, err
	}
	if !m.kind.fromHost() {
		return nil, errProtocol
	}
	return m, nil
}

func (c *child) send(m *message) error {
	var err error
	if c.buf, err = appendFrame(c.buf[:0], m.append); err != nil {
		return err
	}
	_, err = c.out.Write(c.buf)
	return err
}
