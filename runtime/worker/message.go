package worker

import (
	"fmt"
	"math"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program"
)

// protocol is the version of all that follows in this file. A worker of
// another version still says ready, and in it its version.
const protocol = 3

// kind tells messages apart.
type kind int64

const (
	kindTable  kind = 1 // host: protocol, digest, memory, processor time, sandbox; body: the binding table
	kindRun    kind = 2 // host: limits, what to do, length of the data; body: the source, then the data
	kindReply  kind = 3 // host: sequence; body: a wire value, empty for a bind failure
	kindRefuse kind = 4 // host: sequence, fault

	kindReady   kind = 16 // worker: protocol, digest, sandbox layers, missing ones
	kindCall    kind = 17 // worker: sequence, capability, path; body: wire arguments
	kindUnbound kind = 18 // worker: sequence, capability of a bind failure
	kindResult  kind = 19 // worker: wide, no value, steps, prints; body: a wire value
	kindFault   kind = 20 // worker: steps, prints, fault
)

// Bounds of what messages hold.
const (
	maxDigest     = 128
	maxCapability = 256
	maxLayers     = 32
	maxLayer      = 64
	maxMissing    = 256 // of a missing layer, with its reason
	maxCPUMillis  = 1 << 40
	messageDepth  = 1 + fault.Depth
	maxFields     = 13
	// maxPath is the path of a call in callables of parallel that are nested
	// as deeply as may be.
	maxPath = 2*program.MaxNesting + 1
)

// message is one frame's payload: a wire array that begins with its kind, then
// the body's bytes, whose length ends the array. Fields that a kind does not
// have are zero.
type message struct {
	kind       kind
	protocol   int64
	digest     string
	memory     int64    // budget of the address space, in bytes
	cpuMillis  int64    // processor time, zero without a bound
	sandbox    bool     // whether to enter the sandbox
	layers     []string // that hold
	missing    []string // layers that do not hold, each with its reason
	limits     Limits
	sequence   uint32
	capability string
	path       []uint32
	main       bool // only main may call
	check      bool // nothing is to run
	prints     bool // what it prints is to be kept
	data       int  // how many of the body's last bytes are the data
	wide       bool
	noValue    bool
	steps      int64
	printed    program.Prints
	fault      *fault.Fault
	body       []byte // aliases the frame
}

// fields says how many elements a kind's array has.
func (k kind) fields() int {
	switch k {
	case kindTable:
		return 7
	case kindResult:
		return 7
	case kindCall, kindReady, kindFault:
		return 5
	case kindRun:
		return maxFields
	case kindReply, kindRefuse, kindUnbound:
		return 3
	}
	return 0
}

func (k kind) fromHost() bool { return k >= kindTable && k <= kindRefuse }

func (k kind) hasBody() bool {
	switch k {
	case kindTable, kindRun, kindReply, kindCall, kindResult:
		return true
	}
	return false
}

// calls reports whether m is a native call, or an attempt at one.
func (m *message) calls() bool { return m.kind == kindCall || m.kind == kindUnbound }

// append appends the payload of m.
func (m *message) append(dst []byte) ([]byte, error) {
	w := canon.NewWireWriter(dst)
	e := arrayWriter{w: w}
	w.BeginArray(m.kind.fields(), 1, maxFields)
	e.int(int64(m.kind))
	switch m.kind {
	case kindTable:
		e.int(m.protocol)
		e.string(m.digest)
		e.int(m.memory)
		e.int(m.cpuMillis)
		e.bool(m.sandbox)
	case kindRun:
		l := m.limits
		for _, v := range [...]int64{l.Steps, l.Calls, int64(l.Depth), int64(l.ValueBytes), l.ResultBytes, int64(l.SourceBytes), int64(l.Parallel)} {
			e.int(v)
		}
		e.bool(m.main)
		e.bool(m.check)
		e.bool(m.prints)
		e.int(int64(m.data))
	case kindReply:
		e.int(int64(m.sequence))
	case kindRefuse:
		e.int(int64(m.sequence))
		e.fault(m.fault)
	case kindReady:
		e.int(m.protocol)
		e.string(m.digest)
		e.strings(m.layers, maxLayer)
		e.strings(m.missing, maxMissing)
	case kindCall, kindUnbound:
		e.int(int64(m.sequence))
		e.string(m.capability)
		if m.kind == kindCall {
			e.path(m.path)
		}
	case kindResult:
		e.bool(m.wide)
		e.bool(m.noValue)
		e.int(m.steps)
		e.printed(m.printed)
	case kindFault:
		e.int(m.steps)
		e.printed(m.printed)
		e.fault(m.fault)
	}
	if m.kind.hasBody() {
		e.int(int64(len(m.body)))
	}
	w.EndArray()
	if err := w.End(); err != nil {
		return dst, fmt.Errorf("worker: encode: %w", err)
	}
	return append(w.Bytes(), m.body...), nil
}

// arrayWriter counts the elements of the array it writes.
type arrayWriter struct {
	w *canon.Writer
	n int
}

func (e *arrayWriter) element() {
	e.w.Element(e.n)
	e.n++
}

func (e *arrayWriter) int(v int64) {
	e.element()
	e.w.Int(v, 0, math.MaxInt64)
}

func (e *arrayWriter) bool(v bool) {
	e.element()
	e.w.Bool(v)
}

func (e *arrayWriter) string(s string) {
	e.element()
	e.w.String(s, 0, math.MaxInt32)
}

func (e *arrayWriter) strings(list []string, max int) {
	e.element()
	e.w.BeginArray(len(list), 0, maxLayers)
	for i, s := range list {
		e.w.Element(i)
		e.w.String(s, 0, max)
	}
	e.w.EndArray()
}

func (e *arrayWriter) path(path []uint32) {
	e.element()
	e.w.BeginArray(len(path), 1, maxPath)
	for i, n := range path {
		e.w.Element(i)
		e.w.Int(int64(n), 0, math.MaxUint32)
	}
	e.w.EndArray()
}

func (e *arrayWriter) printed(p program.Prints) {
	e.string(p.Text)
	e.bool(p.Cut)
}

func (e *arrayWriter) fault(f *fault.Fault) {
	e.element()
	f.Encode(e.w)
}

// decode reads one payload. Whether the sender may send that kind, and now, is
// for the caller to say.
func decode(payload []byte) (*message, error) {
	r := canon.NewWireReader(payload, messageDepth)
	d := arrayReader{r: r}
	r.BeginArray(1, maxFields)
	m := &message{kind: kind(d.int(1, math.MaxInt64))}
	if r.Err() == nil && m.kind.fields() == 0 {
		return nil, fmt.Errorf("unknown message kind %d", m.kind)
	}
	switch m.kind {
	case kindTable:
		m.protocol = d.int(0, math.MaxInt64)
		m.digest = d.string(maxDigest)
		m.memory = d.int(1, math.MaxInt64)
		m.cpuMillis = d.int(0, maxCPUMillis)
		m.sandbox = d.bool()
	case kindRun:
		m.limits = Limits{
			Steps:       d.int(1, math.MaxInt64),
			Calls:       d.int(1, math.MaxUint32),
			Depth:       int(d.int(1, math.MaxInt32)),
			ValueBytes:  int(d.int(1, maxValueBytes)),
			ResultBytes: d.int(1, math.MaxInt64),
			SourceBytes: int(d.int(1, maxValueBytes)),
			Parallel:    int(d.int(1, math.MaxInt32)),
		}
		m.main = d.bool()
		m.check = d.bool()
		m.prints = d.bool()
		m.data = int(d.int(0, maxValueBytes))
	case kindReply:
		m.sequence = d.sequence()
	case kindRefuse:
		m.sequence = d.sequence()
		m.fault = d.fault()
	case kindReady:
		m.protocol = d.int(0, math.MaxInt64)
		m.digest = d.string(maxDigest)
		m.layers = d.strings(maxLayer)
		m.missing = d.strings(maxMissing)
	case kindCall, kindUnbound:
		m.sequence = d.sequence()
		m.capability = d.string(maxCapability)
		if m.kind == kindCall {
			m.path = d.path()
		}
	case kindResult:
		m.wide = d.bool()
		m.noValue = d.bool()
		m.steps = d.int(0, math.MaxInt64)
		m.printed = d.printed()
	case kindFault:
		m.steps = d.int(0, math.MaxInt64)
		m.printed = d.printed()
		m.fault = d.fault()
	}
	if err := d.finish(m, payload); err != nil {
		return nil, err
	}
	return m, nil
}

// finish reads the body's length, the array's end and the body.
func (d *arrayReader) finish(m *message, payload []byte) error {
	want := int64(0)
	if m.kind.hasBody() {
		want = d.int(0, maxTableBytes+maxValueBytes)
	}
	if d.r.NextElement() {
		d.r.Fail(canon.CodeLength, "too many elements")
	}
	if err := d.r.Err(); err != nil {
		return err
	}
	body := payload[d.r.Offset():]
	if int64(len(body)) != want {
		return fmt.Errorf("a body of %d bytes, announced were %d", len(body), want)
	}
	if m.kind.hasBody() {
		m.body = body
	}
	if m.data > len(body) {
		return fmt.Errorf("data of %d bytes in a body of %d", m.data, len(body))
	}
	return nil
}

// arrayReader reads the elements of an array that must all be there.
type arrayReader struct{ r *canon.Reader }

func (d *arrayReader) element() {
	if !d.r.NextElement() {
		d.r.Fail(canon.CodeLength, "too few elements")
	}
}

func (d *arrayReader) int(min, max int64) int64 {
	d.element()
	return d.r.Int(min, max)
}

func (d *arrayReader) bool() bool {
	d.element()
	return d.r.Bool()
}

func (d *arrayReader) sequence() uint32 { return uint32(d.int(1, math.MaxUint32)) }

func (d *arrayReader) string(max int) string {
	d.element()
	return d.r.String(0, max)
}

func (d *arrayReader) strings(max int) []string {
	d.element()
	var list []string
	d.r.BeginArray(0, maxLayers)
	for d.r.NextElement() {
		list = append(list, d.r.String(0, max))
	}
	return list
}

// path reads ordinals, which count from 1, at even places, and between them
// indices, which count from 0.
func (d *arrayReader) path() []uint32 {
	d.element()
	path := make([]uint32, 0, 1)
	d.r.BeginArray(1, maxPath)
	for d.r.NextElement() {
		least := int64(1 - len(path)%2)
		path = append(path, uint32(d.r.Int(least, math.MaxUint32)))
	}
	if len(path)%2 == 0 {
		d.r.Fail(canon.CodeLength, "a path ends in an ordinal")
	}
	return path
}

func (d *arrayReader) printed() program.Prints {
	return program.Prints{Text: d.string(program.MaxPrintBytes), Cut: d.bool()}
}

func (d *arrayReader) fault() *fault.Fault {
	d.element()
	f := new(fault.Fault)
	if f.Decode(d.r) != nil {
		return nil
	}
	return f
}
