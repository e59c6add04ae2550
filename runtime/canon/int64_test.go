package canon_test

import (
	"bytes"
	"math"
	"math/big"
	"testing"

	"github.com/capgen/capgen/runtime/canon"
)

type wide int64

func (v *wide) Decode(r *canon.Reader) error {
	*v = wide(r.Int64(math.MinInt64, math.MaxInt64))
	return r.Err()
}

func (v *wide) Encode(w *canon.Writer) { w.Int64(int64(*v), math.MinInt64, math.MaxInt64) }

func TestInt64IsExact(t *testing.T) {
	for _, test := range []struct {
		v    wide
		want string
	}{
		{0, `"0"`}, {-1, `"-1"`}, {1 << 53, `"9007199254740992"`}, {1<<53 + 1, `"9007199254740993"`},
		{math.MaxInt64, `"9223372036854775807"`}, {math.MinInt64, `"-9223372036854775808"`},
	} {
		text := canon.AppendCanonical(nil, &test.v)
		if string(text) != test.want {
			t.Errorf("got %s, want %s", text, test.want)
		}
		wire, err := canon.AppendWire(nil, &test.v)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []*canon.Reader{canon.NewJSONReader(text, 0), canon.NewWireReader(wire, 0)} {
			var again wide
			if err := again.Decode(r); err != nil || r.End() != nil || again != test.v {
				t.Errorf("%s reads as %d, %v", text, again, err)
			}
		}
	}
}

func TestInt64Refuses(t *testing.T) {
	for text, want := range map[string]string{
		`5`:                       "expected string, got integer",
		`null`:                    "expected string, got null",
		`""`:                      `expected the decimal digits of an integer, got ""`,
		`"-"`:                     `expected the decimal digits of an integer, got "-"`,
		`"-0"`:                    `expected the decimal digits of an integer, got "-0"`,
		`"05"`:                    `expected the decimal digits of an integer, got "05"`,
		`"+5"`:                    `expected the decimal digits of an integer, got "+5"`,
		`" 5"`:                    `expected the decimal digits of an integer, got " 5"`,
		`"5.0"`:                   `expected the decimal digits of an integer, got "5.0"`,
		`"1e2"`:                   `expected the decimal digits of an integer, got "1e2"`,
		`"٣"`:                     `expected the decimal digits of an integer, got "٣"`,
		`"9223372036854775808"`:   "expected an integer from -9223372036854775808 to 9223372036854775807, got 9223372036854775808",
		`"-9223372036854775809"`:  "expected an integer from -9223372036854775808 to 9223372036854775807, got -9223372036854775809",
		`"100000000000000000000"`: "expected an integer from -9223372036854775808 to 9223372036854775807, got 100000000000000000000",
	} {
		var v wide
		if err := v.Decode(canon.NewJSONReader([]byte(text), 0)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	w := canon.NewCanonicalWriter(nil)
	if w.Int64(10, 0, 9); w.Err() == nil || w.Err().Error() != "expected an integer from 0 to 9, got 10" {
		t.Error(w.Err())
	}
}

// FuzzInt64: a text is taken if and only if it is the one form of an integer
// of 64 bits, as package big sees it.
func FuzzInt64(f *testing.F) {
	for _, text := range []string{"0", "-0", "12", "-9223372036854775808", "9223372036854775808", "٣", "1_0"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		w := canon.NewCanonicalWriter(nil)
		w.String(string(text), 0, math.MaxInt)
		if w.End() != nil {
			return
		}
		var v wide
		err := v.Decode(canon.NewJSONReader(w.Bytes(), 0))
		n, ok := new(big.Int).SetString(string(text), 10)
		want := ok && n.IsInt64() && n.String() == string(text)
		if (err == nil) != want {
			t.Fatalf("%q: %v", text, err)
		}
		if err == nil && !bytes.Equal(canon.AppendCanonical(nil, &v), w.Bytes()) {
			t.Errorf("%q is written as %s", text, canon.AppendCanonical(nil, &v))
		}
	})
}
