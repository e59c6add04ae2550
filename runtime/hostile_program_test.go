package runtime

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/fault"
)

// soak makes TestHostilePrograms run the whole shared suite. `make soak` sets it.
var soak = flag.Bool("soak", false, "run every hostile program of the shared suite, not only a fixed part")

const (
	// hostileTime is MaxExecutionTime where programs are to end by it.
	hostileTime = 300 * time.Millisecond
	// hostilePatience is MaxExecutionTime where steps are to end them.
	hostilePatience = 20 * time.Second
	// hostileSlack is how long after it an execution may return, on a machine
	// that does much else.
	hostileSlack = 3 * time.Second
	// hostileHost bounds what the host may grow by: an execution's answer takes
	// a few times MaxValueBytes.
	hostileHost = detectorMemory * 32 << 20
)

// hostileCase is a program, and how it must end.
type hostileCase struct {
	name, source string
	class        fault.Class // empty: it has a result
	limit        string
	// ends are the ways that the table names for a program of the suite, which
	// has no class and limit here.
	ends []string
}

// mainOf wraps a body into a program.
func mainOf(lines ...string) string { return "def main():\n  " + strings.Join(lines, "\n  ") + "\n" }

func hostileCases() []hostileCase {
	fails := func(class fault.Class) func(name, source string) hostileCase {
		return func(name, source string) hostileCase { return hostileCase{name: name, source: source, class: class} }
	}
	limited := func(limit string) func(name, source string) hostileCase {
		return func(name, source string) hostileCase {
			return hostileCase{name: name, source: source, class: fault.Limit, limit: limit}
		}
	}
	succeeds, invalid, broken := fails(""), fails(fault.InvalidProgram), fails(fault.ProgramError)
	bytes, depth, steps := limited("MaxValueBytes"), limited("MaxValueDepth"), limited("MaxSteps")
	nested := func(n int) string {
		return mainOf("x = 1", fmt.Sprintf("for i in range(%d): x = [x]", n), "return x")
	}
	list := []hostileCase{
		// Source text.
		limited("MaxSourceBytes")("source of one byte too many", strings.Repeat("#", 64<<10+1)),
		invalid("source that is all comment", strings.Repeat("#", 64<<10)),
		invalid("empty", ""), invalid("blank", " \n\t\n"),
		invalid("NUL", "x = 1\x00"), invalid("invalid UTF-8", "x = '\xff'"), succeeds("byte order mark", "\ufeffresult = 1"),
		invalid("half a surrogate pair", "x = '\xed\xa0\x80'"),
		succeeds("CR for line ends", "x = 1\rresult = 2"), succeeds("CRLF", "def main():\r\n  return 1\r\n"),
		succeeds("U+2028 and U+202E in a string", "result = '\u2028\u202e'"),
		invalid("load", "load('a', 'b')"), invalid("main with a parameter", "def main(a):\n  return a"),
		invalid("a sum of 30,000", mainOf("return "+strings.Repeat("1+", 30_000)+"1")),
		invalid("30,000 attributes", mainOf("x = 1", "return x"+strings.Repeat(".a", 30_000))),
		invalid("30,000 calls", mainOf("return main"+strings.Repeat("()", 30_000))),
		invalid("4,000 branches", mainOf("if 0: pass", strings.TrimSuffix(strings.Repeat("elif 0: pass\n  ", 4000), "\n  "))),
		// What main returns.
		succeeds("a string of all the bytes there are", mainOf("return 'x' * (1048576 - 5)")),
		bytes("a string of one byte more", mainOf("return 'x' * (1048576 - 4)")),
		succeeds("a list of all the bytes there are", mainOf("return [1] * (1048576 - 5)")),
		bytes("a list of one byte more", mainOf("return [1] * (1048576 - 4)")),
		bytes("control characters, six times as long in JSON", mainOf("return '\\x00' * 1048571")),
		bytes("a huge key", mainOf("return {'k' * 2000000: 1}")),
		bytes("many members", mainOf("return {str(i): 'x' * 100 for i in range(20000)}")),
		succeeds("32 deep", nested(32)), depth("33 deep", nested(33)),
		depth("a list that holds itself", mainOf("x = []", "x.append(x)", "return x")),
		depth("a dict that holds itself", mainOf("x = {}", "x['a'] = x", "return x")),
		bytes("2^30 leaves in 30 lists", mainOf("x = 1", "for i in range(30): x = [x, x]", "return x")),
		invalid("a function", mainOf("return main")), invalid("a builtin", mainOf("return len")),
		invalid("a capability", mainOf("return records.lookup")), invalid("a namespace", mainOf("return records")),
		invalid("a set", mainOf("return set([1])")), invalid("a range", mainOf("return range(3)")),
		invalid("not a number", mainOf("return float('nan')")), invalid("infinity", mainOf("return float('inf')")),
		invalid("a key that JSON does not have", mainOf("return {(1,): 1}")), invalid("keys that are one in JSON", mainOf("return {1: 1, '1': 1}")),
		succeeds("a character of two bytes", mainOf("return 'é'[:1]")), succeeds("one as a key", mainOf("return {'é'[:1]: 1}")),
		invalid("half a surrogate pair of an escape", mainOf("return '\\ud800'")), broken("half a surrogate pair of a number", mainOf("return chr(0xd800)")),
		succeeds("4,300 digits", mainOf("x = 1", "for i in range(4299): x = x * 10", "return -x")),
		invalid("4,301 digits", mainOf("x = 1", "for i in range(4300): x = x * 10", "return x")),
		// What the interpreter does.
		steps("endless loop", mainOf("while True: pass")),
		steps("endless loop at the top level", "while True: pass"),
		steps("a loop inside a builtin", mainOf("return max(range(2000000000))")),
		broken("recursion", "def f(): return f()\ndef main(): return f()"),
		broken("recursion through a builtin", "def f(x): return sorted([1, 2], key = f)\ndef main(): return f(1)"),
		broken("comparison of what holds itself", mainOf("x = []", "y = []", "x.append(y)", "y.append(x)", "return x == y")),
		broken("division by zero", mainOf("return 1 // 0")),
		broken("a long message", mainOf("fail('x' * 10000000)")),
		broken("a message of control characters", mainOf("fail('\\x00\\x1b\\u202e')")),
		succeeds("many prints", mainOf("for i in range(20000): print('x' * 100)", "return 1")),
		limited("WorkerMemory")("a string of 1 GB", mainOf("x = 'x' * 1000000000", "return len(x + x + x)")),
		limited("WorkerMemory")("a list of a billion", mainOf("return len(list(range(1000000000)))")),
		broken("JSON 2,000,000 deep", mainOf("return json.decode('[' * 2000000 + ']' * 2000000)")),
		broken("10,000,000 digits", mainOf("return int('9' * 10000000)")),
		broken("10,000,000 digits of JSON", mainOf("return json.decode('9' * 10000000)")),
		limited("MaxSourceBytes")("a literal of 10,000,000 digits", "x = "+strings.Repeat("9", 10_000_000)),
		limited("MaxSourceBytes")("a sum of 5 MB", mainOf("return "+strings.Repeat("1+", 2_500_000)+"1")),
		broken("a list that holds itself as text", mainOf("x = []", "for i in range(100000): x = [x]", "return str(x)")),
		steps("2^40 leaves as text", mainOf("x = ['x']", "for i in range(40): x = [x, x]", "return len(str(x))")),
		steps("8 endless callables", "def f():\n  while True: pass\ndef main(): return parallel([f] * 8)"),
		steps("endless callables that call", "def f():\n  attempt(records.lookup, key = 'a')\n  while True: pass\ndef main(): return parallel([f] * 8)"),
		steps("keys that are hashed alike", mainOf("d = {}", "for i in range(100000): d[i << 32] = i", "return 1")),
		depth("JSON 33 deep", mainOf("return json.decode('[' * 33 + ']' * 33)")),
		// Native calls.
		limited("MaxNativeCalls")("calls without end", mainOf("while True: records.lookup(key = 'a')")),
		fails(fault.InvalidArguments)("bad arguments in a loop", mainOf("for i in range(100000): records.lookup(key = i)")),
		fails(fault.InvalidArguments)("positional arguments", mainOf("records.lookup('a')")),
		fails(fault.InvalidArguments)("an argument that is too long", mainOf("records.lookup(key = 'x' * 100000)")),
		fails(fault.InvalidArguments)("an argument that holds itself", mainOf("x = []", "x.append(x)", "records.lookup(key = x)")),
		bytes("an argument of many bytes", mainOf("records.lookup(key = 'x' * 10000000)")),
		fails(fault.InvalidArguments)("a huge integer", mainOf("records.lookup(key = 'a', limit = 1 << 200)")),
		fails(fault.InvalidArguments)("a huge name", mainOf("records.lookup(**{'x' * 10000000: 1})")),
		fails(fault.NotFound)("an unknown capability", mainOf("records.drop()")),
	}
	for _, prefix := range []string{"(", "[", "{", "-", "~", "+", "not ", "lambda: ", "1 if 1 else "} {
		list = append(list, invalid("64 KiB of "+prefix, "x = "+strings.Repeat(prefix, (64<<10-8)/len(prefix))+"1"))
	}
	return list
}

// hostileSuite reads the shared suite, or the part of it that belongs to every
// run of the tests.
func hostileSuite(t *testing.T) []hostileCase {
	t.Helper()
	directory, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for range 6 {
		directory = filepath.Dir(directory)
		if names, _ = filepath.Glob(filepath.Join(directory, "shared", "suites", "hostile", "*.star")); len(names) > 0 {
			break
		}
	}
	if len(names) == 0 {
		t.Log("the shared suite of hostile programs is not beside this repository: only the programs of this file run")
		return nil
	}
	slices.Sort(names)
	var list []hostileCase
	table := hostileTable(t)
	if len(table) != len(names) {
		t.Errorf("the table has %d programs, the suite %d", len(table), len(names))
	}
	for i, name := range names {
		if !*soak && i%30 != 0 {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(name)
		if len(table[base]) == 0 {
			t.Errorf("%s is not in the table", base)
		}
		list = append(list, hostileCase{name: base, source: string(source), ends: table[base]})
	}
	return list
}

// hostileTable reads how each program of the shared suite ends: "a result", or
// the class of its failure and the limit that fired. Programs that the machine's
// speed may end by time have two ways.
func hostileTable(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	table := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		name, ends, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, end := range strings.Split(ends, "|") {
			table[name] = append(table[name], strings.TrimSpace(end))
		}
	}
	return table
}

// A hostile program ends in time and in a way of its own, and leaves a host
// that serves the next one, without a process or memory of the last.
func TestHostilePrograms(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nothing bounds the memory of a worker here")
	}
	// Steps are what ends a loop here, however slow the machine is.
	few := build(t, Options{Limits: Limits{MaxSteps: 1_000_000, MaxExecutionTime: hostilePatience}}, NewCapability(lookupInfo(), lookup))
	suite := build(t, Options{Limits: Limits{MaxSteps: 3_000_000, MaxExecutionTime: hostilePatience}}, NewCapability(lookupInfo(), lookup))
	cases := hostileCases()
	if !testing.Short() {
		cases = append(cases, hostileSuite(t)...)
	}
	peak := peakMemory(t)
	seen := map[string]int{}
	for i, c := range cases {
		server, bound := few, few.Limits().MaxExecutionTime
		if len(c.ends) > 0 {
			server, bound = suite, suite.Limits().MaxExecutionTime
		}
		began := time.Now()
		x, err := server.Execute(t.Context(), authz.Local(), c.source)
		took := time.Since(began)
		outcome := describeOutcome(t, x, err)
		seen[outcome]++
		if *soak {
			t.Logf("%-40s %-34s %6d ms", c.name, cmp.Or(outcome, "a result"), took.Milliseconds())
		}
		if took > bound+hostileSlack {
			t.Errorf("%s: took %v", c.name, took)
		}
		if want := strings.TrimSpace(string(c.class) + " " + c.limit); len(c.ends) == 0 && outcome != want {
			t.Errorf("%s: ended with %q, want %q: %v", c.name, outcome, want, err)
		}
		if end := cmp.Or(outcome, "a result"); len(c.ends) > 0 && !slices.Contains(c.ends, end) {
			t.Errorf("%s: ended with %q, the table has %q: %v", c.name, end, c.ends, err)
		}
		if left := leftChildren(t); len(left) > 0 {
			t.Errorf("%s: left the processes %v", c.name, left)
		}
		if len(c.ends) == 0 && i%8 != 0 && !*soak {
			continue
		}
		if next, err := few.Execute(t.Context(), authz.Local(), lookupProgram); err != nil || string(next.Result) != "20" {
			t.Fatalf("%s: the next execution: %s, %v", c.name, next.Result, err)
		}
	}
	for _, outcome := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%4d %s", seen[outcome], cmp.Or(outcome, "a result"))
	}
	if grown := peakMemory(t) - peak; grown > hostileHost {
		t.Errorf("the host grew by %d MiB", grown>>20)
	}
}

// describeOutcome names the class and the limit of a failure, and checks what
// holds for each: a client is told of its program and in few words.
func describeOutcome(t *testing.T, x Execution, err error) string {
	t.Helper()
	if x.Receipt.Execution == "" {
		t.Errorf("no receipt: %v", err)
	}
	if err == nil {
		if len(x.Result) == 0 {
			t.Error("no result and no error")
		}
		return ""
	}
	var e *Error
	if !errors.As(err, &e) || x.Result != nil {
		t.Fatalf("not an *Error, or a result beside it: %v", err)
	}
	f := e.Fault()
	switch f.Class {
	case fault.InvalidProgram, fault.ProgramError, fault.InvalidArguments, fault.NotFound:
	case fault.WorkerLost:
		if f.Hint == "" {
			t.Errorf("no hint: %v", err)
		}
	case fault.Limit:
		if strings.Contains(f.Message, "nothing ran") {
			t.Errorf("an earlier execution holds its place: %v", err)
		}
		if f.Limit == "" || f.Bound == 0 || !strings.Contains(f.Message, f.Limit) {
			t.Errorf("the limit is not named: %+v", f)
		}
	default:
		t.Errorf("class %s: %v", f.Class, err)
	}
	if f.Message == "" || len(f.Message) > fault.MaxMessage {
		t.Errorf("a message of %d bytes", len(f.Message))
	}
	return strings.TrimSpace(string(f.Class) + " " + f.Limit)
}

// Executions that are all hostile at once still end by the deadline, and each
// by its own.
func TestHostileProgramsAtOnce(t *testing.T) {
	const clients = 40
	s := build(t, Options{Limits: Limits{MaxExecutionTime: hostileTime}}, NewCapability(lookupInfo(), lookup))
	results := make(chan error, clients)
	began := time.Now()
	for range clients {
		go func() {
			_, err := s.Execute(context.Background(), authz.Local(), mainOf("return max(range(2000000000))"))
			results <- err
		}()
	}
	waited := 0
	for range clients {
		err := <-results
		if !errors.Is(err, ErrResourceLimit) || !strings.Contains(err.Error(), "MaxExecutionTime") {
			t.Error(err)
		} else if strings.Contains(err.Error(), "nothing ran") {
			waited++
		}
	}
	if took := time.Since(began); took > hostileTime+hostileSlack {
		t.Errorf("took %v", took)
	}
	if waited == 0 {
		t.Error("no execution waited for a worker")
	}
	if left := leftChildren(t); len(left) > 0 {
		t.Errorf("left the processes %v", left)
	}
}

// leftChildren lists those that are there after a moment: killed processes are
// reaped soon, not at once.
func leftChildren(t *testing.T) (pids []string) {
	t.Helper()
	for range 100 {
		if pids = ownChildren(t); len(pids) == 0 {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return pids
}

// ownChildren lists the processes whose parent is this one, zombies included.
func ownChildren(t *testing.T) (pids []string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return nil
	}
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(names) == 0 {
		t.Fatalf("no process is listed: %v", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // gone
		}
		_, after, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(after); len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			pids = append(pids, filepath.Base(filepath.Dir(name)))
		}
	}
	return pids
}

// peakMemory is the most bytes this process ever had resident.
func peakMemory(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}
