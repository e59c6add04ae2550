package worker

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/capgen/capgen/runtime/internal/stdoutguard"
	"github.com/capgen/capgen/runtime/worker/sandbox"
)

// A worker is short-lived and mostly garbage: collecting later is cheaper. The
// soft limit is half of the memory budget, so that the collector works harder
// before the process is ended.
const gcPercent = 400

// IsWorker reports whether this process is a worker, by its environment.
func IsWorker() bool { return os.Getenv(stdoutguard.Marker) != "" }

// ServeWorkerAndExit returns at once in a process that is no worker. In a
// worker it serves one probe or one execution over the standard streams and
// ends the process, with status 0 if it was served and 1 if not. It writes no
// diagnostics, and deferred functions do not run. It must be the first
// statement of main and of every TestMain of a package that builds a server:
// what comes before runs in every worker too, as package initialization does,
// and outside of the sandbox, which is entered here.
func ServeWorkerAndExit() {
	if !IsWorker() {
		return
	}
	if newChild(sandbox.Layers()).serve() != nil {
		exit(1)
	}
	exit(0)
}

// newChild makes this process a worker that will enter the given layers.
func newChild(layers []sandbox.Layer) *child {
	debug.SetGCPercent(gcPercent)
	runtime.GOMAXPROCS(1)
	s, err := takeStreams()
	if err != nil {
		exit(1)
	}
	w := &child{frames: newFrameReader(s.in, maxTableBytes+slackBytes), out: s.out}
	touch(w.frames.buf)
	if s.hangup != nil {
		// It ends with the process, which ends when serve does. Until the
		// worker is ready, it sees the host's end where it reads and writes;
		// each thread before makes the sandbox dearer to enter.
		w.watch = func() {
			go func() {
				s.hangup()
				if w.idle.Load() {
					exit(0)
				}
				exit(1)
			}()
		}
	}
	w.confine = func(m *message) ([]string, []string) { return confine(m, s.keep, layers) }
	return w
}

// confine enters the layers of the sandbox if m, a table, asks for it, and
// names those that hold and those that do not.
func confine(m *message, keep []int, layers []sandbox.Layer) (names, missing []string) {
	debug.SetMemoryLimit(m.memory / 2)
	if !m.sandbox {
		return nil, nil
	}
	held, not := sandbox.Enter(sandbox.Options{
		Memory: m.memory,
		CPU:    time.Duration(m.cpuMillis) * time.Millisecond,
		Keep:   keep,
	}, layers...)
	for _, l := range held {
		names = append(names, string(l))
	}
	for _, n := range not {
		text := string(n.Layer) + ": " + n.Err.Error()
		missing = append(missing, strings.ToValidUTF8(text[:min(len(text), maxMissing)], ""))
	}
	return names, missing
}

// exit ends the process at once. os.Exit would run hooks first, of which a
// worker needs none: the race detector's alone takes a second.
func exit(code int) { syscall.Exit(code) }
