package schema

import (
	"strconv"
	"strings"
	"time"
)

// EffectRun is the effect of a capability that executes candidate code.
const EffectRun = "run"

// The tiers of confinement, as sandbox names them.
const (
	// SandboxNone confines nothing.
	SandboxNone = "none"
	// SandboxLandlock is the least that a run asks for where it says nothing.
	SandboxLandlock = "landlock"
	// SandboxNamespaces confines the most.
	SandboxNamespaces = "namespaces"
	// SandboxWorker is for runners that are the host's own worker: no code of the
	// machine's is the candidate's.
	SandboxWorker = "worker"
)

func sandboxWords() []string {
	return []string{SandboxWorker, SandboxNone, SandboxLandlock, SandboxNamespaces}
}

// maxRunner is the longest name of a runner, in bytes.
const maxRunner = 32

// Bounds of what a run may use.
const (
	minRunTime, maxRunTime     = time.Second, 24 * time.Hour
	minRunMemory, maxRunMemory = 16 << 20, 64 << 30
	minRunOutput, maxRunOutput = 1 << 10, 1 << 30
	minRunResult, maxRunResult = 1 << 10, 1 << 20 // no more than run.result may answer with
	maxRunProcesses            = 1024
	maxRunParallel             = 64
)

// Run says how a capability with effect run executes candidate code.
type Run struct {
	// Runner is the name of what the host registers for it.
	Runner string
	// Sandbox is the least tier of confinement.
	Sandbox string
	// Limits are all set.
	Limits RunLimits
}

// RunLimits bound a run.
type RunLimits struct {
	// Wall is how long it may take, CPU how much processor time each of its
	// processes may use.
	Wall, CPU time.Duration
	// Memory is bytes of each process, Output of its streams together, Result of
	// its result.
	Memory, Output, Result int64
	// Processes is how many it may have at a time, Parallel how many runs of the
	// capability there may be.
	Processes, Parallel int
}

func defaultRunLimits() RunLimits {
	return RunLimits{Wall: time.Minute, Memory: 512 << 20, Output: 1 << 20, Result: 256 << 10, Processes: 16, Parallel: 1}
}

// Text is the runner in a line, as lock files and reviews have it.
//
//	starlark sandbox=worker
func (r *Run) Text() string { return r.Runner + " sandbox=" + r.Sandbox }

// RunLimit is one of RunLimits as a manifest names and writes it; Value orders
// those of one name.
type RunLimit struct {
	Name, Text string
	Value      int64
}

// List are the limits in the order of the reference.
func (l RunLimits) List() []RunLimit {
	duration := func(name string, d time.Duration) RunLimit { return RunLimit{name, formatDuration(d), int64(d)} }
	size := func(name string, n int64) RunLimit { return RunLimit{name, formatSize(n), n} }
	number := func(name string, n int) RunLimit { return RunLimit{name, strconv.Itoa(n), int64(n)} }
	return []RunLimit{
		duration("wall", l.Wall), duration("cpu", l.CPU),
		size("memory", l.Memory), size("output", l.Output), size("result", l.Result),
		number("processes", l.Processes), number("parallel", l.Parallel),
	}
}

// Text is the limits in a line.
//
//	wall=1m cpu=1m memory=512MiB output=1MiB result=256KiB processes=16 parallel=1
func (l RunLimits) Text() string {
	var words []string
	for _, limit := range l.List() {
		words = append(words, limit.Name+"="+limit.Text)
	}
	return strings.Join(words, " ")
}

// run reads runner, sandbox and limits of a run, after effect.
func (l *loader) run(n *node, c *Capability, what string) {
	if c.Effect != EffectRun {
		for _, key := range []string{"runner", "sandbox"} {
			if v := n.get(key); v != nil && c.Effect != "" {
				l.errorf(v.pos, ruleBadRun, "%s has effect %s, and %s is of a run", what, c.Effect, key).hint("remove it, or write effect: run")
			}
		}
		return
	}
	c.Run = &Run{Sandbox: SandboxLandlock, Limits: defaultRunLimits()}
	if v := n.get("runner"); v != nil {
		c.Run.Runner = l.runner(v)
	} else {
		l.errorf(c.At["effect"], ruleMissingField, "%s with effect run needs %s", what, quote("runner")).hint("runner: NAME, one that the host registers")
	}
	if v := n.get("sandbox"); v != nil {
		c.Run.Sandbox, _ = l.word(v, "sandbox", sandboxWords(), nil)
	}
	if v := n.get("limits"); v != nil {
		l.runLimits(v, &c.Run.Limits)
	}
	if c.Run.Limits.CPU == 0 {
		c.Run.Limits.CPU = c.Run.Limits.Wall
	}
	l.runWorld(n, c, what)
}

// runWorld derives the world of a run from its sandbox: open without one, closed
// with any. What the manifest says of it cannot be otherwise.
func (l *loader) runWorld(n *node, c *Capability, what string) {
	v, said, confined := n.get("world"), c.World, c.Run.Sandbox != SandboxNone
	if !confined {
		c.World = "open"
	}
	switch {
	case v == nil || c.Run.Sandbox == "": // the latter is reported already
	case said == "open" && confined:
		l.errorf(v.pos, ruleBadRun, "%s has world open, and sandbox %s leaves a run no network", what, c.Run.Sandbox).
			hint("remove it: what a handler reads from outside, it reads to prepare a run, and gives it as a file")
	case said == "closed" && !confined:
		l.errorf(v.pos, ruleBadRun, "%s has world closed, and sandbox none leaves a run the network", what).
			hint("remove it, or name a sandbox that confines")
	}
}

func (l *loader) runner(n *node) string {
	if n.kind == mappingNode || n.kind == listNode {
		l.errorf(n.pos, ruleWrongType, "runner has to be a string, not %s", n.kind).hint("runner: NAME: %s", argvHint)
		return ""
	}
	s, ok := l.str(n, "runner")
	if ok && (!isSegment(s) || len(s) > maxRunner) {
		l.errorf(n.pos, ruleBadName, "%s is no name of a runner", quote(s)).hint("a-z, then a-z, 0-9 and _, at most %d: %s", maxRunner, argvHint)
		return ""
	}
	return s
}

// runLimits reads {wall, cpu, memory, output, result, processes, parallel}.
func (l *loader) runLimits(n *node, to *RunLimits) {
	if !l.mapping(n, &l.words.runLimits, "limits") {
		return
	}
	if len(n.members) == 0 {
		l.errorf(n.pos, ruleMissingField, "limits is empty").hint("limits: {wall: 60s}, or leave it out: all have defaults")
	}
	for _, m := range []struct {
		key string
		to  *time.Duration
	}{{"wall", &to.Wall}, {"cpu", &to.CPU}} {
		if v := n.get(m.key); v != nil {
			*m.to = l.runTime(v, m.key)
		}
	}
	for _, m := range []struct {
		key       string
		to        *int64
		low, high int64
	}{
		{"memory", &to.Memory, minRunMemory, maxRunMemory},
		{"output", &to.Output, minRunOutput, maxRunOutput},
		{"result", &to.Result, minRunResult, maxRunResult},
	} {
		if v := n.get(m.key); v != nil {
			*m.to = l.byteSize(v, m.key, m.low, m.high)
		}
	}
	if v := n.get("processes"); v != nil {
		to.Processes = l.count(v, "processes", 1, maxRunProcesses)
	}
	if v := n.get("parallel"); v != nil {
		to.Parallel = l.count(v, "parallel", 1, maxRunParallel)
	}
}

func (l *loader) runTime(n *node, what string) time.Duration {
	d, ok := l.duration(n, what, maxRunTime)
	if ok && d < minRunTime {
		l.errorf(n.pos, ruleBadDuration, "%s: %s is below %s", what, quote(n.text), formatDuration(minRunTime)).hint("lengthen it")
	}
	return d
}

// byteSize reads a whole number of bytes with its unit, from low to high.
func (l *loader) byteSize(n *node, what string, low, high int64) int64 {
	if n.kind == numberNode {
		f := l.errorf(n.pos, ruleWrongType, "%s has to be a string, not a number", what).hint(sizeHint)
		if size, ok := parseSize(n.text + "MiB"); ok && low <= size && size <= high {
			f.hint("write the unit: %sMiB", n.text)
		}
		return 0
	}
	s, ok := l.str(n, what)
	if !ok {
		return 0
	}
	size, ok := parseSize(s)
	switch {
	case !ok:
		l.errorf(n.pos, ruleBadSize, "%s: %s is no size", what, quote(s)).hint(sizeHint)
	case size < low || size > high:
		l.errorf(n.pos, ruleBadSize, "%s: %s is not between %s and %s", what, quote(s), formatSize(low), formatSize(high)).hint("change it")
	}
	return size
}

const sizeHint = "a whole number from 1 on and KiB, MiB or GiB: 64KiB, 256MiB"

// sizeUnits are those of sizes, the largest first.
func sizeUnits() []string { return []string{"GiB", "MiB", "KiB"} }

func parseSize(s string) (int64, bool) {
	for i, unit := range sizeUnits() {
		digits, ok := strings.CutSuffix(s, unit)
		if !ok {
			continue
		}
		if digits == "" || digits[0] == '0' || len(digits) > 9 || strings.Trim(digits, "0123456789") != "" {
			return 0, false
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		return n << (10 * (len(sizeUnits()) - i)), err == nil
	}
	return 0, false
}

// formatSize writes a size as a manifest does, in the largest unit that leaves
// a whole number.
func formatSize(n int64) string {
	for i, unit := range sizeUnits() {
		if shift := 10 * (len(sizeUnits()) - i); n>>shift<<shift == n {
			return strconv.FormatInt(n>>shift, 10) + unit
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

const argvHint = "what it is, the host says; argv never stands in a manifest"

// frozen reports keys of other systems that say what a plan freezes or how a
// candidate is started: a plan freezes everything, always, and the rest is the
// host's.
func (l *loader) frozen(n *node) *node {
	if n.kind != mappingNode {
		return n
	}
	refused := func(key, message, hint string) {
		if m := n.member(key); m != nil {
			l.errorf(m.pos, ruleUnknownKey, "a capability takes no key %s: "+message, quote(key)).hint("%s", hint)
			n = without(n, key)
		}
	}
	refused("freeze", "a plan freezes everything",
		"remove it: of a change the arguments, what is there and what is to be there are frozen, of a run the arguments, the files and all that runs them, of a write or destroy the arguments and the preview")
	for _, key := range []string{"argv", "command", "entry", "image"} {
		refused(key, "a manifest says what may run, not how", "runner: NAME, beside effect: run: "+argvHint)
	}
	refused("network", "a run has none", "remove it: what a run needs from outside, its handler gives it as a file")
	return n
}

// runExamples reports examples of c, a run, that show no result.
func (l *loader) runExamples(n *node) {
	if n.kind != listNode {
		return
	}
	for _, item := range n.items {
		if v := item.get("error"); v != nil {
			l.errorf(v.pos, ruleBadExample, "an example of a run shows its result").hint("show how it fails in a program, under programs")
		}
	}
}
