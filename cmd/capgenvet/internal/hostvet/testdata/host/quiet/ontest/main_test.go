package main

import (
	"os"
	"testing"

	_ "example.com/dep/env"
	"github.com/capgen/capgen/runtime"
)

// What only tests link is not in the host.
func TestMain(m *testing.M) {
	runtime.ServeWorkerAndExit()
	os.Exit(m.Run())
}
