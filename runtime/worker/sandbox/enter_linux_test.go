//go:build amd64 || arm64

package sandbox

import (
	"slices"
	"testing"
)

// The order matters: the bound of the address space is read from /proc before
// Landlock closes it, and the filter, which refuses what all others need, comes
// last, when no_new_privs permits it.
func TestOrder(t *testing.T) {
	want := []Layer{"descriptors", "no_new_privs", "rlimits", "address_space", "landlock", "seccomp"}
	if got := Layers(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
