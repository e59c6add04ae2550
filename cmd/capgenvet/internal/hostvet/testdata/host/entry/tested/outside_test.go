package tested_test

import (
	"testing"

	"example.com/host/app"
	_ "example.com/host/entry/tested"
)

// TestMain of the package itself is that of this test, too.
func TestOutside(t *testing.T) {
	if err := app.Run(); err != nil {
		t.Fatal(err)
	}
}
