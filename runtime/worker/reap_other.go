//go:build !linux

package worker

import "os"

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
