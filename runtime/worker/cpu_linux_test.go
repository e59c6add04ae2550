//go:build amd64 || arm64

package worker

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/worker/sandbox"
)

// spinMode is a worker's own entry, up to ready; then it spins where no counter
// of steps sees it.
const spinMode = "spin"

func runSpin() {
	w := newChild(sandbox.Layers())
	if _, err := w.greet(); err != nil {
		panic(err)
	}
	//lint:ignore SA5002 that it spins is what this is about
	for {
	}
}

// A worker that spins and is not killed by its host is ended by the kernel when
// it has used the processor time that it may use, rounded up to whole seconds,
// and one more.
func TestProcessorTimeIsBounded(t *testing.T) {
	w := startConfined(t, spinMode, nil, os.Stdin)
	start := processorTime(t, w.process.Pid) // which a slow machine has a lot of
	if _, err := io.ReadAll(w.out); err != nil {
		t.Fatal(err)
	}
	state, err := w.process.Wait()
	if err != nil {
		t.Fatal(err)
	}
	status := state.Sys().(syscall.WaitStatus)
	// The kernel counts ticks, some of which an emulated processor misses.
	used := state.UserTime() + state.SystemTime()
	if !status.Signaled() || status.Signal() != syscall.SIGKILL || used < time.Second || used > start+20*time.Second {
		t.Errorf("%v after %v of processor time, %v of them for its start", state, used, start)
	}
}

// processorTime is what a process has used.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, fields, _ := strings.Cut(string(text), ") ") // what comes before may have spaces
	var ticks time.Duration
	for _, field := range strings.Fields(fields)[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		ticks += time.Duration(n)
	}
	return ticks * 10 * time.Millisecond
}
