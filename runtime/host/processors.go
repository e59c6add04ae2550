package host

import (
	"runtime"
	"runtime/debug"
)

const (
	// spareProcessors are more than Go would take. Starting a worker holds one
	// until the new process runs, which on a busy machine takes milliseconds
	// (vfork(2)), and a refusal needs one meanwhile.
	spareProcessors = 2
	// gcPercent lets garbage become more before it is collected: most of what a
	// busy server holds is the stacks of calls that wait, and to look through
	// those for each few megabytes of garbage costs more than a third of its
	// time just when there is none to spare.
	gcPercent = 300
)

// roomForMany prepares the process to serve many clients, and returns what
// takes that back. GOMAXPROCS and GOGC of the environment stand.
func (p *program) roomForMany() (undo func()) {
	most, percent := runtime.GOMAXPROCS(0), debug.SetGCPercent(gcPercent)
	if p.given("GOGC") {
		debug.SetGCPercent(percent)
	}
	if !p.given("GOMAXPROCS") {
		runtime.GOMAXPROCS(most + spareProcessors)
	}
	return func() {
		debug.SetGCPercent(percent)
		runtime.GOMAXPROCS(most)
	}
}

func (p *program) given(variable string) bool {
	value, given := p.lookup(variable)
	return given && value != ""
}
