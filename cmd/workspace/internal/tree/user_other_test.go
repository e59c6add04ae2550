//go:build unix && !linux

package tree_test

import (
	"os"
	"testing"
)

func unprivileged(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser may read everything, and only Linux lets a thread be somebody else")
	}
}
