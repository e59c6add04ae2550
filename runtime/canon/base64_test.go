package canon_test

import (
	"encoding/base64"
	"math"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime/canon"
)

type blob []byte

func (v *blob) Decode(r *canon.Reader) error {
	*v = r.Base64(0, math.MaxInt)
	return r.Err()
}

func (v *blob) Encode(w *canon.Writer) { w.Base64(*v, 0, math.MaxInt) }

func TestBase64(t *testing.T) {
	for text, want := range map[string]string{
		`""`: "", `"AA=="`: "\x00", `"/+8="`: "\xff\xef", `"AAAA"`: "\x00\x00\x00", `"\u0041A=="`: "\x00",
	} {
		var v blob
		if err := v.Decode(canon.NewJSONReader([]byte(text), 0)); err != nil || string(v) != want {
			t.Errorf("%s is %q, %v; want %q", text, v, err, want)
		}
		if v == nil != (want == "") {
			t.Errorf("%s is nil: %v", text, v == nil)
		}
	}
	const bad = "expected base64 text with padding (RFC 4648 section 4)"
	for text, want := range map[string]string{
		`"AA"`: bad, `"AA="`: bad, `"AB=="`: bad, `"AAB="`: bad, `"A"`: bad, `"===="`: bad, `"AA==AA=="`: bad,
		`"_-8="`: bad, `"AA\n=="`: bad, `"AAAA\r\n"`: bad, `" AAAA"`: bad, `"AA=\n="`: bad, `"é==="`: bad,
		`5`: "expected string, got integer", `null`: "expected string, got null",
	} {
		var v blob
		if err := v.Decode(canon.NewJSONReader([]byte(text), 0)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	r := canon.NewJSONReader([]byte(`"AAAAAAAA"`), 0)
	if r.Base64(0, 4); r.Err() == nil || r.Err().Error() != "expected at most 4 base64 characters, got 8" {
		t.Error(r.Err())
	}
	w := canon.NewWireWriter(nil)
	if w.Base64(make([]byte, 4), 0, 4); w.Err() == nil || w.Err().Error() != "expected at most 4 base64 characters, got 8" {
		t.Error(w.Err())
	}
}

// FuzzBase64: a text is taken if and only if encoding gives it back.
func FuzzBase64(f *testing.F) {
	for _, text := range []string{"", "AA==", "AB==", "AA", "AA\n==", "/+8=", "_-8="} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w := canon.NewCanonicalWriter(nil)
		w.String(text, 0, math.MaxInt)
		if w.End() != nil {
			return
		}
		var v blob
		err := v.Decode(canon.NewJSONReader(w.Bytes(), 0))
		b, oracle := base64.StdEncoding.DecodeString(strings.NewReplacer("\r", "!", "\n", "!").Replace(text))
		want := oracle == nil && base64.StdEncoding.EncodeToString(b) == text
		if (err == nil) != want || canon.ValidBase64(text) != want {
			t.Fatalf("%q: %v, want %v", text, err, want)
		}
		if err == nil && string(canon.AppendCanonical(nil, &v)) != string(w.Bytes()) {
			t.Errorf("%q is written as %s", text, canon.AppendCanonical(nil, &v))
		}
	})
}
