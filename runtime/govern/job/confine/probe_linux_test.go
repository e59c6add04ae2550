//go:build amd64 || arm64

package confine

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// What a probe looks for it finds where nothing was entered.
func TestCheckFindsNothingEntered(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := check(own, os.Getpid()); err == nil || !strings.Contains(err.Error(), "is not refused") {
		t.Error(err)
	}
}

// A trial that takes too long says so, and does not count.
func TestProbeBounds(t *testing.T) {
	if err := try(t.Context(), None, Options{Patience: time.Nanosecond}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	for _, a := range Probe(ended, Options{}) {
		if a.Err == nil {
			t.Errorf("%s was entered by a probe that was called off", a.Tier)
		}
	}
}
