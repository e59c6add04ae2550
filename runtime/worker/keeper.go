package worker

import "time"

const (
	// idleCheck is how often idle workers are looked at when nothing happens.
	idleCheck = 200 * time.Millisecond
	// A worker that cannot be started is tried again after firstPause, then
	// after twice as long, up to longestPause.
	firstPause   = 50 * time.Millisecond
	longestPause = 5 * time.Second
)

// keep is the goroutine that keeps workers ready, until Close.
func (p *Pool) keep() {
	defer close(p.kept)
	timer := time.NewTimer(0)
	defer timer.Stop()
	pause, clock := firstPause, false
	for {
		p.sweep()
		wake, next := p.wake, idleCheck
		for p.reserve(clock) {
			w, err := p.start(p.ctx)
			if err != nil {
				p.release()
				if p.ctx.Err() != nil {
					return
				}
				p.config.failed(err)
				// Nothing but time is waited for: what was released meanwhile
				// is no reason to try again at once.
				wake, next = nil, pause
				pause = min(2*pause, longestPause)
				break
			}
			pause = firstPause
			p.put(w)
		}
		timer.Reset(next)
		select {
		case <-p.ctx.Done():
			return
		case <-wake:
			clock = false
		case <-timer.C:
			clock = wake != nil
		}
	}
}

// reserve counts one more process, if one is to be started now. Runs that wait
// go first. That time has passed is a reason only while no program runs: a
// worker is replaced when it was reaped, and not while the start of another
// would slow its program down.
func (p *Pool) reserve(clock bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.waiting > 0 || len(p.idle) >= p.config.idle || p.processes >= p.config.processes || clock && p.processes > len(p.idle) {
		return false
	}
	p.processes++
	return true
}

// put adds a ready worker to the idle ones.
func (p *Pool) put(w *process) {
	p.mu.Lock()
	closed := p.closed
	if !closed {
		p.idle = append(p.idle, w)
		p.announce()
	}
	p.mu.Unlock()
	if closed {
		w.end()
		p.release()
	}
}

// sweep ends the idle workers that have died, or speak out of turn.
func (p *Pool) sweep() {
	var stirred []*process
	p.mu.Lock()
	kept := p.idle[:0]
	for _, w := range p.idle {
		if w.out.stirred() {
			stirred = append(stirred, w)
		} else {
			kept = append(kept, w)
		}
	}
	clear(p.idle[len(kept):])
	p.idle = kept
	p.mu.Unlock()
	for _, w := range stirred {
		w.end()
		p.release()
	}
}
