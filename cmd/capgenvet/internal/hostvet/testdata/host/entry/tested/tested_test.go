package tested

import (
	"os"
	"testing"

	"example.com/host/app"
	"github.com/capgen/capgen/runtime"
)

func TestMain(m *testing.M) {
	runtime.ServeWorkerAndExit()
	os.Exit(m.Run())
}

func TestServer(t *testing.T) {
	if err := app.Run(); err != nil {
		t.Fatal(err)
	}
}
