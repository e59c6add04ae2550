package govern

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/capgen/capgen/runtime"
)

func TestRefusal(t *testing.T) {
	r := refuse(StaleState, "the target %s has changed", "/srv/strategies/momentum").suggest("prepare it again").because(fs.ErrPermission)
	if got := r.Error(); got != "govern: [stale_state] the target <path> has changed; prepare it again" {
		t.Error(got)
	}
	err := fmt.Errorf("apply: %w", r)
	if !errors.Is(err, runtime.ErrorCode("stale_state")) || !errors.Is(err, fs.ErrPermission) {
		t.Error("neither a code that programs see, nor a cause")
	}
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		`open /srv/state/store.sqlite: denied`:         `open <path>: denied`,
		`stage "/srv/a b": no`:                         `stage "<path> b": no`,
		`C:\state\keys, \\host\share and d:/x`:         `<path>, <path> and <path>`,
		`see https://example.com/a/b and lib/entry.py`: `see https://example.com/a/b and lib/entry.py`,
		`(/etc/passwd) =/etc/shadow a/b 1/2 ./x ../y`:  `(<path>) =<path> a/b 1/2 ./x ../y`,
		`root=/a;/b`: `root=<path>;<path>`,
	} {
		if got := redact(text); got != want {
			t.Errorf("%s\nis   %s\nwant %s", text, got, want)
		}
	}
}

// TestCodesAreDisclosed: a program sees every code as it is.
func TestCodesAreDisclosed(t *testing.T) {
	seen := map[Code]bool{}
	for _, c := range Codes() {
		if seen[c] || !errors.Is(refuse(c, "x"), runtime.ErrorCode(c)) || strings.Trim(string(c), "abcdefghijklmnopqrstuvwxyz_") != "" {
			t.Errorf("%q", c)
		}
		seen[c] = true
	}
}
