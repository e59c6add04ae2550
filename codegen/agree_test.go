package codegen_test

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/capgen/capgen/internal/oracle"
	"github.com/capgen/capgen/runtime/canon"
)

// agree has the decoder and the oracle judge a text, whatever it is, and checks
// all that follows when they accept it. It reports whether they do.
func (s *subject) agree(t testing.TB, text []byte) bool {
	t.Helper()
	v, decodeErr := s.decode(canon.NewJSONReader(text, depth))
	var e *canon.Error
	if decodeErr != nil && !errors.As(decodeErr, &e) {
		t.Fatalf("%s: %q: %v", s.name, text, decodeErr)
	}
	instance, err := oracle.Read(text, depth)
	if refusal := (*oracle.Refusal)(nil); errors.As(err, &refusal) {
		if e == nil {
			t.Errorf("%s: OVER-ACCEPTED %.300q: %v", s.name, text, refusal)
		}
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	found := s.judge.Judge(instance)
	rounds := e != nil && e.Code == canon.CodeType && e.Offset < len(text) && oracle.RoundsToInteger(text[e.Offset:])
	switch {
	case e == nil && len(found) > 0:
		t.Errorf("%s: OVER-ACCEPTED %.300q: %v", s.name, text, found)
	case e != nil && len(found) == 0 && !rounds:
		t.Errorf("%s: refused %.300q: %v", s.name, text, e)
	case e != nil && !rounds && !oracle.Explains(found, e):
		t.Errorf("%s: %.300q: %v (%s) is not among %v", s.name, text, e, e.Code, found)
	case e == nil:
		s.roundTrip(t, v, instance)
	}
	return e == nil
}

// spoilt are ways to make strict JSON of an object something else, or to leave
// it what it is.
func spoilt() map[string]func(text string) string {
	before := func(s string) func(string) string { return func(text string) string { return s + text } }
	after := func(s string) func(string) string { return func(text string) string { return text + s } }
	inside := func(s string) func(string) string { return func(text string) string { return "{" + s + text[1:] } }
	return map[string]func(string) string{
		"a byte order mark":    before("\xef\xbb\xbf"),
		"UTF-16":               func(text string) string { return "\xff\xfe" + strings.Join(strings.Split(text, ""), "\x00") + "\x00" },
		"a comment before":     before("/* x */"),
		"a comment behind":     after("// x\n"),
		"a comment inside":     inside("/**/"),
		"a # comment":          after("\n# x"),
		"no-break space":       before("\u00a0"),
		"a form feed":          before("\f"),
		"a NUL behind":         after("\x00"),
		"a second value":       after(" {}"),
		"a comma behind":       after(","),
		"a bracket behind":     after("}"),
		"cut":                  func(text string) string { return text[:len(text)-1] },
		"nothing":              func(string) string { return "" },
		"space only":           func(string) string { return " \n" },
		"a trailing comma":     func(text string) string { return text[:len(text)-1] + ",}" },
		"a leading comma":      inside(","),
		"no colon":             inside(`"x" 1,`),
		"no quotes":            inside(`x:1,`),
		"other quotes":         inside(`'x':1,`),
		"a member twice":       inside(`"\u0061b":1,"ab":1,`),
		"invalid UTF-8":        inside("\"\xff\":1,"),
		"overlong UTF-8":       inside("\"\xc0\xaf\":1,"),
		"a surrogate in UTF-8": inside("\"\xed\xa0\x80\":1,"),
		"half a pair":          inside(`"\ud800":1,`),
		"halves in reverse":    inside(`"\udc00\ud800":1,`),
		"a line end in text":   inside("\"\n\":1,"),
		"an unknown escape":    inside(`"\x41":1,`),
		"a short escape":       inside(`"\u12":1,`),
		"NaN":                  inside(`"x":NaN,`),
		"infinity":             inside(`"x":-Infinity,`),
		"a plus":               inside(`"x":+1,`),
		"a leading zero":       inside(`"x":01,`),
		"a bare point":         inside(`"x":.5,`),
		"a point at the end":   inside(`"x":5.,`),
		"a hexadecimal":        inside(`"x":0x1F,`),
		"an empty exponent":    inside(`"x":1e,`),
		"an overflow":          inside(`"x":1e400,`),
		"a huge exponent":      inside(`"x":-1e999999999,`),
		"a capital":            inside(`"x":True,`),
		"undefined":            inside(`"x":undefined,`),
	}
}

// What is not strict JSON is refused by every decoder, wherever it stands.
func TestNotStrictJSONIsRefused(t *testing.T) {
	m := &maker{Rand: rand.New(rand.NewPCG(3, 4)), patterns: map[string]*regexp.Regexp{}}
	texts := 0
	for _, s := range subjects(t, m) {
		text := string(m.valid(s.schema, 3).appendJSON(nil))
		if len(text) == 2 {
			text = `{"x":0}` // a comma needs a neighbour
		}
		for name, spoil := range spoilt() {
			bad := []byte(spoil(text))
			var refusal *oracle.Refusal
			if _, err := oracle.Read(bad, depth); !errors.As(err, &refusal) {
				t.Fatalf("%s: the oracle takes %s: %q, %v", s.name, name, bad, err)
			}
			s.agree(t, bad)
			texts++
		}
		for _, space := range []string{" ", "\t", "\r\n"} {
			s.agree(t, []byte(space+"{"+space+text[1:]+space))
			texts++
		}
	}
	t.Logf("%d texts", texts)
}

// FuzzDecodersAgree: of any text generated decoders and the oracle think alike,
// and what they accept has one canonical form.
func FuzzDecodersAgree(f *testing.F) {
	m := &maker{Rand: rand.New(rand.NewPCG(3, 5)), patterns: map[string]*regexp.Regexp{}}
	all := subjects(f, m)
	for i, s := range all {
		for range 3 {
			f.Add(byte(i), m.valid(s.schema, 4).appendJSON(nil))
		}
	}
	for _, spoil := range spoilt() {
		f.Add(byte(0), []byte(spoil(`{"x":0}`)))
	}
	f.Fuzz(func(t *testing.T, which byte, text []byte) {
		all[int(which)%len(all)].agree(t, text)
	})
}
