package latetest

import (
	"os"
	"testing"

	"example.com/host/app"
	"github.com/capgen/capgen/runtime"
)

func TestMain(m *testing.M) { // want `first statement of TestMain must be`
	code := m.Run()
	runtime.ServeWorkerAndExit()
	os.Exit(code)
}

func FuzzServer(f *testing.F) {
	f.Fuzz(func(t *testing.T, n int) { app.Run() })
}
