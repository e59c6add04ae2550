package hostvet

import (
	"fmt"
	"strings"
)

// trace is the first thing of a kind that a function reaches, and the way.
type trace struct {
	Kind kind
	What string   // os.WriteFile
	At   string   // file.go:12, in the last function of the way
	Way  []string // the functions between, the nearest first
}

// maxWay bounds the way that a message shows.
const maxWay = 6

// from is the trace of a caller of the function named via.
func (t trace) from(via string) trace {
	way := append([]string{via}, t.Way...)
	if len(way) > maxWay {
		way = append(append([]string{}, way[:maxWay-1]...), "…")
	}
	t.Way = way
	return t
}

func (t trace) String() string {
	if len(t.Way) == 0 {
		return fmt.Sprintf("%s (%s)", t.What, t.At)
	}
	return fmt.Sprintf("%s (%s, by way of %s)", t.What, t.At, strings.Join(t.Way, ", "))
}

// reaches is the fact of a function: a trace for each kind it can reach, in
// order of kinds.
type reaches struct{ Traces []trace }

func (*reaches) AFact() {}

func (f *reaches) String() string {
	var parts []string
	for _, t := range f.Traces {
		parts = append(parts, fmt.Sprintf("%s %s", t.Kind, t))
	}
	return strings.Join(parts, "; ")
}

func (k kind) String() string {
	switch k {
	case privileged:
		return "privileged"
	case prints:
		return "prints"
	case writes:
		return "writes"
	case serves:
		return "serves"
	case speaks:
		return "speaks"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// initialization is the fact of a package: all packages, itself and those it
// imports directly or not, that do something privileged while they are
// initialized; sorted by path.
type initialization struct{ Packages []privilegedPackage }

type privilegedPackage struct {
	Path, Module string
	Trace        trace
}

func (*initialization) AFact() {}

func (f *initialization) String() string {
	var parts []string
	for _, p := range f.Packages {
		parts = append(parts, p.Path+": "+p.Trace.String())
	}
	return "init " + strings.Join(parts, "; ")
}

// handles is the fact of a method of a generated interface of handlers: which
// capability it is, with the effect that the manifest declares.
type handles struct{ ID, Effect string }

func (*handles) AFact() {}

func (f *handles) String() string { return f.ID + " is " + f.Effect }

// entersWorker is the fact of a package whose TestMain begins with the
// worker's entry: it stands for the tests of the external test package too.
type entersWorker struct{}

func (*entersWorker) AFact() {}

func (*entersWorker) String() string { return "enters the worker" }
