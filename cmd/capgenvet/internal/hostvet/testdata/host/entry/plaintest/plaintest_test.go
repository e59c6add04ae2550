package plaintest

import (
	"os"
	"testing"
)

// No test builds a server, so TestMain may do anything.
func TestMain(m *testing.M) {
	os.Setenv("X", "1")
	os.Exit(m.Run())
}

func TestNothing(t *testing.T) {}
