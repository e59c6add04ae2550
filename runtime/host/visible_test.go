package host

import "testing"

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"é ' \" \\ 💩":                       "é ' \" \\ 💩",
		"a\x1b[31mb\nworkspace: \u009b0m\r": `a\x1b[31mb\nworkspace: \u009b0m\r`,
		"x\u202ey\u2066":                    `x\u202ey\u2066`,
		"\xff":                              "\xff",
		"\xff\n":                            "\ufffd\\n",
	} {
		if got := visible(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
