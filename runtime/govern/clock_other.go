//go:build !linux

package govern

import (
	"time"

	"github.com/capgen/capgen/runtime/govern/token"
)

// now is the moment by the wall clock alone.
func now() token.Instant { return token.Instant{Wall: time.Now().UTC()} }
