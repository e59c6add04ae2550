package worker

import "testing"

// The program that nobody sees must not fail where nobody sees it.
func TestWarmUp(t *testing.T) {
	r, f := warm()
	if f != nil || len(r.Value) == 0 {
		t.Errorf("%v, %v", r, f)
	}
}
