package canon

import "testing"

// Frames hold 32-bit numbers: a longer input is refused before it is read.
func TestInputBeyondFramesIsRefused(t *testing.T) {
	r := &Reader{data: []byte("1"), ready: true}
	if r.checkSize(maxInput); r.err != nil {
		t.Error(r.err)
	}
	if r.checkSize(maxInput + 1); r.err == nil || r.err.Code != CodeSize || r.Int(0, 9) != 0 {
		t.Errorf("%v", r.err)
	}
	if got := short(maxInput + 1); got != maxInput {
		t.Errorf("a bound beyond it is %d", got)
	}
}
