package codegen_test

import (
	"bytes"

	"github.com/capgen/capgen/runtime/canon"
)

// repeats tells whether the last item of a list stands in it before, as the
// canonical form of any JSON sees it. What has no such form repeats nothing.
func (s *sample) repeats() bool {
	form := func(item *sample) []byte {
		b, err := canon.CanonicalizeJSON(nil, item.appendJSON(nil), depth)
		if err != nil {
			return nil
		}
		return b
	}
	last := form(s.items[len(s.items)-1])
	for _, item := range s.items[:len(s.items)-1] {
		if last != nil && bytes.Equal(form(item), last) {
			return true
		}
	}
	return false
}
