//go:build !race

package govern

import "testing"

// singleThreaded skips nothing here: see race_test.go.
func singleThreaded(*testing.T) {}
