package host

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// wire is a transport in memory: the test writes lines to one end and reads
// what was written from the other.
type wire struct {
	*stdioConn
	in   *io.PipeWriter
	stop context.CancelFunc
	why  func() error // of the cancellation

	mu  sync.Mutex
	out bytes.Buffer
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

func (w *wire) written() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.String()
}

func newWire(t *testing.T) *wire {
	t.Helper()
	in, feed := io.Pipe()
	stop, cancelStop := context.WithCancel(context.Background())
	live, cancel := context.WithCancelCause(context.Background())
	w := &wire{in: feed, stop: cancelStop, why: func() error { return context.Cause(live) }}
	c, err := (&stdioTransport{
		in: in, out: w, log: slog.New(slog.DiscardHandler), max: 1000, maxUnwritten: 1000, stop: stop.Done(), cancel: cancel,
		drain: drainTime, grace: graceTime, ended: make(chan struct{}),
	}).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.stdioConn = c.(*stdioConn)
	t.Cleanup(func() {
		w.Close()
		in.Close()
		cancelStop()
	})
	return w
}

func (w *wire) feed(t *testing.T, lines ...string) {
	t.Helper()
	if _, err := io.WriteString(w.in, strings.Join(lines, "\n")+"\n"); err != nil {
		t.Error(err)
	}
}

// respond writes the answer to the call with this id.
func (w *wire) respond(t *testing.T, id int64) {
	t.Helper()
	wireID, err := jsonrpc.MakeID(float64(id))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.stdioConn.Write(t.Context(), &jsonrpc.Response{ID: wireID, Result: json.RawMessage(`{}`)}); err != nil {
		t.Error(err)
	}
}

func callLine(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call"}`, id)
}

// read reads n messages and then, in the background, the end.
func (w *wire) read(t *testing.T, n int) (end chan error) {
	t.Helper()
	for range n {
		if _, err := w.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	end = make(chan error, 1)
	go func() {
		_, err := w.Read(context.Background())
		end <- err
	}()
	return end
}

func TestEndWaitsForAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(t)
		go func() {
			w.feed(t, callLine(1), callLine(2))
			w.in.Close()
		}()
		begin := time.Now()
		end := w.read(t, 2)
		time.Sleep(3 * time.Second)
		w.respond(t, 1)
		time.Sleep(3 * time.Second)
		select {
		case <-end:
			t.Fatal("the session ended while a call had no answer")
		default:
		}
		w.respond(t, 2)
		if err := <-end; !errors.Is(err, io.EOF) || time.Since(begin) != 6*time.Second {
			t.Errorf("end %v after %v", err, time.Since(begin))
		}
		if err := w.why(); err != nil {
			t.Errorf("calls were cancelled: %v", err)
		}
	})
}

// A call that takes too long is cancelled, gets a little longer to say so, and
// is then abandoned.
func TestEndDoesNotWaitForEver(t *testing.T) {
	for _, answers := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := newWire(t)
			go func() {
				w.feed(t, callLine(1))
				w.in.Close()
			}()
			begin := time.Now()
			end := w.read(t, 1)
			time.Sleep(drainTime + time.Millisecond)
			synctest.Wait()
			if !errors.Is(w.why(), errSessionEnded) {
				t.Fatalf("cancellation %v", w.why())
			}
			want := drainTime + graceTime
			if answers {
				want = drainTime + time.Millisecond
				w.respond(t, 1)
			}
			if err := <-end; !errors.Is(err, io.EOF) || time.Since(begin) != want {
				t.Errorf("end %v after %v, want after %v", err, time.Since(begin), want)
			}
			select {
			case <-w.ended:
			default:
				t.Error("nobody was told that the session ended")
			}
		})
	}
}

func TestStopCutsTheWaitShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(t)
		go w.feed(t, callLine(1))
		begin := time.Now()
		end := w.read(t, 1)
		time.Sleep(time.Second)
		w.stop()
		if err := <-end; !errors.Is(err, io.EOF) || time.Since(begin) > time.Second+2*graceTime {
			t.Errorf("end %v after %v", err, time.Since(begin))
		}
	})
}

// A subscription is answered when it is cancelled, so its answer is not waited
// for.
func TestEndDoesNotWaitForSubscriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(t)
		go func() {
			w.feed(t, `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}`)
			w.in.Close()
		}()
		begin := time.Now()
		if err := <-w.read(t, 1); !errors.Is(err, io.EOF) || time.Since(begin) != 0 {
			t.Errorf("end %v after %v", err, time.Since(begin))
		}
	})
}

func TestTooManyCallsAreRefused(t *testing.T) {
	w := newWire(t)
	go func() {
		for i := range maxInFlight + 1 {
			w.feed(t, callLine(i))
		}
		w.feed(t, callLine(5000))
	}()
	for range maxInFlight {
		if _, err := w.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		for strings.Count(w.written(), "\n") < 2 {
			time.Sleep(time.Millisecond)
		}
		w.in.Close()
		for i := range maxInFlight {
			w.respond(t, int64(i))
		}
	}()
	if _, err := w.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("read %v", err)
	}
	lines := strings.Split(w.written(), "\n")
	for i, id := range []int{maxInFlight, 5000} {
		if want := fmt.Sprintf(`"id":%d,"error":{"code":-32603`, id); !strings.Contains(lines[i], want) {
			t.Errorf("answer %s, want %s", lines[i], want)
		}
	}
}

// An id may be used again as soon as the answer is on its way.
// A client that does not read its answers does not fill the memory with them:
// what is too much is replaced, and every call has its answer all the same.
func TestAnswersThatAreNotRead(t *testing.T) {
	const calls = 50
	in, _ := io.Pipe()
	read, out := io.Pipe()
	conn, err := (&stdioTransport{in: in, out: out, log: slog.New(slog.DiscardHandler), max: 1000, maxUnwritten: 1000}).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := conn.(*stdioConn)
	defer in.Close()
	defer c.Close()
	big := json.RawMessage(`"` + strings.Repeat("x", 300) + `"`)
	var group sync.WaitGroup
	for i := range calls {
		id, err := jsonrpc.MakeID(float64(i))
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			if err := c.Write(t.Context(), &jsonrpc.Response{ID: id, Result: big}); err != nil {
				t.Error(err)
			}
		})
	}
	waiting := func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.waiting
	}
	// All that wait: three answers at most, and refusals.
	const refusal = 150
	for began := time.Now(); waiting() < calls*refusal && time.Since(began) < 10*time.Second; time.Sleep(time.Millisecond) {
	}
	if n := waiting(); n > 1000+calls*refusal*3/2 {
		t.Fatalf("%d bytes wait", n)
	}
	lines := bufio.NewScanner(read)
	full, dropped := 0, 0
	for range calls {
		if !lines.Scan() {
			t.Fatal(lines.Err())
		}
		switch {
		case strings.Contains(lines.Text(), "xxx"):
			full++
		case strings.Contains(lines.Text(), "dropped"):
			dropped++
		}
	}
	group.Wait()
	if full == 0 || full > 3 || full+dropped != calls {
		t.Errorf("%d answers and %d refusals for %d calls", full, dropped, calls)
	}
	if n := waiting(); n != 0 {
		t.Errorf("%d bytes still count", n)
	}
	// Who reads gets everything.
	go c.Write(t.Context(), &jsonrpc.Response{Result: json.RawMessage(`"` + strings.Repeat("y", 3000) + `"`)})
	if !lines.Scan() || !strings.Contains(lines.Text(), "yyy") {
		t.Errorf("%.100s", lines.Text())
	}
}

func TestIDMayBeUsedAgain(t *testing.T) {
	w := newWire(t)
	go func() {
		for range 50 {
			w.feed(t, callLine(1))
		}
		w.in.Close()
	}()
	for range 50 {
		if _, err := w.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.respond(t, 1)
	}
	if _, err := w.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("read %v", err)
	}
	if n := strings.Count(w.written(), `"result"`); n != 50 || strings.Contains(w.written(), "error") {
		t.Errorf("%d answers: %s", n, w.written())
	}
}

// Whatever bytes come in, each message that Read returns is one, every refusal
// is one line with an error, and the end is found.
func FuzzStdioConn(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "{}\n", callLine(1), callLine(1) + "\n" + callLine(1) + "\r\n{", `[` + callLine(1) + `]`,
		strings.Repeat("x", 3000) + "\n" + callLine(2), "\xff\n\x00", `{"jsonrpc":"2.0","id":"` + "\\ud800" + `","method":"a"}`,
		"{\"id\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		_, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		c, err := (&stdioTransport{
			in: bytes.NewReader(data), out: &out, log: slog.New(slog.DiscardHandler), max: 1000,
			stop: nil, cancel: cancel, ended: make(chan struct{}),
		}).Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		messages := 0
		for {
			message, err := c.Read(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil || message == nil {
				t.Fatalf("read %v, %v", message, err)
			}
			messages++
		}
		refusals := bytes.Count(out.Bytes(), []byte("\n"))
		for line := range bytes.Lines(out.Bytes()) {
			var m struct{ Error *struct{ Code int } }
			if err := json.Unmarshal(line, &m); err != nil || m.Error == nil || m.Error.Code == 0 || !utf8.Valid(line) {
				t.Fatalf("refusal %s", line)
			}
		}
		if lines := bytes.Count(data, []byte("\n")) + 1; messages+refusals > lines {
			t.Fatalf("%d messages and %d refusals from %d lines", messages, refusals, lines)
		}
	})
}

func TestFramesAreBounded(t *testing.T) {
	// An endless line is dropped as it comes in: its length is not memory.
	endless := io.MultiReader(io.LimitReader(letters{}, 64<<20), strings.NewReader("\n{}\n"))
	frames, done := make(chan frame), make(chan struct{})
	defer close(done)
	go readFrames(endless, 1000, frames, done)
	if f := <-frames; !f.tooLong || f.line != nil {
		t.Errorf("frame %+v, want too long", f)
	}
	if f := <-frames; string(f.line) != "{}" {
		t.Errorf("frame %+v, want the line after it", f)
	}
	if f := <-frames; !errors.Is(f.err, io.EOF) {
		t.Errorf("frame %+v, want the end", f)
	}
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
