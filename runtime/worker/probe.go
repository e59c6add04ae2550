package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	// probeTimeout bounds a probe.
	probeTimeout = 5 * time.Second
	// maxDiagnostics bounds what a probe quotes of a worker's standard error.
	maxDiagnostics = 4 << 10
)

// Probe starts one worker, shakes hands, lets it end and returns what it said
// of its sandbox. Its error says what to fix, with up to 4 KiB of what the worker wrote to standard error. It
// takes at most five seconds, or until ctx ends.
func Probe(ctx context.Context, c Config) (Confinement, error) {
	r, err := c.resolve()
	if err != nil {
		return Confinement{}, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return Confinement{}, fmt.Errorf("worker: probe: %w", err)
	}
	diagnostics := collect(read)
	p, err := start(r, write)
	write.Close()
	if err != nil {
		diagnostics()
		return Confinement{}, fmt.Errorf("worker: probe: %w", err)
	}
	bounded, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	defer context.AfterFunc(bounded, p.kill)()
	confinement, problem := probe(bounded, p, r)
	text := diagnostics()
	switch {
	case problem == nil:
		return confinement, nil
	case ctx.Err() != nil:
		problem = context.Cause(ctx)
	case text != "":
		problem = fmt.Errorf("%w; its standard error says: %s", problem, text)
	}
	return Confinement{}, fmt.Errorf("worker: probe: %w", problem)
}

// advice ends most messages.
const advice = "main must call ServeWorkerAndExit as its first statement, before it reads flags, prints or starts anything"

// probe always reaps p.
func probe(ctx context.Context, p *process, r *resolved) (Confinement, error) {
	frames := newFrameReader(p.out, slackBytes)
	_, unwritten := p.in.Write(r.table)
	payload, err := frames.next()
	if err != nil {
		return Confinement{}, noReady(ctx, p, frames, err)
	}
	m, err := decode(payload)
	if err != nil || m.kind != kindReady {
		err = fmt.Errorf("the worker wrote something else than the protocol to standard output, beginning with %q: %s", head(payload), advice)
	} else if m.protocol != protocol {
		err = fmt.Errorf("the worker speaks protocol %d, this host speaks %d: build both from the same version", m.protocol, protocol)
	} else if m.digest != r.digest || unwritten != nil {
		err = errors.New("the worker did not read the binding table it was given: build host and worker from the same version")
	} else {
		err = unconfined(m, r.required)
	}
	if err != nil {
		p.end()
		return Confinement{}, err
	}
	return Confinement{Layers: m.layers, Missing: m.missing}, goodbye(ctx, p, frames)
}

// noReady explains a worker that did not say ready.
func noReady(ctx context.Context, p *process, frames *frameReader, err error) error {
	got := head(frames.unread())
	if len(got) > 0 {
		p.end()
		return fmt.Errorf("the worker wrote something else than the protocol to standard output, beginning with %q: %s", got, advice)
	}
	if ctx.Err() != nil {
		p.end()
		return fmt.Errorf("the worker did not answer within %v: %s", probeTimeout, advice)
	}
	if err != io.EOF {
		p.end()
		return fmt.Errorf("the worker could not be read: %w", err)
	}
	p.closeInput()
	state := p.reap()
	return fmt.Errorf("the worker ended without an answer (%v): %s", state, advice)
}

// goodbye closes the input, upon which a worker ends in silence.
func goodbye(ctx context.Context, p *process, frames *frameReader) error {
	p.closeInput()
	if len(frames.unread()) == 0 {
		_, err := frames.next()
		if ctx.Err() != nil {
			p.end()
			return fmt.Errorf("the worker did not end within %v of its input: nothing may keep the process after ServeWorkerAndExit", probeTimeout)
		}
		if err == io.EOF {
			if state := p.reap(); !state.Success() {
				return fmt.Errorf("the worker answered but ended badly (%v): nothing may change the exit status of ServeWorkerAndExit", state)
			}
			return nil
		}
	}
	p.end()
	return fmt.Errorf("the worker wrote more than its answer to standard output: %s", advice)
}

// head is the beginning of what is no protocol.
func head(b []byte) []byte { return b[:min(len(b), 64)] }

// collect reads to the end of r, keeping little. The function it returns waits
// for that end, but not longer than a second: a process that the worker left
// behind may hold it.
func collect(r *os.File) func() string {
	var mu sync.Mutex
	var kept bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer r.Close()
		chunk := make([]byte, 1024)
		for {
			n, err := r.Read(chunk)
			mu.Lock()
			kept.Write(chunk[:min(n, maxDiagnostics-kept.Len())])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return func() string {
		select {
		case <-done:
		case <-time.After(time.Second):
			r.Close() // ends the read; it is in the poller
			<-done
		}
		mu.Lock()
		defer mu.Unlock()
		return strings.ToValidUTF8(strings.TrimSpace(kept.String()), "�")
	}
}
