package runner

import (
	"os"
	"testing"

	"github.com/capgen/capgen/runtime/govern/job/scope"
)

func TestMain(m *testing.M) {
	scope.ServeKeeperAndExit()
	spoil()
	ServeStarlarkAndExit()
	os.Exit(m.Run())
}
