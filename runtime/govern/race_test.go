//go:build race

package govern

import "testing"

// singleThreaded skips a test of one goroutine, which the race detector makes
// ten times as slow and can find nothing in.
func singleThreaded(t *testing.T) { t.Skip("of one goroutine: make test runs it") }
