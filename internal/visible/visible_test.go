package visible

import (
	"strconv"
	"testing"
)

func TestText(t *testing.T) {
	for s, want := range map[string]string{
		"plain, ä, 日本":             "plain, ä, 日本",
		"a\u202eb\u200b\x1b[2J":    `a\u202eb\u200b\u001b[2J`,
		"\U000e0041\u2800\ufe0f":   `\U000e0041\u2800\ufe0f`,
		"line\nbreak \xff":         `line\u000abreak \ufffd`,
		"\u00a0\u2028\u3164\u00ad": `\u00a0\u2028\u3164\u00ad`,
	} {
		if got := Text(s); got != want {
			t.Errorf("%+q is %s, want %s", s, got, want)
		}
	}
}

// What Quote writes is readable, and means what it was made of.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "plain", `"q" \`, "\n//go:generate x", "\u202e\u3164\ufeff", "\xff\"", "日本", "\U000e0041"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := Quote(s)
		if got, err := strconv.Unquote(quoted); err != nil || got != s {
			t.Fatalf("%s means %q, %v", quoted, got, err)
		}
		for _, r := range quoted {
			if !Readable(r) {
				t.Fatalf("%s holds %U", quoted, r)
			}
		}
	})
}
