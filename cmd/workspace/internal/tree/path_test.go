package tree

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCheckPath(t *testing.T) {
	for p, want := range map[string]string{
		".": "", "a": "", "a/b.c": "", "a b/ü": "", "...": "", "-": "", "c:x": "", "..a/b..": "",
		"":                            "empty",
		"/":                           "absolute",
		"/etc/passwd":                 "absolute",
		"//a":                         "absolute",
		"..":                          "..",
		"a/..":                        "..",
		"a/../b":                      "..",
		"../a":                        "..",
		"./a":                         "write a",
		"a/.":                         "write a",
		"a/":                          "write a",
		"a//b":                        "write a/b",
		`a\b`:                         "backslashes",
		`..\a`:                        "backslashes",
		"a\x00b":                      "control",
		"a\nb":                        "control",
		"a\x7f":                       "control",
		"a\u0085":                     "control",
		"a\xff":                       "UTF-8",
		"u\u0308":                     "Normalization",
		strings.Repeat("a", 4097):     "longer",
		strings.Repeat("a/", 40) + "": "write a/a",
	} {
		err := CheckPath(p)
		switch {
		case want == "" && err != nil:
			t.Errorf("%q is refused: %v", p, err)
		case want != "" && err == nil:
			t.Errorf("%q is accepted", p)
		case want != "" && !strings.Contains(err.Error(), want):
			t.Errorf("%q: %q does not say %q", p, err, want)
		}
	}
}

func TestDisplay(t *testing.T) {
	for p, want := range map[string]string{
		"a/b":      "a/b",
		"a\xffb":   `a\xffb`,
		`a\b`:      `a\\b`,
		"a\nb":     `a\x0ab`,
		"u\u0308":  `u\xcc\x88`,
		"ü\xff":    `ü\xff`,
		"a\u0085b": `a\xc2\x85b`,
	} {
		if got := display(p); got != want {
			t.Errorf("display(%q) = %q, want %q", p, got, want)
		}
	}
}

func FuzzPath(f *testing.F) {
	for _, p := range []string{".", "a/b", "a\xff", `a\b`, "u\u0308", "../x", "a//b", strings.Repeat("\x01", 5000)} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		shown := display(p)
		if !utf8.ValidString(shown) || len(shown) > maxDisplayBytes || hasControl(shown) {
			t.Fatalf("display(%q) = %q", p, shown)
		}
		if err := CheckPath(p); err == nil {
			if shown != p {
				t.Fatalf("display changes %q to %q", p, shown)
			}
			for segment := range strings.SplitSeq(p, "/") {
				if segment == "" || segment == ".." || segment == "." && p != "." {
					t.Fatalf("%q is accepted", p)
				}
			}
		} else if len(err.Error()) > 256 || !utf8.ValidString(err.Error()) {
			t.Fatalf("message %q", err)
		} else if shown != "" && nameable(shown) && len(p) <= MaxPathBytes && !strings.Contains(p, "/") && p != ".." {
			t.Fatalf("%q is refused but shown as %q, which is a path", p, shown)
		}
	})
}
