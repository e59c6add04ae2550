//go:build amd64 || arm64

package worker

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/worker/sandbox"
)

// runMemory is the worker's own entry, up to ready; then it uses memory until
// it is ended, and says how much it has.
func runMemory(mode string) {
	w := newChild(sandbox.Layers())
	if _, err := w.greet(); err != nil {
		panic(err)
	}
	size, _ := strconv.Atoi(strings.TrimPrefix(mode, "memory "))
	var all [][]byte
	for i := 1; ; i++ {
		piece := make([]byte, size)
		for at := 0; at < size; at += 4096 {
			piece[at] = 1
		}
		all = append(all, piece)
		fmt.Fprintln(w.out, i*size)
		runtime.KeepAlive(all)
	}
}

// A worker that wants more than its budget ends by itself, with status 2 and
// the runtime's words, whether it grows or asks for all at once; and its host
// does not grow with it.
func TestMemoryBudget(t *testing.T) {
	for _, c := range []struct {
		name          string
		size          int // what is asked for each time
		atLeast, most int // of what it got, in MiB
	}{
		{"pages", 1 << 20, 100, 256},
		{"pieces", 32 << 20, 60, 256},
		{"one bomb", 512 << 20, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := resident(t)
			began := time.Now()
			w := startConfined(t, "memory "+strconv.Itoa(c.size), nil, os.Stdin)
			text, err := io.ReadAll(w.out)
			if err != nil {
				t.Fatal(err)
			}
			state, err := w.process.Wait()
			if err != nil {
				t.Fatal(err)
			}
			if state.ExitCode() != 2 {
				t.Errorf("%v", state)
			}
			words := <-w.stderr
			if !slices.ContainsFunc(outOfMemory[:], func(text string) bool { return strings.Contains(words, "\n"+text+"\n") }) {
				t.Errorf("its last words are %.300q", words)
			}
			got := 0
			for line := range strings.Lines(string(text)) {
				got, _ = strconv.Atoi(strings.TrimSpace(line))
			}
			if got >>= 20; got > c.most || got < c.atLeast && !sandbox.LinksC() {
				t.Errorf("it got %d MiB", got)
			}
			t.Logf("ended after %v with %d MiB", time.Since(began).Round(time.Millisecond), got)
			if grown := resident(t) - before; grown > 32<<20 {
				t.Errorf("the host grew by %d MiB", grown>>20)
			}
		})
	}
}

// resident is what this process has in memory.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
