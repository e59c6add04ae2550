package canon

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf16"
)

func TestCompareKeys(t *testing.T) {
	sorted := []string{
		"", "\x00", "\r", "1", "A", "a", "aa", "ab", "b", "\u0080", "ö", "€", "\ud7ff",
		"\U00010000", "😀", "😀a", "\U0010ffff", "\ue000", "\ufb33", "\uffff", "\uffff\U00010000", "\uffff\ue000",
	}
	for i, a := range sorted {
		for j, b := range sorted {
			got := CompareKeys(a, b)
			if (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("CompareKeys(%q, %q) = %d", a, b, got)
			}
		}
	}
	rng := rand.New(rand.NewPCG(7, 8))
	pool := []rune("ab\u0080\u07ff\u0800\ud7ff\ue000\ufeff\uffff\U00010000\U0001f600\U0010ffff")
	random := func() string {
		s := make([]rune, rng.IntN(6))
		for i := range s {
			s[i] = pool[rng.IntN(len(pool))]
		}
		return string(s)
	}
	for range 50_000 {
		a, b := random(), random()
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		if got := CompareKeys(a, b); (got < 0) != (want < 0) || (got > 0) != (want > 0) {
			t.Fatalf("CompareKeys(%q, %q) = %d, want %d", a, b, got, want)
		}
	}
}
