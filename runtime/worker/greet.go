package worker

import (
	"errors"
	"time"
)

// greet sends the table and waits for ready.
func (p *Pool) greet(w *process) error {
	late := time.AfterFunc(readyTimeout, w.kill)
	defer late.Stop()
	if err := write(w, p.config.table); err != nil {
		return err
	}
	w.words.await(w.out)
	frames := p.readers.Get().(*frameReader)
	frames.reset(w.out, slackBytes)
	m, err := receive(frames)
	if err != nil {
		return err
	}
	if err := checkReady(m, p.config); err != nil {
		return err
	}
	if len(frames.unread()) > 0 {
		return broken("bytes after ready")
	}
	frames.source = nil
	p.readers.Put(frames)
	w.words.settle()
	w.out.block()
	return nil
}

func checkReady(m *message, c *resolved) error {
	switch {
	case m.kind != kindReady:
		return broken("a message of kind %d instead of ready", m.kind)
	case m.protocol != protocol:
		return broken("it speaks protocol %d, this host speaks %d", m.protocol, protocol)
	case m.digest != c.digest:
		return broken("it was given another binding table")
	}
	if err := unconfined(m, c.required); err != nil {
		return broken("%v", err)
	}
	return nil
}

func write(w *process, frame []byte) error {
	if _, err := w.in.Write(frame); err != nil {
		return &lostError{err}
	}
	return nil
}

// receive reads one message of a worker.
func receive(frames *frameReader) (*message, error) {
	payload, err := frames.next()
	if errors.Is(err, errEmptyFrame) || errors.Is(err, errFrameTooBig) {
		return nil, broken("%v", err)
	}
	if err != nil {
		return nil, &lostError{err}
	}
	m, err := decode(payload)
	if err != nil {
		return nil, broken("%v", err)
	}
	if m.kind.fromHost() {
		return nil, broken("a message of kind %d, which is the host's", m.kind)
	}
	return m, nil
}
