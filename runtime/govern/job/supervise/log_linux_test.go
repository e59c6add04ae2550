package supervise

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is served of a log is its end, without what a reader must not or cannot
// see.
func TestTail(t *testing.T) {
	state := filepath.Join(t.TempDir(), "a state")
	dir := filepath.Join(state, "jobs", "job_1")
	if err := os.MkdirAll(filepath.Join(dir, logsName), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text      string
		n         int64
		want      string
		truncated bool
	}{
		{"", 100, "", false},
		{"one\ntwo\tthree\n", 100, "one\ntwo\tthree\n", false},
		{"one\ntwo\nthree\n", 8, "three\n", true},
		{"one\ntwo", 0, "", true},
		{"one\ntwo", -1, "", true},
		{"abcdefgh", 3, "fgh", true},
		{"/home/someone/secret\nx", 10, "x", true},
		{"\x1b[2J\u202eevil\r\xff\n", 100, "\\u001b[2J\\u202eevil\\u000d\\ufffd\n", false},
		{`File "` + dir + `/box/code/main.py" in ` + state + "/key\n", 1000, "File \"<path>/box/code/main.py\" in <path>/key\n", false},
		{"open /etc/passwd: no; see https://example.org/x and ./out\n", 100, "open <path>: no; see https://example.org/x and ./out\n", false},
	} {
		if err := os.WriteFile(logPath(dir, Stderr), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Tail(dir, Stderr, c.n)
		if err != nil || got.Text != c.want || got.Truncated != c.truncated || got.Size != int64(len(c.text)) || got.Name != Stderr {
			t.Errorf("%q: %+v, %v, want %q", c.text, got, err, c.want)
		}
	}
	if err := os.WriteFile(logPath(dir, Stderr), []byte(strings.Repeat("x", MaxTail+10)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Tail(dir, Stderr, 1<<40); err != nil || len(got.Text) != MaxTail || !got.Truncated {
		t.Errorf("%d bytes, %v", len(got.Text), err)
	}
	if got, err := Tail(dir, Stdout, 10); err != nil || got.Text != "" || got.Size != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := Tail(dir, "../alive", 10); err == nil {
		t.Error("any file can be read")
	}
	if err := os.Symlink("/etc/passwd", logPath(dir, Stdout)); err != nil {
		t.Fatal(err)
	}
	if got, err := Tail(dir, Stdout, 10); err == nil {
		t.Errorf("a link was followed: %+v", got)
	}
	if err := os.Mkdir(logPath(dir, Supervisor), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := Tail(dir, Supervisor, 10); err == nil {
		t.Errorf("a directory was read: %+v", got)
	}
}

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\u202e":           `a\u000ab\u202e`,
		"at /srv/state/x: no":  "at <path>: no",
		strings.Repeat("ä", 5): "äääää",
	} {
		if got := line(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if got := line("x" + strings.Repeat("ä", maxMessage)); len(got) > maxMessage+10 || !strings.HasSuffix(got, " ...") {
		t.Errorf("%d bytes", len(got))
	}
}
