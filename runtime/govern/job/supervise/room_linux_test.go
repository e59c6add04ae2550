package supervise

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern/job"
)

// A candidate that fills its directories is ended while it does, or fails
// afterwards; what it left has no part in a result then.
func TestRoom(t *testing.T) {
	const endless = "; trap '' TERM; sleep 1000; sleep 1000"
	for _, c := range []struct {
		name, script string
		message      string // of a failure
	}{
		{"many files", `i=0; while :; do i=$((i+1)); : > tmp/$i; done`, "more than 200 files and directories"},
		{"in both", `for i in $(seq 120); do : > tmp/$i; : > out/$i; done` + endless, "more than 200 files and directories"},
		{"many directories", `mkdir -p out/$(seq -s / 80) tmp/$(seq -s / 80) out/x/$(seq -s / 80)` + endless, "more than 200 files and directories"},
		{"in one another", `for i in $(seq 110); do mkdir tmp/x; mv tmp/y tmp/x/y; mv tmp/x tmp/y; done 2> /dev/null` + endless, "more than 100 directories"},
		{"much together", `for i in $(seq 40); do head -c 100000 /dev/zero > tmp/$i; done` + endless, "more than 2000000 bytes"},
		{"hidden", `mkdir -p tmp/a; for i in $(seq 40); do head -c 100000 /dev/zero > tmp/a/$i; done; chmod 0 tmp/a tmp` + endless, "more than 2000000 bytes"},
		{"and over", `for i in $(seq 40); do head -c 100000 /dev/zero > tmp/$i; done`, "more than 2000000 bytes"},
		{"many, and over", `for i in $(seq 300); do : > out/$i; done`, "more than 200 files and directories"},
		{"holes", `truncate -s 1G tmp/x out/y; sleep 0.6`, ""},
		{"one file of many names", `head -c 100000 /dev/zero > tmp/x; for i in $(seq 100); do ln tmp/x tmp/$i; done; sleep 0.6`, ""},
		{"a link to much", `ln -s /usr tmp/usr; ln -s / out/all; sleep 0.6`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, "tree", "", answers+c.script)
			s.Limits.Disk, s.Limits.Entries = 2_000_000, 200
			r := s.run(t)
			last := r.Moves[len(r.Moves)-1]
			if c.message == "" {
				if r.State != job.Succeeded {
					t.Errorf("%s: %+v", r.State, last)
				}
				return
			}
			// Had it not been ended it would have had its time: 30 seconds.
			if r.State != job.Failed || last.Failure != job.FailLimit || !strings.Contains(last.Message, c.message) || last.Result != nil {
				own, _ := Tail(s.Dir, Supervisor, 1000)
				t.Errorf("%s: %+v; the supervisor says %q", r.State, last, own.Text)
			}
		})
	}
}

// What a candidate makes unreadable is counted by the account that owns it, and
// what changes meanwhile is no error.
func TestCount(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/b/c", "out", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r, err := openRoom(dir, Limits{Disk: 1 << 40, Entries: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	numbered := func(entries int) (int, error) {
		c := count{ctx: t.Context(), disk: 1 << 40, entries: entries, seen: map[uint64]bool{}}
		for _, top := range r.tops {
			if err := c.directory(top, 1); err != nil {
				return c.names, err
			}
		}
		return c.names, nil
	}
	if err := os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "tmp/a")); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0, 0o400, 0o100, 0o200} {
		for _, name := range []string{"tmp/a/b/c", "tmp/a/b", "tmp/a", "tmp"} {
			if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := numbered(3); n != 3 || err != nil {
			t.Errorf("mode %o: %d, %v", mode, n, err)
		}
		for _, name := range []string{"tmp", "tmp/a", "tmp/a/b", "tmp/a/b/c"} {
			if err := os.Chmod(filepath.Join(dir, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	var over *exceeded
	if n, err := numbered(2); n != 3 || !errors.As(err, &over) {
		t.Errorf("%d, %v", n, err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	done := make(chan struct{})
	go func() { // until ctx ends
		defer close(done)
		for i := 0; ctx.Err() == nil; i++ {
			name := filepath.Join(dir, "out", strconv.Itoa(i%50))
			os.MkdirAll(filepath.Join(name, "x", "y"), 0o700)
			os.Rename(name, filepath.Join(dir, "tmp", "moved"))
			os.RemoveAll(filepath.Join(dir, "tmp", "moved"))
			os.Symlink("/", name)
			os.Remove(name)
		}
	}()
	for ctx.Err() == nil {
		if _, err := numbered(1000); err != nil {
			t.Error(err)
			break
		}
	}
	<-done
}
