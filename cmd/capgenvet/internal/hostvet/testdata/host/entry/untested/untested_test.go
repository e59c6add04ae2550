package untested

import (
	"testing"

	"example.com/host/app"
)

func helper(t *testing.T) {
	if err := app.Run(); err != nil {
		t.Fatal(err)
	}
}

func TestNothing(t *testing.T) {}

func TestServer(t *testing.T) { // want `TestServer starts workers, by .*, so the package needs a TestMain`
	t.Run("x", helper)
}

func BenchmarkServer(b *testing.B) { app.Run() }
