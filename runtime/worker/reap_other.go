//go:build !linux

package worker

import (
	"os"
	"time"
)

// await gives the process so long to end by itself.
func (p *process) await(most time.Duration) { time.Sleep(most) }

// wait reaps the process. Here a kill may in theory meet the reaping of a
// process that ends by itself, which only a probe's does.
func (p *process) wait() *os.ProcessState {
	// Wait fails only for a process that is not a child or was waited for.
	state, _ := p.os.Wait()
	p.mu.Lock()
	p.reaped = true
	p.mu.Unlock()
	return state
}
