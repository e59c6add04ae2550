//go:build amd64 || arm64

package confine

import "slices"

// EnterWithout enters a tier without some of its layers, for tests that show what
// each is for.
func (s Spec) EnterWithout(without ...string) error {
	return s.enter(slices.DeleteFunc(s.layers(), func(l layer) bool { return slices.Contains(without, string(l)) }))
}
