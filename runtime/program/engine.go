package program

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program/lower"
	"github.com/capgen/capgen/runtime/program/python"
)

// engine is the state of one execution. One goroutine uses it at a time: that
// of the current task.
type engine struct {
	limits Limits
	memory int64 // of the process
	table  *binding.Table
	caller Caller

	thread  *starlark.Thread // of the current task
	current *task
	schedule
	// fatal ends the program: every task that is to go on fails with it.
	fatal       error
	predeclared starlark.StringDict

	data        string  // JSON text, empty for none
	printed     *prints // nil where prints are discarded
	requireMain bool

	// running is set while native calls are possible: where main is required,
	// while it runs.
	running bool
	// entered is set when main() runs: the top level is in no trace then.
	entered bool
	// outOfSteps is set when the step limit cancelled the thread.
	outOfSteps bool
	// tooDeep is set when the recursion limit did.
	tooDeep  bool
	attempts int64 // native calls tried
	received int64 // bytes of their results

	outcomeShape *shape // of attempt's records
	failureShape *shape
	methods      map[string]*methods            // by name, made at first use
	modules      map[string]*module             // by name, made at first use
	classes      map[string]*class              // by name, made at first use
	tree         *python.Module                 // the program
	letters      *[utf8.RuneSelf]starlark.Value // strings of one ASCII character, made at first use
	signatures   signatures                     // of the program's functions
	early        map[*starlark.Thread]error     // what ended an iteration, until it is raised
	found        *places                        // in tree, at first use
	spreadLast   starlark.Value                 // what stood behind ** in the call before
	removals     int                            // of keys of dicts

	singles  [utf8.RuneSelf]starlark.Value // texts of one ASCII character, made at first use
	pointsOf pointsCache
	crowds   crowds // of its large dicts and sets

	capabilities map[string]*capability // by dotted name, compiled at first use
}

// has tells the resolver whether name exists beside the program's own and
// Starlark's names. A namespace is built here, when a program first names it.
func (e *engine) has(name string) bool {
	if e.predeclared.Has(name) {
		return true
	}
	if v := e.builtin(name); v != nil {
		e.predeclared[name] = v
		return true
	}
	if v := e.helper(name); v != nil {
		e.predeclared[name] = v
		return true
	}
	if name == dataName && e.data != "" {
		e.predeclared[name] = starlark.None // until it is read
		return true
	}
	if !e.isNamespace(name) {
		return false
	}
	e.predeclared[name] = &namespace{engine: e, name: name}
	return true
}

// isPredeclared tells whether name is one that has reports, or Starlark's own,
// and makes nothing of it.
func (e *engine) isPredeclared(name string) bool {
	return e.builtin(name) != nil || starlark.Universe.Has(name) || e.isNamespace(name) || name == dataName && e.data != ""
}

// run executes compiled code and returns what its entry function returned.
func (e *engine) run(c *code) (starlark.Value, *fault.Fault) {
	e.enter(&task{thread: e.newThread(), baton: make(chan struct{}, 1)})

	if failure := e.readData(); failure != nil {
		return nil, failure
	}
	globals, err := c.program.Init(e.thread, e.predeclared)
	if err != nil {
		return nil, e.runtimeFault(err)
	}
	e.running = !e.requireMain
	value, err := starlark.Call(e.thread, globals[lower.Entry], nil, nil)
	e.running = false
	if err != nil {
		return nil, e.runtimeFault(err)
	}
	return value, nil
}

// enterMain runs main(): native calls are possible from here on.
func (e *engine) enterMain(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	e.running, e.entered = true, true
	v, err := starlark.Call(thread, args[0], nil, nil)
	if c, ok := v.(*coroutine); ok && err == nil {
		return c.run(thread)
	}
	return v, err
}

const (
	// maxRecursion bounds the frames of a program, give or take minCheckSteps.
	// The interpreter's own bound, 100,000, takes seconds and hundreds of
	// megabytes to reach.
	maxRecursion = 5_000
	// maxCheckSteps and minCheckSteps bound how many steps pass between two
	// checkpoints.
	maxCheckSteps = 10_000
	minCheckSteps = 50
)

// checkpoint is called by the interpreter each time the steps it was allowed
// are used up: it ends the program, or allows more.
func (e *engine) checkpoint(t *starlark.Thread) {
	switch {
	case t.Steps >= uint64(e.limits.Steps):
		e.outOfSteps = true
		t.Cancel("too many steps")
	case e.depth(t) > maxRecursion:
		e.tooDeep = true
		t.Cancel("too deep")
	default:
		e.allow(t)
	}
}

// allow lets t, which runs, take steps until the next checkpoint. No call takes
// less than a step, so that frames cannot outgrow their bound in between.
func (e *engine) allow(t *starlark.Thread) {
	steps := min(max(maxRecursion-e.depth(t), minCheckSteps), maxCheckSteps)
	t.SetMaxExecutionSteps(min(t.Steps+uint64(steps), uint64(e.limits.Steps)))
}

// depth is how many frames stand on top of each other in t, which runs, and in
// those that wait for its end.
func (e *engine) depth(t *starlark.Thread) int {
	return e.current.base + t.CallStackDepth()
}

func (e *engine) steps() int64 {
	if e.thread == nil {
		return 0
	}
	return int64(min(e.thread.Steps, uint64(e.limits.Steps)))
}

// fault returns a fault without a position.
func (e *engine) fault(class fault.Class, message string) *fault.Fault {
	return &fault.Fault{Class: class, Message: message}
}

// isCapability reports whether there is a capability of that name.
func (e *engine) isCapability(name string) bool {
	_, found := slices.BinarySearch(e.table.Names(), name)
	return found
}

// isNamespace reports whether some capability's name starts with name and a
// dot. Names are sorted.
func (e *engine) isNamespace(name string) bool {
	names := e.table.Names()
	prefix := name + "."
	i, _ := slices.BinarySearch(names, prefix)
	return i < len(names) && strings.HasPrefix(names[i], prefix)
}
