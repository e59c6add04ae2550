package review

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/govern/plan"
)

// ErrProgram is the error where a run's program could not be found on this host
// as the plan froze it. The page is whole then, and says so; it is not to be
// approved.
var ErrProgram = errors.New("review: the program of the run is not on this host as the plan says")

// Programs is the SHA-256 of the program at a path of this host. [Program] is
// one.
type Programs func(path string) ([32]byte, error)

// run shows candidate code, what runs it, and what holds it.
func (r *renderer) run(p plan.Plan, programs Programs) error {
	x := p.Run
	tree, err := r.tree(x.Code)
	if err != nil {
		return fmt.Errorf("the code: %w", err)
	}
	r.given(x.Arguments)
	r.runner(x.Runner, programs)
	r.limits(p)
	r.sandbox(confine.Tier(x.Sandbox))
	r.scope(scope.Tier(x.Scope))
	if x.Summary != "" {
		r.head("SUMMARY, as it was told: nobody has checked it")
		r.text(x.Summary)
	}
	r.head("CODE %s", x.Code)
	return r.code(x.Runner.Entry, tree)
}

// given writes what the candidate gets, where that is not what was asked with.
func (r *renderer) given(arguments []byte) {
	if arguments == nil {
		r.head("GIVEN TO THE CANDIDATE: the arguments above")
		return
	}
	r.head("GIVEN TO THE CANDIDATE, which is not the arguments above")
	r.arguments(arguments)
}

// runner writes what executes the candidate, and whether it is there.
func (r *renderer) runner(x plan.Runner, programs Programs) {
	r.head("RUNNER \"%s\"", escape(x.Name))
	r.head("  program   \"%s\"", escape(x.Path))
	r.head("    SHA-256 %s", hex.EncodeToString(x.SHA256[:]))
	got, err := programs(x.Path)
	switch {
	case err != nil:
		r.stale = true
		r.head("    NOT CHECKED, IT CANNOT BE APPROVED: %s", escape(err.Error()))
	case got != x.SHA256:
		r.stale = true
		r.head("    ANOTHER PROGRAM IS THERE, IT CANNOT BE APPROVED:")
		r.head("    SHA-256 %s", hex.EncodeToString(got[:]))
	default:
		r.head("    it is there, and is that very program")
	}
	if x.Worker {
		r.head("  kind      the server's own interpreter: no native code of a candidate runs")
	} else {
		r.head("  kind      NATIVE: it can do whatever the sandbox below leaves open")
	}
	r.head("  entry     \"%s\"", escape(x.Entry))
	r.words("arguments", x.Args)
	r.words("variables", x.Env)
	r.words("reads", x.Read)
}

// words writes a list, one a line.
func (r *renderer) words(name string, words []string) {
	if len(words) == 0 {
		r.head("  %-9s none", name)
		return
	}
	r.head("  %-9s %d", name, len(words))
	for _, w := range words {
		r.quote(markText, w)
	}
}

func (r *renderer) limits(p plan.Plan) {
	x, l := p.Run, p.Run.Limits
	r.head("LIMITS")
	r.head("  time      %v, and %v of a processor", l.Wall, l.CPU)
	r.head("  memory    %s of each process", bytesOf(l.Memory))
	switch {
	case x.Runner.Worker: // the sandbox lets it start none
		r.head("  processes itself alone")
	case !counted(p):
		r.head("  processes NOT BOUNDED: %d were asked for, and nothing here holds it to that", l.Processes)
	default:
		r.head("  processes %d at a time", l.Processes)
	}
	r.head("  output    %s", bytesOf(l.Output))
	r.head("  result    %s", bytesOf(l.Result))
	r.head("  files     each that it writes, %s at most", bytesOf(l.File()))
	r.head("  disk      %s and %d files and directories in all", bytesOf(plan.RunDisk), plan.RunEntries)
	r.head("  parallel  %d runs of this capability at a time", l.Parallel)
}

// counted reports whether only the candidate's processes count as its: it has an
// account of its own, which root gives to what it confines, a namespace of users in
// which its account's are counted apart, or a control group.
func counted(p plan.Plan) bool {
	tier := confine.Tier(p.Run.Sandbox)
	own := tier != confine.None && p.ServerUID == 0
	return own || tier == confine.Namespaces || scope.Tier(p.Run.Scope) == scope.Cgroup
}

// bytesOf is a number of bytes, by the largest unit that it is whole in.
func bytesOf(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for ; n%1024 == 0 && n > 0 && i < len(units)-1; i++ {
		n /= 1024
	}
	return fmt.Sprintf("%d %s", n, units[i])
}

// sandbox writes what the tier does about each threat: first what it leaves
// open.
func (r *renderer) sandbox(tier confine.Tier) {
	r.head("SANDBOX %s", strings.ToUpper(string(tier)))
	rows := confine.Table()
	if !slices.Contains(confine.Tiers(), tier) {
		r.head("  OPEN      everything: this program knows no such tier")
		return
	}
	if tier == confine.None {
		r.head("  NOTHING CONFINES THE CANDIDATE: it can do what the server's account can")
		r.head("  network   OPEN")
	} else {
		r.head("  network   none")
	}
	for _, holds := range []confine.Holds{confine.Open, confine.Contained, confine.Refused} {
		for _, row := range rows {
			// What the table does not say is open.
			if cmp.Or(row.By[tier], confine.Open) != holds {
				continue
			}
			word := string(holds)
			if holds == confine.Open {
				word = "OPEN"
			}
			r.head("  %-9s %s", word, escape(row.Threat))
		}
	}
}

// proofs are what the tiers of a scope can prove of an end.
var proofs = map[scope.Tier][]string{
	scope.Cgroup:    {"a control group: no process leaves it, and all can be ended at once", "proved by the kernel, which says that it is empty"},
	scope.Namespace: {"a namespace of processes: its first one ends all others", "proved by the kernel, which ends that one last"},
	scope.Tree:      {"the tree of processes below the keeper, which ends them", "proved by the keeper, when it has no child any more; NOT PROVED where", "keeper and supervisor are both killed: then some of it may run on"},
}

func (r *renderer) scope(tier scope.Tier) {
	lines, ok := proofs[tier]
	if !ok {
		lines = []string{"NOT PROVED: this program knows no such tier"}
	}
	r.head("KILL SCOPE %s", strings.ToUpper(string(tier)))
	for _, line := range lines {
		r.head("  %s", line)
	}
}

// code lists all files: the entry, what else can be run by itself, and the rest.
func (r *renderer) code(entry string, tree change.Tree) error {
	groups := []group{{title: "THE ENTRY"}, {title: "CAN BE RUN BY THEMSELVES"}, {title: "BESIDE THEM"}}
	for _, a := range plan.Actions(change.Absent, tree) {
		g := &groups[2]
		switch {
		case a.Path == ".":
			continue
		case a.Path == entry && !a.After.Dir:
			g = &groups[0]
		case !a.After.Dir && a.After.Mode&0o111 != 0:
			g = &groups[1]
		}
		g.actions = append(g.actions, a)
	}
	if len(groups[0].actions) == 0 {
		return fmt.Errorf("%q, where it begins, is not there", entry)
	}
	for _, g := range groups {
		if len(g.actions) == 0 {
			continue
		}
		r.head("%s: %d", g.title, len(g.actions))
		for _, a := range g.actions {
			if err := r.file(a); err != nil {
				return fmt.Errorf("%q: %w", a.Path, err)
			}
		}
	}
	return nil
}

// file writes one file of the code, all of it.
func (r *renderer) file(a plan.Action) error {
	r.head("  \"%s\"", escape(a.Path))
	if a.After.Dir {
		r.head("    directory, mode %s", mode(a.After.Mode))
		return nil
	}
	r.head("    mode %s, %d bytes", mode(a.After.Mode), a.After.Size)
	r.sum(a.After.Digest)
	content, why, err := r.readable(a.After)
	switch {
	case err != nil:
		return err
	case why != "":
		r.unshown++
		r.head("    NOT SHOWN: %s", why)
	case len(content) == 0:
		r.head("    it is empty")
	default:
		from := r.n
		r.text(string(content))
		if content[len(content)-1] != '\n' {
			r.quote(markHunk, "the last line does not end")
		}
		r.spent += r.n - from
	}
	return nil
}
