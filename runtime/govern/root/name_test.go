package root

import "testing"

func TestFolded(t *testing.T) {
	for _, pair := range [][2]string{{"README", "readme"}, {"Straße", "STRASSE"}, {"É", "é"}} {
		if Folded(pair[0]) != Folded(pair[1]) {
			t.Errorf("%q and %q stay apart", pair[0], pair[1])
		}
	}
	if Folded("a") == Folded("b") {
		t.Error("a and b are one")
	}
}
