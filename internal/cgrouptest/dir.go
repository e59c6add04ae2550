package cgrouptest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Dir is a new control group of version 2 in which this process may make others,
// with these controllers; it goes with the test. An error is that none can be had
// here.
func Dir(t testing.TB, controllers ...string) (string, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", fmt.Errorf("cgrouptest: %w", err)
	}
	for line := range strings.Lines(string(mounts)) {
		before, after, _ := strings.Cut(line, " - ")
		if fields := strings.Fields(before); len(fields) > 4 && strings.HasPrefix(after, "cgroup2 ") {
			dir, err := os.MkdirTemp(fields[4], "capgen-test-")
			if err != nil {
				return "", fmt.Errorf("cgrouptest: groups cannot be made here: %w", err)
			}
			t.Cleanup(func() {
				// The kernel takes its time with what has just been killed.
				for began := time.Now(); os.Remove(dir) != nil && time.Since(began) < 5*time.Second; {
					time.Sleep(time.Millisecond)
				}
			})
			has, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
			if err != nil {
				return "", fmt.Errorf("cgrouptest: %w", err)
			}
			for _, c := range controllers {
				if !slices.Contains(strings.Fields(string(has)), c) {
					return "", fmt.Errorf("cgrouptest: the controller %s is not passed on to groups here; make vm boots a machine that does", c)
				}
			}
			return dir, nil
		}
	}
	return "", errors.New("cgrouptest: no control groups of version 2 are mounted")
}
