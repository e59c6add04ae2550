package fault

import "testing"

func TestCallables(t *testing.T) {
	for _, c := range []struct{ message, callables, rest string }{
		{InCallable(3, "no"), "callable 3 of parallel: ", "no"},
		{InCallable(0, InCallable(12, "no")), "callable 12 of callable 0 of parallel: ", "no"},
		{InCallable(5, InCallable(0, InCallable(12, "no"))), "callable 12 of callable 0 of callable 5 of parallel: ", "no"},
		{"no", "", "no"}, {"", "", ""}, {InCallable(1, ""), "callable 1 of parallel: ", ""},
		{"callable 00 of parallel: no", "", "callable 00 of parallel: no"},
		{"callable -1 of parallel: no", "", "callable -1 of parallel: no"},
		{"callable x of parallel: no", "", "callable x of parallel: no"},
		{"callable 1 of parallel:no", "", "callable 1 of parallel:no"},
	} {
		if callables, rest := Callables(c.message); callables != c.callables || rest != c.rest {
			t.Errorf("%q: %q and %q", c.message, callables, rest)
		}
	}
}
