//go:build linux

package worker

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/internal/stdoutguard"
)

// FakeVariable names the mode of a fake worker in its environment.
const FakeVariable = "CAPGEN_TEST_FAKE"

// RunFake behaves as a hostile or broken worker, and exits.
func RunFake(mode string) {
	if strings.HasPrefix(mode, "escape ") {
		runEscape(mode)
	}
	if mode == "spin" {
		runSpin()
	}
	if strings.HasPrefix(mode, "memory ") {
		runMemory(mode)
	}
	f := newFake()
	if play, ok := fakes[mode]; ok {
		play(f)
		os.Exit(0)
	}
	if script, ok := strings.CutPrefix(mode, "runs "); ok {
		f.ready()
		exec.Command("/bin/sh", "-c", script).Run()
		os.Exit(0)
	}
	var frames, bytes int
	if n, _ := fmt.Sscanf(mode, "dies after %d frames and %d bytes", &frames, &bytes); n == 2 {
		f.die(frames, bytes)
	}
	panic("no fake " + mode)
}

type fake struct {
	frames *frameReader
	out    io.Writer
	digest string
}

func newFake() *fake {
	fd, ok := stdoutguard.Stdout()
	if !ok {
		fd = 1
	}
	return &fake{frames: newFrameReader(os.Stdin, maxTableBytes), out: os.NewFile(uintptr(fd), "out")}
}

func (f *fake) receive() *message {
	payload, err := f.frames.next()
	if err != nil {
		os.Exit(0)
	}
	m, err := decode(payload)
	if err != nil {
		panic(err)
	}
	return m
}

func (f *fake) send(m *message) {
	frame, err := appendFrame(nil, m.append)
	if err != nil {
		panic(err)
	}
	f.raw(frame)
}

func (f *fake) raw(b []byte) {
	if _, err := f.out.Write(b); err != nil {
		os.Exit(0)
	}
}

// ready does what an honest worker does up to the source.
func (f *fake) ready() {
	f.digest = f.receive().digest
	f.send(&message{kind: kindReady, protocol: protocol, digest: f.digest})
	f.receive()
}

func fakeWire(fill func(w *canon.Writer)) []byte {
	w := canon.NewWireWriter(nil)
	fill(w)
	return w.Bytes()
}

var emptyArguments = fakeWire(func(w *canon.Writer) { w.BeginObject(0); w.EndObject() })

func nested(depth int) []byte {
	return fakeWire(func(w *canon.Writer) {
		for range depth {
			w.BeginArray(1, 0, 1)
			w.Element(0)
		}
		w.Null()
		for range depth {
			w.EndArray()
		}
	})
}

func (f *fake) call(sequence uint32) {
	f.send(&message{kind: kindCall, sequence: sequence, capability: "test.echo", path: []uint32{sequence}, body: emptyArguments})
}

// hang waits to be killed.
func hang() { time.Sleep(time.Hour) }

var fakes = map[string]func(f *fake){
	// Probes.
	"version": func(f *fake) { f.receive(); f.send(&message{kind: kindReady, protocol: protocol + 1}); hang() },
	"digest": func(f *fake) {
		f.receive()
		f.send(&message{kind: kindReady, protocol: protocol, digest: "ff"})
		hang()
	},
	"no layers": func(f *fake) {
		m := f.receive()
		f.send(&message{kind: kindReady, protocol: protocol, digest: m.digest, missing: []string{"descriptors: /proc is not mounted"}})
		hang()
	},
	"trailing": func(f *fake) { f.ready0(); f.raw([]byte("bye")) },
	"late trailing": func(f *fake) {
		f.ready0()
		f.frames.next()
		f.raw([]byte("bye"))
	},
	"status":    func(f *fake) { f.ready0(); f.frames.next(); os.Exit(3) },
	"talks":     func(f *fake) { f.ready0(); time.Sleep(100 * time.Millisecond); f.raw([]byte("bye")); hang() },
	"lingering": func(f *fake) { f.ready0(); hang() },
	"complains": func(f *fake) {
		fmt.Fprint(os.Stderr, "cannot open the license file ", strings.Repeat("x", 10_000))
		os.Exit(7)
	},
	"prints": func(f *fake) { f.raw([]byte("Welcome to the server\n")); hang() },

	"hang": func(*fake) { hang() },

	// Executions.
	"empty frame":      func(f *fake) { f.ready(); f.raw(make([]byte, 8)); hang() },
	"huge frame":       func(f *fake) { f.ready(); f.raw([]byte{0xFF, 0xFF, 0xFF, 0xFF, 1}); hang() },
	"flood":            func(f *fake) { f.ready(); f.flood() },
	"half a frame":     func(f *fake) { f.ready(); f.raw([]byte{0, 0, 0, 9, 1}) },
	"no frame":         func(f *fake) { f.ready() },
	"not wire":         func(f *fake) { f.ready(); f.raw([]byte{0, 0, 0, 1, 0xC1}); hang() },
	"unknown kind":     func(f *fake) { f.ready(); f.raw([]byte{0, 0, 0, 2, 0x91, 99}); hang() },
	"kind of the host": func(f *fake) { f.ready(); f.send(&message{kind: kindReply, sequence: 1}); hang() },
	"ready twice": func(f *fake) {
		f.ready()
		f.send(&message{kind: kindReady, protocol: protocol, digest: f.digest})
		hang()
	},
	"trailing bytes": func(f *fake) {
		f.ready()
		f.raw([]byte{0, 0, 0, 9, 0x97, 19, 0xC2, 0xC2, 1, 0xA0, 0xC2, 0, 0xC0})
		hang()
	},
	"sequence":      func(f *fake) { f.ready(); f.call(2); hang() },
	"same sequence": func(f *fake) { f.ready(); f.call(1); f.receive(); f.call(1); hang() },
	"no capability": func(f *fake) {
		f.ready()
		f.send(&message{kind: kindCall, sequence: 1, path: []uint32{1}, body: emptyArguments})
		hang()
	},
	"too many calls at once": func(f *fake) {
		f.ready()
		for i := range uint32(9) {
			f.apart(i+1, i)
		}
		hang()
	},
	"early result": func(f *fake) { f.ready(); f.apart(1, 0); f.result([]byte{1}) },
	"early fault": func(f *fake) {
		f.ready()
		f.apart(1, 0)
		f.send(&message{kind: kindFault, fault: &fault.Fault{Class: fault.ProgramError, Message: "abc"}})
		hang()
	},
	"lies and ends": func(f *fake) { f.ready(); f.apart(1, 0); f.apart(2, 1); os.Exit(0) },
	"ends early":    func(f *fake) { f.ready(); f.apart(1, 0); f.apart(2, 1) },
	"impatient": func(f *fake) {
		f.ready()
		f.call(1)
		f.call(2)
		f.receive()
		f.receive()
		f.result([]byte{1})
	},
	"reads no part": func(f *fake) { f.ready(); f.apart(1, 0); f.apart(2, 1); hang() },
	"dribbles": func(f *fake) {
		f.ready()
		f.apart(1, 0)
		f.apart(2, 1)
		f.raw([]byte{0, 1, 0, 0})
		for {
			f.raw([]byte{0})
			time.Sleep(10 * time.Millisecond)
		}
	},
	"fills both pipes": func(f *fake) {
		f.ready()
		large := fakeWire(func(w *canon.Writer) { w.String(strings.Repeat("x", 1<<19), 0, 1<<19) })
		for i := range uint32(8) {
			f.send(&message{kind: kindCall, sequence: i + 1, capability: "test.echo", path: []uint32{1, i, 1}, body: large})
		}
		f.raw(binary.BigEndian.AppendUint32(nil, 1<<20)) // of which it sends a part
		f.raw(make([]byte, 1<<19))
		hang()
	},
	"out of order": func(f *fake) {
		f.ready()
		for i := range uint32(3) {
			f.apart(i+1, i)
		}
		var order []byte
		for range 3 {
			order = append(order, byte(f.receive().sequence))
		}
		f.result(append([]byte{0x93}, order...))
	},
	"deep arguments": func(f *fake) { f.ready(); f.arguments(nested(40)) },
	"large arguments": func(f *fake) {
		f.ready()
		f.arguments(fakeWire(func(w *canon.Writer) { w.String(strings.Repeat("x", 1<<20), 0, 1<<20) }))
	},
	"bad arguments": func(f *fake) { f.ready(); f.arguments([]byte{0xA2, 0xFF, 0xFF}) },
	"calls without end": func(f *fake) {
		f.ready()
		for i := uint32(1); ; i++ {
			f.call(i)
			f.receive()
		}
	},
	"deep result": func(f *fake) { f.ready(); f.result(nested(40)) },
	"large result": func(f *fake) {
		f.ready()
		f.result(fakeWire(func(w *canon.Writer) { w.String(strings.Repeat("x", 1<<20), 0, 1<<20) }))
	},
	"empty result": func(f *fake) { f.ready(); f.result(nil) },
	"two results": func(f *fake) {
		f.ready()
		frame, _ := appendFrame(nil, (&message{kind: kindResult, body: []byte{1}}).append)
		f.raw(append(frame, frame...))
		hang()
	},
	"denied": func(f *fake) {
		f.ready()
		f.send(&message{kind: kindFault, fault: &fault.Fault{Class: fault.Denied, Message: "the policy says no"}})
		hang()
	},
	"bad text": func(f *fake) {
		f.ready()
		frame, _ := appendFrame(nil, (&message{kind: kindFault, fault: &fault.Fault{Class: fault.ProgramError, Message: "abc"}}).append)
		f.raw([]byte(strings.Replace(string(frame), "abc", "a\xFFc", 1)))
		hang()
	},
	"many steps": func(f *fake) {
		f.ready()
		f.send(&message{kind: kindResult, steps: 1 << 60, body: []byte{1}})
		hang()
	},
	"printed result": func(f *fake) {
		f.ready()
		f.send(&message{kind: kindResult, printed: Prints{Text: "x"}, body: []byte{1}})
		hang()
	},
	"long prints": func(f *fake) { // no more characters than there may be bytes
		f.ready()
		f.send(&message{kind: kindResult, printed: Prints{Text: strings.Repeat("ä", MaxPrintBytes)}, body: []byte{1}})
		hang()
	},
	"printed fault": func(f *fake) {
		f.ready()
		f.send(&message{kind: kindFault, printed: Prints{Cut: true}, fault: &fault.Fault{Class: fault.ProgramError, Message: "abc"}})
		hang()
	},
	"not ready": func(f *fake) { f.receive(); f.result([]byte{1}) },
	"out of memory": func(f *fake) {
		f.ready()
		bound := syscall.Rlimit{Cur: 1 << 20, Max: 1 << 20}
		if err := syscall.Setrlimit(syscall.RLIMIT_AS, &bound); err != nil {
			panic(err)
		}
		var hoard [][]byte
		for i := 0; ; i++ {
			hoard = append(hoard, make([]byte, 1<<16))
			hoard[i][0] = 1
		}
	},
	"out of memory at once": func(f *fake) {
		f.ready()
		bound := syscall.Rlimit{Cur: 1 << 30, Max: 1 << 30}
		if err := syscall.Setrlimit(syscall.RLIMIT_AS, &bound); err != nil {
			panic(err)
		}
		f.raw(make([]byte, 1<<34))
	},
	"hoards": func(f *fake) {
		f.ready()
		for hoard := [][]byte{}; ; {
			hoard = append(hoard, bytes.Repeat([]byte{1}, 1<<20))
		}
	},
	"says out of memory": func(f *fake) {
		f.ready()
		fmt.Fprintln(os.Stderr, "fatal error: out of memory")
		os.Exit(1)
	},
	"panics":        func(f *fake) { f.ready(); panic(strings.Repeat("x", 1<<20)) },
	"reads nothing": func(f *fake) { f.ready(); f.call(1); hang() },
	"grandchild":    func(f *fake) { f.ready(); f.grandchild() },
	"leaves group":  func(f *fake) { f.ready(); f.leaveGroup() },
}

// apart sends a call of a callable in parallel.
func (f *fake) apart(sequence, index uint32) {
	f.send(&message{kind: kindCall, sequence: sequence, capability: "test.echo", path: []uint32{1, index, 1}, body: emptyArguments})
}

// die ends the process after so many frames of an honest conversation and so
// many bytes of the next.
func (f *fake) die(frames, bytes int) {
	table := f.receive()
	for i, m := range []*message{
		{kind: kindReady, protocol: protocol, digest: table.digest},
		{kind: kindCall, sequence: 1, capability: "test.echo", path: []uint32{1}, body: emptyArguments},
		{kind: kindUnbound, sequence: 2, capability: "test.echo"},
		{kind: kindCall, sequence: 3, capability: "test.echo", path: []uint32{3, 0, 1}, body: emptyArguments},
		{kind: kindCall, sequence: 4, capability: "test.echo", path: []uint32{3, 1, 1}, body: emptyArguments},
		{kind: kindResult, body: []byte{1}},
	} {
		frame, err := appendFrame(nil, m.append)
		if err != nil {
			panic(err)
		}
		if i == frames {
			f.raw(frame[:bytes])
			os.Exit(0)
		}
		f.raw(frame)
		if i < 3 {
			f.receive() // the program, and the answers
		} else if i == 4 {
			f.receive()
			f.receive()
		}
	}
	hang()
}

// ready0 shakes hands as an honest worker does.
func (f *fake) ready0() {
	m := f.receive()
	f.send(&message{kind: kindReady, protocol: protocol, digest: m.digest})
}

func (f *fake) arguments(body []byte) {
	f.send(&message{kind: kindCall, sequence: 1, capability: "test.echo", path: []uint32{1}, body: body})
	hang()
}

func (f *fake) result(body []byte) {
	f.send(&message{kind: kindResult, body: body})
	hang()
}

// flood announces a frame of the permitted size and goes on for ever.
func (f *fake) flood() {
	head := binary.BigEndian.AppendUint32(nil, 1<<20)
	f.raw(head)
	chunk := make([]byte, 1<<16)
	for {
		f.raw(chunk)
	}
}

// leaveGroup leaves a process behind in the worker's group and joins the
// host's.
func (f *fake) leaveGroup() {
	p, err := os.StartProcess("/bin/sleep", []string{"sleep", "20"}, &os.ProcAttr{})
	if err != nil {
		panic(err)
	}
	p.Release()
	if err := joinParentsGroup(); err != nil {
		panic(err)
	}
	f.call(1)
	hang()
}

// grandchild leaves the pipes to a process outside the worker's group, and
// dies.
func (f *fake) grandchild() {
	p, err := os.StartProcess("/bin/sleep", []string{"sleep", "20"}, &os.ProcAttr{
		Files: []*os.File{os.Stdin, f.out.(*os.File), os.Stderr},
		Sys:   newGroup(),
	})
	if err != nil {
		panic(err)
	}
	p.Release()
	hang()
}
