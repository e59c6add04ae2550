package supervise

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/confine"
)

// confined is a scene whose candidate has an account of its own and a tier.
func confined(t *testing.T, s *scene, tier confine.Tier, uid int) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root gives candidates accounts of their own")
	}
	s.Command.Confine = &confine.Spec{Tier: tier, Read: []string{"/bin", "/usr", "/lib"}, UID: uid, GID: uid}
	for _, dir := range []string{"/lib64"} {
		if _, err := os.Stat(dir); err == nil {
			s.Command.Confine.Read = append(s.Command.Confine.Read, dir)
		}
	}
}

// A box serves a candidate of another account in each tier, which can write
// nothing else in there.
func TestConfined(t *testing.T) {
	for n, tier := range []confine.Tier{confine.None, confine.Landlock, confine.Namespaces} {
		t.Run(string(tier), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, "tree", "", `
				cat code/lib/deep/x.txt arguments.json > tmp/read || exit 10
				for path in x code/x code/main.sh code/lib/deep/x.txt arguments.json; do
					if (echo y > $path) 2> tmp/errors; then exit 11; fi
				done
				rm -f arguments.json 2> tmp/errors && exit 12
				mv out other 2> tmp/errors && exit 13
				echo half > out/progress; `+answers)
			confined(t, s, tier, 73001+n)
			r := s.run(t)
			if r.State != job.Succeeded {
				out, _ := Tail(s.Dir, Stderr, 1000)
				own, _ := Tail(s.Dir, Supervisor, 1000)
				t.Errorf("%+v: %s %s", r.Moves[len(r.Moves)-1], out.Text, own.Text)
			}
			if err := Remove(t.Context(), s.Dir); err != nil {
				t.Error(err)
			}
		})
	}
}

// A candidate that forks as fast as it can meets the bound of its account's
// processes, and ends with its time, in each tier of scopes.
func TestForkBomb(t *testing.T) {
	n := 0
	for tier, group := range tiers(t) {
		n++
		t.Run(string(tier), func(t *testing.T) {
			s := newScene(t, tier, group, `f() { f | f & }; trap '' TERM; f; while :; do sleep 1; done`)
			confined(t, s, confine.None, 73010+n)
			s.Command.Limits.Processes = 30
			s.Limits.Wall = 500 * time.Millisecond
			s.Limits.Output = 1 << 30
			r := s.run(t)
			if r.State != job.TimedOut && r.State != job.Failed || len(r.Moves) != 3 {
				t.Errorf("%s, %+v", r.State, r.Moves)
			}
			if text, err := Tail(s.Dir, Stderr, 100_000); err != nil || !strings.Contains(strings.ToLower(text.Text), "fork") {
				t.Errorf("it met no bound: %.200s, %v", text.Text, err)
			}
		})
	}
}
