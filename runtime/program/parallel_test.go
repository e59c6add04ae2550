package program_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program"
)

func TestParallel(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"none", "parallel([])", "[]"},
		{"results in order", "parallel([lambda: 1, lambda: 'b', lambda: records.lookup(key = 'a').count])", `[1,"b",3]`},
		{"capabilities themselves", "parallel([a.b.other, a.b.c.leaf])", `["leaf","leaf"]`},
		{"a tuple", "parallel((lambda: 1,))", "[1]"},
		{"defaults bind", "parallel([lambda x = x: a.b.other() + str(x) for x in range(3)])", `["leaf0","leaf1","leaf2"]`},
		{"shared values", "seen = []\ndef f(n):\n  for i in range(3):\n    a.b.other()\n    seen.append(n)\nparallel([lambda n = n: f(n) for n in range(3)])\nsorted(seen)", "[0,0,0,1,1,1,2,2,2]"},
		{"nested", "parallel([lambda i = i: parallel([lambda j = j: a.b.other() + str(10 * i + j) for j in range(3)]) for i in range(3)])",
			`[["leaf0","leaf1","leaf2"],["leaf10","leaf11","leaf12"],["leaf20","leaf21","leaf22"]]`},
		{"nested as deeply as may be", "def f(n):\n  return parallel([lambda: f(n - 1), a.b.other])[0] if n else a.b.other()\nf(16)", `"leaf"`},
		{"inside of sorted", "sorted([2, 1], key = lambda x: parallel([lambda: a.b.other() + str(x)])[0])", "[1,2]"},
		{"main calls before and after", "a.b.other()\nx = parallel([a.b.other])\nx.append(a.b.other())\nx", `["leaf","leaf"]`},
		{"attempt", "r = attempt(lambda x: x + 1, 2)\n[r.ok, r.value, r.error]", "[true,3,null]"},
		{"attempt with keywords", "attempt(records.lookup, key = 'a')[\"value\"].count", "3"},
		{"attempt of what fails", "r = attempt(lambda: 1 // 0)\n[r.ok, r.value, r.error.code, r.error.message, r.error.capability, r.error.retryable]",
			`[false,null,"program_error","ZeroDivisionError: integer division or modulo by zero",null,false]`},
		{"attempt of fail", "attempt(fail, 'no').error.message", `"RuntimeError: no"`},
		{"attempt of a bind failure", "r = attempt(records.lookup, kye = 'a').error\n[r.code, r.capability]", `["invalid_arguments","records.lookup"]`},
		{"attempt of an unknown capability", "attempt(lambda: records.drop()).error.code", `"capability_not_found"`},
		{"attempt prints like a dict", "str(attempt(lambda: 1))", `"{'ok': True, 'value': 1, 'error': None}"`},
		{"attempt within attempt", "attempt(lambda: attempt(lambda: fail('x')).error.message).value", `"RuntimeError: x"`},
		{"attempt keeps the others", "[r.value if r.ok else r.error.code for r in parallel([lambda: attempt(a.b.other), lambda: attempt(fail), lambda: attempt(lambda: 3)])]", `["leaf","program_error",3]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := limits()
			l.Calls = 100
			got, f := runWith(t, c.source, l, &host{t: t})
			if f != nil || got != c.want {
				t.Errorf("got %s, %+v, want %s", got, f, c.want)
			}
		})
	}
}

// A call's path is the same whenever the program does the same, whatever order
// the answers come in.
func TestPaths(t *testing.T) {
	source := "def f():\n  a.b.other()\n  parallel([a.b.other, lambda: attempt(records.lookup)])\n  a.b.other()\na.b.other()\nparallel([f, f])\na.b.other()\nparallel([a.b.other])\n"
	h := &host{t: t}
	l := limits()
	l.Calls = 100
	if _, f := runWith(t, source, l, h); f != nil {
		t.Fatal(f)
	}
	slices.Sort(h.paths)
	want := []string{"[1]", "[2 0 1]", "[2 0 2 0 1]", "[2 0 3]", "[2 1 1]", "[2 1 2 0 1]", "[2 1 3]", "[3]", "[4 0 1]"}
	if diff := cmp.Diff(want, h.paths); diff != "" {
		t.Error(diff)
	}
	if len(h.refused) != 2 {
		t.Errorf("%d bind failures", len(h.refused))
	}
}

// As many calls are on their way as may be, and no more; the rest waits.
func TestCallsOnTheWay(t *testing.T) {
	for _, c := range []struct {
		source   string
		parallel int
		most     int
	}{
		{"parallel([a.b.other] * 20)", 8, 8},
		{"parallel([a.b.other] * 20)", 1, 1},
		{"parallel([a.b.other] * 20)", 50, 20},
		{"parallel([lambda: parallel([a.b.other] * 5)] * 5)", 8, 8},
		{"parallel([lambda: [a.b.other(), parallel([a.b.other] * 5), a.b.other()]] * 5)", 3, 3},
		{"parallel([lambda: parallel([lambda: parallel([a.b.other] * 3)] * 3)] * 3)", 2, 2},
		{"[a.b.other() for i in range(5)]", 8, 1},
	} {
		h := &host{t: t}
		l := limits()
		l.Calls, l.Parallel = 1000, c.parallel
		if _, f := runWith(t, c.source, l, h); f != nil {
			t.Errorf("%s: %v", c.source, f)
		}
		if h.most != c.most {
			t.Errorf("%s: %d calls on their way of %d that may be", c.source, h.most, c.parallel)
		}
	}
}

func TestParallelFailures(t *testing.T) {
	for _, c := range []struct {
		name, source string
		class        fault.Class
		limit        string
		message      string // a part of it
		line         int    // 0 is any
		trace        int    // lines
	}{
		{"the first that fails", "def f():\n  a.b.other()\n  return 1 // 0\nparallel([a.b.other, f, fail])", fault.ProgramError, "", "callable 1 of parallel: ZeroDivisionError: integer division or modulo by zero", 3, 2},
		{"the failure of a call keeps its class", "parallel([lambda: records.drop()])", fault.NotFound, "", "callable 0 of parallel: no capability records.drop", 1, 2},
		{"a bind failure", "parallel([\n  lambda: records.lookup(key = 1)])", fault.InvalidArguments, "", "callable 0 of parallel: expected", 2, 2},
		{"nested", "parallel([lambda: parallel([fail])])", fault.ProgramError, "", "callable 0 of callable 0 of parallel: RuntimeError", 1, 2},
		{"no function", "parallel([a.b.other()])", fault.ProgramError, "", "element 0 is str, want a function without parameters", 1, 1},
		{"a function with a parameter", "parallel([lambda x: x])", fault.ProgramError, "", "callable 0 of parallel: TypeError: <lambda>() missing 1 required positional argument", 1, 2},
		{"too many", "parallel([a.b.other] * 1001)", fault.ProgramError, "", "at most 1000", 1, 1},
		{"too deep", "def f(n):\n  return parallel([lambda: f(n - 1)])[0] if n else 1\nf(17)", fault.ProgramError, "", "more than 16 calls", 2, 16},
		{"attempt of nothing", "attempt()", fault.ProgramError, "", "no function to call", 1, 1},
		{"attempt of a result", "attempt(a.b.other())", fault.ProgramError, "", "got str, want a function", 1, 1},
		{"attempt does not hold steps", "attempt(lambda: [0 for i in range(1 << 40)])\n1", fault.Limit, fault.MaxSteps, "", 1, 2},
		{"attempt does not hold the steps of a builtin", "attempt(sum, range(1 << 40))\n1", fault.Limit, fault.MaxSteps, "", 1, 1},
		{"attempt does not hold calls", "def f():\n  while True: a.b.other()\nattempt(f)\n1", fault.Limit, fault.MaxNativeCalls, "", 2, 2},
		{"attempt does not hold sizes", "attempt(lambda: 'x' * (1 << 40))\n1", fault.Limit, fault.WorkerMemory, "", 1, 2},
		{"attempt does not hold recursion", "def f(): return f()\nattempt(f)\n1", fault.ProgramError, "", "deep", 1, 16},
		{"parallel does not hold steps", "def f():\n  while True: pass\nattempt(parallel, [f] * 8)\n1", fault.Limit, fault.MaxSteps, "", 0, 2},
		{"parallel ends what waits", "def f():\n  a.b.other()\n  while True: pass\nparallel([lambda: attempt(a.b.other)] * 3 + [f] * 3 + [lambda: attempt(a.b.other)] * 3)\n1", fault.Limit, fault.MaxSteps, "", 0, 2},
		{"parallel ends what waits within it", "def f():\n  a.b.other()\n  while True: pass\nparallel([lambda: attempt(lambda: parallel([a.b.other, f] * 3))] * 30)\n1", fault.Limit, fault.MaxSteps, "", 0, 2},
		{"recursion through parallel", "def f(n):\n  return f(n + 1) if n % 700 else parallel([lambda: f(n + 1)])\nf(1)", fault.ProgramError, "", "deep", 2, 16},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := limits()
			l.Calls = 100
			h := &host{t: t}
			_, f := runWith(t, c.source, l, h)
			if f == nil || f.Class != c.class || f.Limit != c.limit || !strings.Contains(f.Message, c.message) || c.line > 0 && f.Line != c.line {
				t.Errorf("got %+v, want %s %s %q at line %d", f, c.class, c.limit, c.message, c.line)
			}
			if f != nil && min(len(f.Trace), 16) != c.trace {
				t.Errorf("a trace of %d lines, want %d: %q", len(f.Trace), c.trace, f.Trace)
			}
		})
	}
}

// A failure of one callable is told when all have ended: none is left half done.
func TestOthersGoOn(t *testing.T) {
	h := &host{t: t}
	_, f := runWith(t, "parallel([fail] + [a.b.other] * 5)", limits(), h)
	if f == nil || !strings.HasPrefix(f.Message, "callable 0") || len(h.calls) != 5 {
		t.Errorf("%d calls, %v", len(h.calls), f)
	}
}

// What only the host can end, no program holds: a cancel, a limit of its own.
func TestAttemptHoldsNoEnd(t *testing.T) {
	for _, class := range []fault.Class{fault.Cancelled, fault.Limit, fault.WorkerLost, fault.Internal} {
		h := &host{t: t, reply: func(string) ([]byte, *fault.Fault) {
			return nil, &fault.Fault{Class: class, Message: "over", Limit: "MaxDenials", Bound: 50}
		}}
		for _, source := range []string{"attempt(a.b.other)\n1", "parallel([lambda: attempt(a.b.other)] * 3)\n1"} {
			if _, f := runWith(t, source, limits(), h); f == nil || f.Class != class {
				t.Errorf("%s held %s: %v", source, class, f)
			}
		}
	}
	for _, class := range []fault.Class{fault.Denied, fault.PolicyFailure, fault.CapabilityFailed} {
		h := &host{t: t, reply: func(string) ([]byte, *fault.Fault) { return nil, &fault.Fault{Class: class, Message: "no"} }}
		got, f := runWith(t, "attempt(a.b.other).error.code", limits(), h)
		if f != nil || got != fmt.Sprintf("%q", class) {
			t.Errorf("attempt did not hold %s: %s, %v", class, got, f)
		}
	}
}

// One budget of steps is that of all callables together.
func TestOneBudget(t *testing.T) {
	steps := func(source string) int64 {
		l := limits()
		l.Calls = 100
		r, f := program.Run(program.Program{Source: source, Limits: l}, table(t), &host{t: t})
		if f != nil {
			t.Fatal(f)
		}
		return r.Steps
	}
	work := "def f():\n  for i in range(1000):\n    if i % 100 == 0: a.b.other()\n"
	one, eight := steps(work+"parallel([f])\n1"), steps(work+"parallel([f] * 8)\n1")
	if eight < 7*one || eight > 9*one {
		t.Errorf("one callable takes %d steps, eight take %d", one, eight)
	}
}
