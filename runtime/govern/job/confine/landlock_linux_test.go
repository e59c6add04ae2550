//go:build amd64 || arm64

package confine

import (
	"errors"
	"testing"
)

// Where Landlock alone keeps a candidate from files it has to keep it from truncating
// them.
func TestLandlockSuffices(t *testing.T) {
	for version := range 8 {
		err := Spec{Tier: Landlock}.suffices(version)
		if enough := version >= 3; enough != (err == nil) || !enough && !errors.Is(err, ErrUnsupported) {
			t.Errorf("version %d: %v", version, err)
		}
		if err := (Spec{Tier: Namespaces}).suffices(version); err != nil {
			t.Errorf("version %d beside a root that is read-only: %v", version, err)
		}
	}
}
