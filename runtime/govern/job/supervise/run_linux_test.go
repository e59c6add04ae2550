package supervise

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/scope"
)

// A job from its launch to its result, in each tier; and what it leaves behind in
// the process that has launched it: nothing.
func TestRuns(t *testing.T) {
	for tier, group := range tiers(t) {
		s := newScene(t, tier, group, `
			echo 3 of 4 > out/progress
			pwd; cat arguments.json code/lib/deep/x.txt; ls
			echo hm >&2
			echo x > tmp/y && sleep 1.2
			echo '{ "Answer" : 42 }' > out/result.json
			echo 4 of 4 > out/progress
			(setsid sleep 1000 &)`)
		before := descriptors(t)
		r := s.run(t)
		if r.State != job.Succeeded || len(r.Moves) != 3 || string(r.Moves[2].Result) != `{"answer":42}` {
			t.Errorf("%s: %s, %+v", tier, r.State, r.Moves)
		}
		// The last one was said between two heartbeats.
		if !slices.Contains(r.Progress, "3 of 4") || r.Progress[len(r.Progress)-1] != "4 of 4" {
			t.Errorf("%s: progress %q", tier, r.Progress)
		}
		if after := descriptors(t); after != before {
			t.Errorf("%s: %d descriptors before, %d after", tier, before, after)
		}
		if children := childrenOf(t); children != "" {
			t.Errorf("%s: children are left: %s", tier, children)
		}
		out, err := Tail(s.Dir, Stdout, 1000)
		if err != nil || !strings.HasSuffix(out.Text, "/box\n{\"n\":1}xarguments.json\ncode\nout\ntmp\n") || !strings.HasPrefix(out.Text, "<path>") || out.Truncated {
			t.Errorf("%s: %+v, %v", tier, out, err)
		}
		if errs, err := Tail(s.Dir, Stderr, 1000); err != nil || errs.Text != "hm\n" {
			t.Errorf("%s: %+v, %v", tier, errs, err)
		}
		if own, err := Tail(s.Dir, Supervisor, 1000); err != nil || own.Text != "" {
			t.Errorf("%s: the supervisor says %q, %v", tier, own.Text, err)
		}
		for _, name := range Logs() {
			if info, err := os.Stat(logPath(s.Dir, name)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %s: %v, %v", tier, name, info, err)
			}
		}
		if held, err := hold(s.Dir); err != nil {
			t.Errorf("%s: %v", tier, err)
		} else {
			held.Close()
		}
		if err := Remove(t.Context(), s.Dir); err != nil {
			t.Errorf("%s: %v", tier, err)
		}
		if _, err := os.Lstat(s.Dir); !os.IsNotExist(err) {
			t.Errorf("%s: the directory is left", tier)
		}
	}
}

func descriptors(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func childrenOf(t *testing.T) string {
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	var all string
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err == nil {
			all += string(text)
		}
	}
	return all
}

const answers = `echo '{"Answer":1}' > out/result.json; `

// Why a job did not succeed is told apart.
func TestFailures(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(`{"Answer":7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	small := func(s *scene) { s.Limits.Output = 10_000 }
	short := func(s *scene) { s.Limits.Wall = 300 * time.Millisecond }
	for _, c := range []struct {
		name, script string
		set          func(*scene)
		state        job.State
		failure      job.Failure
		message      string
	}{
		{"status", answers + `exit 3`, nil, job.Failed, job.FailCandidate, "status 3"},
		{"a runner's limit", answers + `exit 102`, nil, job.Failed, job.FailLimit, "met a limit"},
		{"a runner's box", answers + `exit 103`, nil, job.Failed, job.FailInfrastructure, "did not find"},
		{"crash", answers + `kill -SEGV $$`, nil, job.Failed, job.FailCandidate, "signal 11"},
		{"killed", answers + `kill -KILL $$`, nil, job.Failed, job.FailLimit, "killed"},
		{"output", answers + `exec head -c 10G /dev/zero`, small, job.Failed, job.FailLimit, "10000 bytes"},
		{"output of another", answers + `(trap '' TERM; while :; do echo y; done >&2) & trap '' TERM; sleep 1000; sleep 1000`, small, job.Failed, job.FailLimit, "10000 bytes"},
		{"processor time", answers + `while :; do :; done`, func(s *scene) { s.Command.Limits.CPU = time.Second }, job.Failed, job.FailLimit, "1s of processor time"},
		{"file size", answers + `exec head -c 10000 /dev/zero > tmp/x`, func(s *scene) { s.Command.Limits.File = 5000 }, job.Failed, job.FailLimit, "5000 bytes"},
		{"time", answers + `sleep 1000`, short, job.TimedOut, job.FailTimeout, "300ms"},
		{"time, and deaf", answers + `trap '' TERM; sleep 1000; sleep 1000`, short, job.TimedOut, job.FailTimeout, "300ms"},
		{"no result", ``, nil, job.Failed, job.FailResult, "no result"},
		{"a link", `ln -s ` + secret + ` out/result.json`, nil, job.Failed, job.FailResult, "regular file of its own"},
		{"a second name", `ln ` + secret + ` out/result.json`, nil, job.Failed, job.FailResult, "regular file of its own"},
		{"a pipe", `mkfifo out/result.json`, nil, job.Failed, job.FailResult, "regular file of its own"},
		{"a directory", `mkdir out/result.json`, nil, job.Failed, job.FailResult, "regular file of its own"},
		{"elsewhere", `mv out other; ln -s ` + filepath.Dir(secret) + ` out; ln -s secret result.json; exit 0`, nil, job.Failed, job.FailResult, "no result"},
		{"too large", `head -c 2000 /dev/zero > out/result.json`, nil, job.Failed, job.FailResult, "more than 1024 bytes"},
		{"too large in canonical form", `echo '{"Answer":0}' > out/result.json`, nil, job.Failed, job.FailResult, "more than 1024 bytes in canonical form"},
		{"not JSON", `echo answer > out/result.json`, nil, job.Failed, job.FailResult, "does not hold: invalid character"},
		{"not the answer", `echo '{"\u202eother":1}' > out/result.json`, nil, job.Failed, job.FailResult, `unknown field "\u202eother"`},
		{"input", answers, func(s *scene) { s.Spoil = true }, job.Failed, job.FailInput, "not there any more"},
		{"input gone", answers, func(s *scene) { s.Read = "gone" }, job.Failed, job.FailInput, "not there any more"},
		{"input that cannot be read", answers, func(s *scene) { s.Read = "broken" }, job.Failed, job.FailInfrastructure, "directory could not be made"},
		{"input outside", answers, func(s *scene) { s.Files["../x"] = "y" }, job.Failed, job.FailInfrastructure, "directory could not be made"},
		{"no interpreter", answers, func(s *scene) { s.Command.Path = "/nowhere/python3" }, job.Failed, job.FailInfrastructure, "could not be started"},
		{"no tier", answers, func(s *scene) { s.Tier = "cell" }, job.Failed, job.FailInfrastructure, "could not be held"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, "tree", "", c.script)
			if c.set != nil {
				c.set(s)
			}
			r := s.run(t)
			last := r.Moves[len(r.Moves)-1]
			if r.State != c.state || last.Failure != c.failure || !strings.Contains(last.Message, c.message) || last.Result != nil {
				own, _ := Tail(s.Dir, Supervisor, 1000)
				t.Errorf("%s: %+v; the supervisor says %q", r.State, last, own.Text)
			}
			if strings.Contains(last.Message, "/nowhere") || strings.Contains(last.Message, s.Dir) {
				t.Errorf("a path: %s", last.Message)
			}
			var size int64
			for _, name := range []string{Stdout, Stderr} {
				if info, err := os.Stat(logPath(s.Dir, name)); err == nil {
					size += info.Size()
				}
			}
			if size > s.Limits.Output {
				t.Errorf("%d bytes of output", size)
			}
		})
	}
}

// A candidate has ended well before anybody has read that it wrote more than it
// may: it has not succeeded.
func TestOutputReadLate(t *testing.T) {
	s := newScene(t, scope.Tree, "", answers+`exec head -c 60000 /dev/zero`) // a pipe takes it
	s.Limits.Output = 50_000
	if err := makeDirectory(s.Dir); err != nil {
		t.Fatal(err)
	}
	s.Clogged = logPath(s.Dir, Stdout)
	if err := unix.Mkfifo(s.Clogged, 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.OpenFile(s.Clogged, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := log.Write(make([]byte, pipeSize)); err != nil {
		t.Fatal(err)
	}
	r := s.run(t)
	if last := r.Moves[len(r.Moves)-1]; r.State != job.Failed || last.Failure != job.FailLimit {
		t.Errorf("%s, %+v", r.State, last)
	}
}
