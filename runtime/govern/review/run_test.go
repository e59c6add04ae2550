package review

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/govern/job/scope"
	"github.com/capgen/capgen/runtime/govern/plan"
)

// program is the hash of the program on the host of these tests, wherever it is
// looked for.
var program = sha256.Sum256([]byte("program"))

func here(string) ([32]byte, error) { return program, nil }

func running(code change.Hash) plan.Plan {
	p := changing(change.Hash{1}, change.Hash{2})
	p.Effect, p.Change, p.Capability, p.Name = plan.EffectRun, nil, "drafts.evaluate", "drafts.evaluate"
	p.Arguments = []byte(`{"seed":7}`)
	p.Run = &plan.Run{
		Runner: plan.Runner{Name: "starlark", Path: "/opt/server", SHA256: program, Args: []string{"starlark"}, Entry: "main.star", Worker: true},
		Code:   code, Sandbox: string(confine.Worker), Scope: string(scope.Namespace),
		Limits: plan.Limits{Wall: time.Minute, CPU: 90 * time.Second, Memory: 256 << 20, Output: 1 << 20, Result: 64 << 10, Processes: 8, Parallel: 2},
	}
	return p
}

func TestGoldenRuns(t *testing.T) {
	m := memory{}
	worker := running(m.tree(t, map[string]file{
		"main.star":   {0o644, "def main(seed):\n    return {\"score\": seed}\n"},
		"lib/a.star":  {0o644, "x = 1"},
		"lib/run.sh":  {0o755, "#!/bin/sh\ntrue\n"},
		"lib/none":    {0o644, ""},
		"data/binary": {0o644, "\x00\x01"},
		"data/large":  {0o644, strings.Repeat("x\n", MaxTextBytes/2+1)},
	}))
	worker.Run.Summary = "Try momentum with seed 7."
	// What names, texts and the words of a runner can hold to deceive.
	hostile := running(m.tree(t, map[string]file{
		"lib/main.py":                    {0o644, "if level != 'user\u202e \u2066# admin\u2069 \u2066':\n\x1b[2J\x1b[1;1HAll is shown.\x1b[8m\n| a\n@ the last line does not end\nEND OF plan_\n"},
		"SANDBOX NAMESPACES END OF plan": {0o755, "\u200b\rharmless\b\n"},
		"lib/wrap.py":                    {0o644, strings.Repeat("x", 76) + "END OF plan_" + strings.Repeat("日", 60)},
	}))
	hostile.Arguments = []byte(`{"note":"\u001b[2J` + "\u202e" + ` END OF plan_"}`)
	hostile.Owner, hostile.Name = "local\u202e", "a\nb"
	hostile.Run.Summary = "Harmless.\n\x1b[31mSANDBOX NAMESPACES\nEND OF plan_"
	hostile.Run.Runner = plan.Runner{
		Name: "python3", Path: "/usr/bin/\u202e3nohtyp\x1b[2J", SHA256: program, Entry: "lib/main.py",
		Args: []string{"-I", "-c\nEND OF plan_\x1b[2J", "\u202e"}, Env: []string{"PATH=/a\u200b", "X=\r\nSANDBOX NAMESPACES"}, Read: []string{"/usr/lib/\u202ex"},
	}
	hostile.Run.Arguments = []byte(`{"note":"` + "\u202e" + ` SANDBOX NAMESPACES"}`)
	hostile.Run.Sandbox, hostile.Run.Scope = string(confine.None), string(scope.Tree)
	for name, p := range map[string]plan.Plan{"run": worker, "run-hostile": hostile} {
		t.Run(name, func(t *testing.T) { golden(t, name, withoutTable(render(t, p, m))) })
	}
}

// withoutTable leaves out what confine.Table says, which has tests of its own.
func withoutTable(page string) string {
	var out strings.Builder
	left := false
	for line := range strings.Lines(page) {
		row := strings.HasPrefix(line, "  OPEN      ") || strings.HasPrefix(line, "  contained ") || strings.HasPrefix(line, "  refused   ")
		if left = row || left && strings.HasPrefix(line, "> "); !left {
			out.WriteString(line)
		}
	}
	return out.String()
}

// What a tier leaves open stands first and in capitals, for every tier; what is
// not known leaves all open.
func TestEveryTierIsSaid(t *testing.T) {
	m := memory{}
	p := running(m.tree(t, map[string]file{"main.star": {0o644, "1\n"}}))
	for _, tier := range confine.Tiers() {
		p.Run.Sandbox = string(tier)
		text := render(t, p, m)
		_, rows, _ := strings.Cut(text, "\nSANDBOX "+strings.ToUpper(string(tier))+"\n")
		rows, _, _ = strings.Cut(rows, "\nKILL SCOPE ")
		rows = strings.ReplaceAll(rows, "\n> ", "")
		for _, row := range confine.Table() {
			word := string(row.By[tier])
			if row.By[tier] == confine.Open {
				word = "OPEN"
			}
			if !strings.Contains(rows+"\n", "  "+word+strings.Repeat(" ", 10-len(word))+row.Threat+"\n") {
				t.Errorf("%s does not say %s: %s\n%s", tier, word, row.Threat, rows)
			}
		}
		last := 0
		for line := range strings.Lines(rows) {
			rank := map[string]int{"OPEN": 1, "contained": 2, "refused": 3}[strings.Fields(line)[0]]
			if rank != 0 && rank < last {
				t.Errorf("%s: %q comes too late\n%s", tier, line, rows)
			}
			last = max(last, rank)
		}
		if none := strings.Contains(text, "\n  network   none\n"); none != (tier != confine.None) {
			t.Errorf("%s: %s", tier, rows)
		}
	}
	p.Run.Sandbox, p.Run.Scope = "later", "later"
	if text := render(t, p, m); !strings.Contains(text, "OPEN      everything") || strings.Contains(text, "network   none") || !strings.Contains(text, "NOT PROVED: this program knows") {
		t.Error(text)
	}
	for _, tier := range scope.Tiers() {
		p.Run.Scope = string(tier)
		if text := render(t, p, m); !strings.Contains(text, "\nKILL SCOPE "+strings.ToUpper(string(tier))+"\n") || strings.Contains(text, "NOT PROVED: this program") {
			t.Errorf("%s: %s", tier, text)
		}
	}
}

// An approver reads that processes are bounded only where they are counted apart
// from others'.
func TestBoundOfProcesses(t *testing.T) {
	m := memory{}
	p := running(m.tree(t, map[string]file{"main.star": {0o644, "1\n"}}))
	p.Run.Runner.Worker = false
	for _, server := range []uint32{0, 1000} {
		for _, tier := range confine.Tiers() {
			for _, hold := range scope.Tiers() {
				p.ServerUID, p.Run.Sandbox, p.Run.Scope = server, string(tier), string(hold)
				want := "\n  processes NOT BOUNDED: 8 were"
				if hold == scope.Cgroup || tier == confine.Namespaces || server == 0 && tier != confine.None {
					want = "\n  processes 8 at a time\n"
				}
				if text := render(t, p, m); !strings.Contains(text, want) {
					t.Errorf("account %d, %s, %s: no %q in\n%s", server, tier, hold, want, text)
				}
			}
		}
	}
}

// What is given and is too long to show is among what is not shown.
func TestLongArgumentsOfRuns(t *testing.T) {
	m := memory{}
	p := running(m.tree(t, map[string]file{"main.star": {0o644, "1\n"}}))
	p.Run.Arguments = []byte(`{"x":"` + strings.Repeat("y", MaxArgumentBytes) + `"}`)
	text := render(t, p, m)
	checkPage(t, text)
	if !strings.Contains(text, "GIVEN TO THE CANDIDATE, which is not") || !strings.Contains(text, cas.Of(p.Run.Arguments).String()) || !strings.Contains(text, "NOT ALL IS SHOWN: of the arguments") {
		t.Error(text)
	}
}

// A program that is not the frozen one is on the page, whole as it is, and in
// the error.
func TestAnotherProgram(t *testing.T) {
	m := memory{}
	p := running(m.tree(t, map[string]file{"main.star": {0o644, "print(1)\n"}}))
	body, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for want, programs := range map[string]Programs{
		"ANOTHER PROGRAM IS THERE":           func(string) ([32]byte, error) { return [32]byte{1}, nil },
		"NOT CHECKED, IT CANNOT BE APPROVED": func(string) ([32]byte, error) { return [32]byte{}, errors.New("gone\x1b[2J") },
	} {
		var out bytes.Buffer
		shown, err := Render(&out, body, m.get, programs)
		if !errors.Is(err, ErrProgram) || shown != sha256.Sum256(out.Bytes()) {
			t.Errorf("%s: %v", want, err)
		}
		checkPage(t, out.String())
		for _, want := range []string{want, "| print(1)\n", "\nIT CANNOT BE APPROVED: "} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is missing:\n%s", want, out.String())
			}
		}
	}
}

func TestRunRefuses(t *testing.T) {
	m := memory{}
	for name, p := range map[string]plan.Plan{
		"code":    running(change.Hash{9}),
		"entry":   running(m.tree(t, map[string]file{"other.star": {0o644, ""}})),
		"no file": running(m.tree(t, map[string]file{"main.star/x": {0o644, ""}})),
	} {
		body, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Render(&bytes.Buffer{}, body, m.get, here); err == nil || errors.Is(err, ErrProgram) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
