//go:build amd64 || arm64

package worker

import (
	"io"
	"os"
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
	if _, err := io.ReadAll(w.out); err != nil {
		t.Fatal(err)
	}
	state, err := w.process.Wait()
	if err != nil {
		t.Fatal(err)
	}
	status := state.Sys().(syscall.WaitStatus)
	used := state.UserTime() + state.SystemTime()
	if !status.Signaled() || status.Signal() != syscall.SIGKILL || used < time.Second || used > 6*time.Second {
		t.Errorf("%v after %v of processor time", state, used)
	}
}
