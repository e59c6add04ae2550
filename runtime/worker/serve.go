package worker

import (
	"bytes"
	"errors"
	"io"
	"sync/atomic"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program"
)

// child is the worker's side of the protocol. The host is trusted; what it
// sends is checked all the same, so that a stray program that starts a worker
// by hand gets nowhere.
type child struct {
	frames *frameReader
	out    io.Writer
	buf    []byte      // scratch of the last frame sent
	idle   atomic.Bool // has said ready, and was not asked to run
	// watch begins to end the process when nobody holds the other end of its
	// input any more; nil where that cannot be waited for.
	watch func()
	// confine enters the sandbox that the host asks for.
	confine func(m *message) (layers, missing []string)
	memory  int64 // the budget of the address space

	sequence uint32
	early    []*message // answers that came before the one that was waited for
	broken   error      // the stream's first error
}

var errProtocol = errors.New("worker: the host broke the protocol")

// serve answers a table with ready and, if there is one, a run with its result.
func (c *child) serve() error {
	table, err := c.greet()
	if err != nil {
		return err
	}
	m, err := c.receive()
	if err == io.EOF {
		return nil // a probe, or a worker that was not needed
	} else if err != nil {
		return err
	}
	if m.kind != kindRun {
		return errProtocol
	}
	return c.run(m, table)
}

// greet takes the table, enters the sandbox and says ready.
func (c *child) greet() (*binding.Table, error) {
	m, err := c.receive()
	if err != nil {
		return nil, err
	}
	if m.kind != kindTable {
		return nil, errProtocol
	}
	if m.protocol != protocol {
		// Ready is in every version, to say which this is.
		return nil, errors.Join(errProtocol, c.send(&message{kind: kindReady, protocol: protocol}))
	}
	table, err := binding.ParseTable(append([]byte(nil), m.body...))
	if err != nil {
		return nil, err
	}
	c.memory = m.memory
	warm()
	layers, missing := c.confine(m)
	// The table may have been large, the rest is not.
	frames := &frameReader{source: c.frames.source, max: maxValueBytes, buf: make([]byte, readSize)}
	c.idle.Store(true)
	if c.watch != nil {
		c.watch()
	}
	if err := c.send(&message{kind: kindReady, protocol: protocol, digest: table.Digest(), layers: layers, missing: missing}); err != nil {
		return nil, err
	}
	c.frames = frames
	return table, nil
}

func (c *child) run(m *message, table *binding.Table) error {
	c.idle.Store(false)
	c.frames.max = m.limits.ValueBytes + slackBytes
	source, data := m.body[:len(m.body)-m.data], m.body[len(m.body)-m.data:]
	p := program.Program{Source: string(source), Data: string(data), RequireMain: m.main, Prints: m.prints, Limits: m.limits, Memory: c.memory}
	if m.check {
		report, f := program.Check(p, table)
		if f != nil {
			return c.send(&message{kind: kindFault, fault: f})
		}
		return c.send(&message{kind: kindResult, body: report.Wire()})
	}
	result, f := program.Run(p, table, c)
	switch {
	case c.broken != nil:
		return c.broken
	case f != nil:
		return c.send(&message{kind: kindFault, steps: result.Steps, printed: result.Prints, fault: f})
	}
	return c.send(&message{kind: kindResult, wide: result.WideIntegers, noValue: result.NoValue, steps: result.Steps, printed: result.Prints, body: result.Value})
}

// Call implements program.Caller.
func (c *child) Call(capability string, path []uint32, arguments []byte) (uint32, *fault.Fault) {
	c.sequence++
	return c.sequence, c.ask(&message{kind: kindCall, sequence: c.sequence, capability: capability, path: path, body: arguments})
}

// Answer implements program.Caller.
func (c *child) Answer() (uint32, []byte, *fault.Fault) {
	if len(c.early) > 0 {
		a := c.early[0]
		c.early = c.early[1:]
		return a.sequence, a.body, a.fault
	}
	a, f := c.hear()
	if f != nil {
		return 0, nil, f
	}
	return a.sequence, a.body, a.fault
}

// Refused implements program.Caller. It waits for the host's word, so that the
// host, which answers a bind failure where it reads, never has to wait for a
// worker that sends.
func (c *child) Refused(capability string) *fault.Fault {
	c.sequence++
	m := message{kind: kindUnbound, sequence: c.sequence, capability: capability}
	if f := c.ask(&m); f != nil {
		return f
	}
	for {
		a, f := c.hear()
		switch {
		case f != nil:
			return f
		case a.sequence == m.sequence:
			return a.fault
		}
		a.body = bytes.Clone(a.body) // the buffer is read into again
		c.early = append(c.early, a)
	}
}

// ask sends a call.
func (c *child) ask(m *message) *fault.Fault {
	if c.broken == nil {
		c.broken = c.send(m)
	}
	if c.broken != nil {
		return lostHost()
	}
	return nil
}

// hear waits for the answer to some call.
func (c *child) hear() (*message, *fault.Fault) {
	if c.broken != nil {
		return nil, lostHost()
	}
	m, err := c.receive()
	if err == nil && m.kind != kindReply && m.kind != kindRefuse {
		err = errProtocol
	}
	if err != nil {
		c.broken = err
		return nil, lostHost()
	}
	return m, nil
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
