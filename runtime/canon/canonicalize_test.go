package canon_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/capgen/capgen/runtime/canon"
)

func TestCanonicalizeJSON(t *testing.T) {
	for text, want := range map[string]string{
		` null `: `null`, `true`: `true`, `"\u0041\/"`: `"A/"`,
		`[ 1 , 1.0, 1e0, -0.0, 1E-7, 0.000001, 1e21 , 333333333.33333329]`: `[1,1,1,0,1e-7,0.000001,1e+21,333333333.3333333]`,
		`{"b":1,"a":{"d":[],"c":{}},"":2}`:                                 `{"":2,"a":{"c":{},"d":[]},"b":1}`,
		`{"\ufb33":1,"\ud83d\ude00":2,"\u20ac":3,"\u00f6":4,"\r":5,"1":6}`: "{\"\\r\":5,\"1\":6,\"ö\":4,\"€\":3,\"😀\":2,\"\ufb33\":1}",
		`{"b":{"b":{"b":1,"a":2},"a":3},"a":4}`:                            `{"a":4,"b":{"a":3,"b":{"a":2,"b":1}}}`,
		`9007199254740991`:                                                 `9007199254740991`, `9007199254740991.4`: `9007199254740991`,
	} {
		got, err := canon.CanonicalizeJSON([]byte("x"), []byte(text), 8)
		if err != nil || string(got) != "x"+want {
			t.Errorf("%s: got %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestCanonicalizeJSONErrors(t *testing.T) {
	for text, want := range map[string]string{
		``:                               "unexpected end of input",
		`[1]]`:                           "unexpected data after the value",
		`{"a":[{"b":9007199254740992}]}`: "a[0].b: expected an integer from -9007199254740991 to 9007199254740991, got 9007199254740992",
		`[-9007199254740993]`:            "[0]: expected an integer from -9007199254740991 to 9007199254740991, got -9007199254740993",
		`[1e20]`:                         "[0]: expected an integer from -9007199254740991 to 9007199254740991, got 1e20",
		`[12345678901234567890.5]`:       "[0]: expected an integer from -9007199254740991 to 9007199254740991, got 12345678901234567890.5",
		`1000000000000000000000000`:      "expected an integer from -9007199254740991 to 9007199254740991, got 1000000000000000000000000",
		`{"a":1e400}`:                    "a: expected a number in the range of a 64-bit float, got 1e400",
		`{"a":{"x":1,"b":2,"\u0078":3}}`: "a.x: given twice",
		`{"b":1,"a":2,"b":3,"a":4}`:      "a: given twice",
		`[[[[0]]]]`:                      "[0][0][0]: nested deeper than 3 levels",
		`["\udead"]`:                     "[0]: half a surrogate pair in a string",
		`[nil]`:                          "[0]: expected the literal null",
	} {
		got, err := canon.CanonicalizeJSON([]byte("x"), []byte(text), 3)
		if err == nil || err.Error() != want || string(got) != "x" {
			t.Errorf("%s: got %s, %v; want %s", text, got, err, want)
		}
	}
}

// oracle is RFC 8785 over encoding/json's tree: for texts that it and
// CanonicalizeJSON both accept the bytes must be equal.
func oracle(text []byte) (string, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", err
	}
	var b strings.Builder
	err := oracleValue(&b, v)
	return b.String(), err
}

func oracleValue(b *strings.Builder, v any) error {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		fmt.Fprint(b, v)
	case json.Number:
		f, err := strconv.ParseFloat(v.String(), 64)
		if err != nil {
			return err
		}
		if f == 0 {
			f = 0 // −0
			b.WriteString("0")
			return nil
		}
		text, err := json.Marshal(f)
		b.Write(text)
		return err
	case string:
		oracleString(b, v)
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := oracleValue(b, e); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case map[string]any:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.SortFunc(keys, func(a, c string) int {
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(c)))
		})
		b.WriteByte('{')
		for i, key := range keys {
			if i > 0 {
				b.WriteByte(',')
			}
			oracleString(b, key)
			b.WriteByte(':')
			if err := oracleValue(b, v[key]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	}
	return nil
}

func oracleString(b *strings.Builder, s string) {
	short := map[rune]string{'\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`, '"': `\"`, '\\': `\\`}
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case short[c] != "":
			b.WriteString(short[c])
		case c < 0x20:
			fmt.Fprintf(b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
}
