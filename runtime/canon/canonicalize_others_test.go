package canon_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	others "github.com/capgen/capgen/internal/oracle"
	"github.com/capgen/capgen/runtime/canon"
)

// randomJSON writes a value as nobody would, and now and then no JSON at all.
func randomJSON(r *rand.Rand, b *strings.Builder, levels int) {
	pick := func(texts ...string) { b.WriteString(texts[r.IntN(len(texts))]) }
	pick("", "", "", " ", "\n\t")
	switch n := r.IntN(10); {
	case n == 0:
		pick("null", "true", "false", "nul", "True")
	case n < 4:
		pick("0", "-0", "1", "-1.5", "1e2", "1E+2", "100e-2", "0.1", "1e-7", "123456789012345678", "9007199254740991", "9007199254740992", "1e21", "1e20", "5e-324", "1e400", "-1e999999999", "01", "1.", "0.000001", "1e23", "4.35", "0.002", strconv.FormatFloat(r.NormFloat64(), 'g', -1, 64))
	case n < 7 || levels == 0:
		b.WriteByte('"')
		for range r.IntN(4) {
			pick("a", "é", "😀", `\n`, `\u0000`, `\u001f`, `\u2028`, `\/`, `\"`, `\\`, `\ud83d\ude00`, "<", "\x7f", "\ufeff", "\ufffd", `\u00e9`, `\uD83D\uDE00`)
			if r.IntN(40) == 0 {
				pick(`\ud800`, "\xff", "\n", `\x`)
			}
		}
		b.WriteByte('"')
	default:
		list := n == 7
		b.WriteString(map[bool]string{true: "[", false: "{"}[list])
		for i := range r.IntN(5) {
			if i > 0 {
				b.WriteByte(',')
			}
			if !list {
				pick(`"`, `"`, `"😀`, `"\ufb33`, `"é`, `"\u0061`)
				b.WriteString(strconv.Itoa(r.IntN(6)))
				b.WriteString(`" :`)
			}
			randomJSON(r, b, levels-1)
		}
		b.WriteString(map[bool]string{true: "]", false: "}"}[list])
	}
	pick("", "", "", "\r")
}

// CanonicalizeJSON takes what others call strict JSON, but for integers that
// are rounded, and writes what they write.
func TestCanonicalizeAgreesWithOthers(t *testing.T) {
	r := rand.New(rand.NewPCG(8785, 1))
	counts := map[string]int{}
	for range 20_000 {
		var b strings.Builder
		randomJSON(r, &b, 4)
		text := []byte(b.String())
		got, err := canon.CanonicalizeJSON(nil, text, 3)
		v, other := others.Read(text, 3)
		var e *canon.Error
		if refusal := (*others.Refusal)(nil); errors.As(other, &refusal) {
			counts[refusal.Why]++
			if err == nil {
				t.Fatalf("%q is accepted in spite of %v", text, refusal)
			}
			continue
		}
		if other != nil {
			t.Fatal(other)
		}
		if errors.As(err, &e) && e.Code == canon.CodeRange && strings.Contains(e.Message, "9007199254740991") {
			counts["rounded"]++
			continue
		}
		want, other := others.Bytes(v)
		if err != nil || other != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q: %s, %v; others write %s, %v", text, got, err, want, other)
		}
		counts["written"]++
	}
	for _, what := range []string{"written", "rounded", "depth", "no JSON", "a member twice", "a number that overflows", "half a surrogate pair", "invalid UTF-8"} {
		if counts[what] == 0 {
			t.Errorf("no text was %s", what)
		}
	}
	t.Logf("%v", counts)
}
