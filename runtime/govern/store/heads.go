package store

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/capgen/capgen/runtime/audit"
)

// headTimeout bounds how long a sink may take for a head.
const headTimeout = 10 * time.Second

// heads gives signed heads of the audit trail to a sink, in a goroutine of its
// own that close waits for. A nil *heads gives none.
type heads struct {
	sink     audit.HeadSink
	signer   note.Signer
	every    uint64
	interval time.Duration
	now      func() time.Time
	logger   *slog.Logger

	mu  sync.Mutex
	end audit.Chain // the last one that is committed

	wake    chan struct{} // holds one: there is a new end
	stop    chan struct{}
	stopped sync.Once
	ended   sync.WaitGroup
}

// newHeads begins to give heads, if o wants any.
func newHeads(o Options) (*heads, error) {
	if (o.SigningKey == "") != (o.Heads == nil) {
		return nil, errors.New("store: SigningKey and Heads are set both, or none")
	}
	if o.HeadEvery < 0 || o.HeadInterval < 0 {
		return nil, errors.New("store: a bound of heads is negative")
	}
	if o.Heads == nil {
		return nil, nil
	}
	signer, err := note.NewSigner(o.SigningKey)
	if err != nil {
		return nil, errors.New("store: SigningKey is no signer key") // the error might show it
	}
	h := &heads{
		sink: o.Heads, signer: signer, every: uint64(o.HeadEvery), interval: o.HeadInterval, now: o.Now, logger: o.Logger,
		wake: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	if h.every == 0 {
		h.every = audit.DefaultHeadEvery
	}
	if h.interval == 0 {
		h.interval = audit.DefaultHeadInterval
	}
	h.ended.Go(h.run)
	return h, nil
}

// committed tells that the chain ends there, durable.
func (h *heads) committed(end audit.Chain) {
	if h == nil {
		return
	}
	h.mu.Lock()
	if end.Seq > h.end.Seq {
		h.end = end
	}
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

func (h *heads) run() {
	tick := time.NewTicker(h.interval)
	defer tick.Stop()
	var sent uint64
	for {
		least := h.every
		stop := false
		select {
		case <-h.wake:
		case <-tick.C:
			least = 1
		case <-h.stop:
			least, stop = 1, true
		}
		h.mu.Lock()
		end := h.end
		h.mu.Unlock()
		if end.Seq >= sent+least {
			if err := h.send(end); err != nil { // the next one vouches for this one too
				h.logger.Error("store: a head of the audit trail was not taken", "record", end.Seq, "error", err)
			} else {
				sent = end.Seq
			}
		}
		if stop {
			return
		}
	}
}

func (h *heads) send(end audit.Chain) error {
	signed, err := end.Head(h.now(), h.signer)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), headTimeout)
	defer cancel()
	return h.sink.Head(ctx, signed)
}

// close sends the last head.
func (h *heads) close() {
	if h == nil {
		return
	}
	h.stopped.Do(func() { close(h.stop) })
	h.ended.Wait()
}
