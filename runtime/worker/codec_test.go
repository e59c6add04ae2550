package worker

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program"
)

func messages() []*message {
	l := Limits{Steps: 1, Calls: 2, Depth: 3, ValueBytes: 4, ResultBytes: 5, SourceBytes: 6, Parallel: 7}
	return []*message{
		{kind: kindTable, protocol: protocol, digest: "ab", memory: 1 << 28, cpuMillis: 5000, sandbox: true, body: []byte{0x90}},
		{kind: kindRun, limits: l, body: []byte("def main():\n  return 1\n\xff")},
		{kind: kindRun, limits: l, main: true, check: true, prints: true, body: []byte(`data["a"]{"a":1}`), data: 7},
		{kind: kindReply, sequence: 7, body: []byte{1}},
		{kind: kindReply, sequence: 7, body: []byte{}},
		{kind: kindRefuse, sequence: 1 << 31, fault: &fault.Fault{Class: fault.Denied, Message: "no"}},
		{kind: kindReady, protocol: protocol, digest: "ab", layers: []string{"landlock", "seccomp"}, missing: []string{"rlimits: why"}},
		{kind: kindReady, protocol: protocol},
		{kind: kindCall, sequence: 1, capability: "a.b", path: []uint32{1}, body: []byte{0x80}},
		{kind: kindCall, sequence: 2, capability: "a.b", path: []uint32{2, 0, 1 << 31}, body: []byte{0x80}},
		{kind: kindUnbound, sequence: 1, capability: "a.b"},
		{kind: kindResult, wide: true, noValue: true, steps: 1 << 40, body: []byte{0xC0}},
		{kind: kindResult, printed: program.Prints{Text: "a\nä", Cut: true}, body: []byte{0xC0}},
		{kind: kindFault, steps: 3, printed: program.Prints{Text: "a"}, fault: &fault.Fault{Class: fault.Limit, Message: "m", Limit: "MaxSteps", Bound: 3, Line: 1, Column: 2, Trace: []string{"line 1"}}},
	}
}

func encoded(t testing.TB, m *message) []byte {
	t.Helper()
	payload, err := m.append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

func TestMessagesRoundTrip(t *testing.T) {
	for _, m := range messages() {
		got, err := decode(encoded(t, m))
		if err != nil {
			t.Errorf("%d: %v", m.kind, err)
			continue
		}
		if d := cmp.Diff(m, got, cmp.AllowUnexported(message{})); d != "" {
			t.Errorf("%d: %s", m.kind, d)
		}
	}
}

// Every prefix of a message, and every message with a byte more, is refused.
func TestMessagesAreExact(t *testing.T) {
	for _, m := range messages() {
		payload := encoded(t, m)
		for n := range payload {
			if _, err := decode(payload[:n]); err == nil {
				t.Errorf("%d: %d of %d bytes were accepted", m.kind, n, len(payload))
			}
		}
		if _, err := decode(append(payload, 0xC0)); err == nil {
			t.Errorf("%d: a trailing byte was accepted", m.kind)
		}
	}
}

// A path that no program has is no message.
func TestPathsAreChecked(t *testing.T) {
	deepest := make([]uint32, maxPath+2)
	for i := range deepest {
		deepest[i] = 1
	}
	for name, path := range map[string][]uint32{
		"of nothing":             {1, 0},
		"without an ordinal":     {0},
		"parallel without place": {0, 0, 1},
		"call without place":     {1, 0, 0},
		"too deep":               deepest,
	} {
		m := message{kind: kindCall, sequence: 1, capability: "a.b", path: path[:min(len(path), maxPath)], body: []byte{0x80}}
		payload := encoded(t, &m)
		if len(path) > maxPath {
			if _, err := decode(payload); err != nil {
				t.Errorf("the deepest path: %v", err)
			}
			at := 4 + len("a.b") // after kind, sequence and capability
			if payload[at] != 0xDC || payload[at+2] != maxPath {
				t.Fatalf("the path is not at %d: %x", at, payload)
			}
			payload[at+2] += 2
			payload = slices.Insert(payload, at+3, 1, 1)
		}
		if _, err := decode(payload); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestFrames(t *testing.T) {
	var stream []byte
	for _, m := range messages() {
		var err error
		if stream, err = appendFrame(stream, m.append); err != nil {
			t.Fatal(err)
		}
	}
	for name, source := range map[string]io.Reader{
		"at once": bytes.NewReader(stream), "by bytes": iotest.OneByteReader(bytes.NewReader(stream)), "halves": iotest.HalfReader(bytes.NewReader(stream)),
		"error with data": iotest.DataErrReader(bytes.NewReader(stream)),
	} {
		r := newFrameReader(source, 1000)
		for _, m := range messages() {
			payload, err := r.next()
			if err != nil || !bytes.Equal(payload, encoded(t, m)) {
				t.Fatalf("%s: %q, %v", name, payload, err)
			}
		}
		if _, err := r.next(); err != io.EOF {
			t.Errorf("%s: at the end: %v", name, err)
		}
	}
	large := strings.Repeat("x", 3*readSize)
	frame, err := appendFrame(nil, func(b []byte) ([]byte, error) { return append(b, large...), nil })
	if err != nil {
		t.Fatal(err)
	}
	r := newFrameReader(bytes.NewReader(append(frame, frame...)), len(large))
	for range 2 {
		if payload, err := r.next(); err != nil || string(payload) != large {
			t.Fatalf("a large frame: %d bytes, %v", len(payload), err)
		}
	}
	r = newFrameReader(bytes.NewReader(frame), len(large)-1)
	if _, err := r.next(); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("one byte over the bound: %v", err)
	}
	if _, err := newFrameReader(bytes.NewReader(frame[:100]), len(large)).next(); err != errPartial {
		t.Errorf("a cut frame: %v", err)
	}
	if _, err := newFrameReader(strings.NewReader("\x00\x00"), 10).next(); err != errPartial {
		t.Errorf("a cut header: %v", err)
	}
	if _, err := appendFrame(nil, func(b []byte) ([]byte, error) { return b, nil }); err == nil {
		t.Error("an empty frame was written")
	}
}

// FuzzDecode: whatever is accepted is written the same way.
func FuzzDecode(f *testing.F) {
	for _, m := range messages() {
		f.Add(encoded(f, m))
	}
	f.Add([]byte{0x91, 99})
	f.Fuzz(func(t *testing.T, payload []byte) {
		m, err := decode(payload)
		if err != nil {
			return
		}
		again, err := m.append(nil)
		if err != nil {
			t.Fatalf("cannot be written again: %v", err)
		}
		if m.fault != nil {
			// A fault's members have one order when written and any when read.
			second, err := decode(again)
			if err != nil || !cmp.Equal(m, second, cmp.AllowUnexported(message{})) {
				t.Fatalf("changed: %v", err)
			}
			return
		}
		if !bytes.Equal(again, payload) {
			t.Fatalf("%x became %x", payload, again)
		}
	})
}

// FuzzHostFrames feeds a host's reader whatever a worker might send.
func FuzzHostFrames(f *testing.F) {
	for _, m := range messages() {
		frame, err := appendFrame(nil, m.append)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		const most = 1 << 16
		r := newFrameReader(bytes.NewReader(stream), most)
		for {
			payload, err := r.next()
			if err != nil {
				return
			}
			if len(payload) == 0 || len(payload) > most || len(r.buf) > most+headerBytes+readSize {
				t.Fatalf("a frame of %d bytes in a buffer of %d", len(payload), len(r.buf))
			}
			if m, err := decode(payload); err == nil && len(m.body) > len(payload) {
				t.Fatal("a body larger than its frame")
			}
		}
	})
}

// short reports that no run in stream has leave to go on for long.
func short(stream []byte) bool {
	r := newFrameReader(bytes.NewReader(stream), 1<<16)
	for {
		payload, err := r.next()
		if err != nil {
			return true
		}
		if m, err := decode(payload); err == nil && m.limits.Steps > 100_000 {
			return false
		}
	}
}

func unconfinedChild(*message) (layers, missing []string) { return nil, nil }

// FuzzChild feeds a worker's side whatever a host might send.
func FuzzChild(f *testing.F) {
	var stream []byte
	for _, m := range []*message{
		{kind: kindTable, protocol: protocol, digest: "ab", memory: 1 << 28, cpuMillis: 5000, sandbox: true, body: []byte{0x90}},
		{kind: kindRun, limits: Limits{Steps: 1000, Calls: 2, Depth: 3, ValueBytes: 40, ResultBytes: 50, SourceBytes: 600, Parallel: 1}, body: []byte("1 + 1")},
	} {
		var err error
		if stream, err = appendFrame(stream, m.append); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(stream)
	f.Add(stream[:20])
	f.Fuzz(func(t *testing.T, stream []byte) {
		if len(stream) > 1<<12 || !short(stream) {
			return
		}
		var out bytes.Buffer
		c := &child{confine: unconfinedChild, frames: newFrameReader(bytes.NewReader(stream), 1<<16), out: &out}
		served := c.serve() == nil
		r := newFrameReader(&out, 1<<20)
		frames := 0
		for {
			payload, err := r.next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			m, err := decode(payload)
			if err != nil || m.kind.fromHost() {
				t.Fatalf("the worker wrote %x: %v", payload, err)
			}
			frames++
		}
		if served && frames == 0 {
			t.Fatal("served without a word")
		}
	})
}
