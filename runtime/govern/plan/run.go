package plan

import (
	"bytes"
	"crypto/sha256"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/govern/change"
	"github.com/capgen/capgen/runtime/govern/internal/form"
	"github.com/capgen/capgen/runtime/govern/root"
)

// Bounds of a run. What a host offers may be less.
const (
	MaxWall      = 24 * time.Hour
	MaxRunBytes  = 1 << 40 // of Limits.Memory and Limits.Output
	MaxResult    = 4 << 20 // of Limits.Result
	MaxProcesses = 4096
	MaxParallel  = 64
	MaxWords     = 64 // of Runner.Args, Runner.Env and Runner.Read, each
)

// What every run may have in the directories that it writes to, together.
const (
	RunDisk    = 1 << 30 // bytes that are allocated
	RunEntries = 20_000  // files and directories
)

// Run is candidate code that runs once.
type Run struct {
	Runner Runner
	// Code is the tree of what it can read, of which the canonical text is an
	// object of the content store under the same digest.
	Code change.Hash
	// Arguments are what it is given, canonical, if that is not the plan's own; nil
	// if it is.
	Arguments []byte
	Summary   string // the server's words, which decide nothing
	Limits    Limits
	// Sandbox is the tier that confines it, and Scope the one that ends it, by
	// their names: 1 to 32 of a to z.
	Sandbox, Scope string
}

// Runner is what a host executes candidates with, as it was when the plan was
// made.
type Runner struct {
	Name   string // 1 to 32 of a to z, 0 to 9 and _
	Path   string // of the program, absolute
	SHA256 [sha256.Size]byte
	// Args are what it is started with, the first the name it goes by; Env is all
	// of its environment, and Read the absolute paths of what it has to read and
	// execute besides.
	Args, Env, Read []string
	Entry           string // the file that is run, by segments joined with slashes
	Worker          bool   // it is the host's own worker
}

// Limits bound a run; none of them is 0.
type Limits struct {
	Wall, CPU              time.Duration // whole microseconds, at most MaxWall
	Memory, Output, Result int64         // bytes
	Processes, Parallel    int
}

// File is how many bytes each file may have that a candidate writes: those of its
// output and of its result are files too.
func (l Limits) File() int64 { return max(l.Output, l.Result) }

func (r *Run) check() error {
	switch {
	case !word(r.Sandbox) || !word(r.Scope):
		return invalid("its sandbox, or its scope, is no tier")
	case len(r.Summary) > MaxSummaryBytes || !utf8.ValidString(r.Summary):
		return invalid("its summary has more than %d bytes, or is not UTF-8", MaxSummaryBytes)
	case r.Code == change.Absent.Hash():
		return invalid("it runs nothing")
	}
	if r.Arguments != nil && !canonicalObject(r.Arguments) {
		return invalid("what it is given is no canonical object")
	}
	if err := r.Limits.check(); err != nil {
		return err
	}
	return r.Runner.check()
}

// canonicalObject tells whether text is an object in canonical form.
func canonicalObject(text []byte) bool {
	again, err := canon.CanonicalizeJSON(nil, text, maxDepth-2)
	return err == nil && bytes.Equal(again, text) && again[0] == '{'
}

func (r Runner) check() error {
	switch {
	case r.Name == "" || len(r.Name) > 32 || strings.Trim(r.Name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "":
		return invalid("its runner has no name")
	case !text(r.Path, 1, MaxPathBytes):
		return invalid("its runner's program has no path")
	case r.SHA256 == [sha256.Size]byte{}:
		return invalid("its runner's program has no hash")
	case len(r.Args) == 0 || len(r.Args) > MaxWords || len(r.Env) > MaxWords || len(r.Read) > MaxWords:
		return invalid("its runner has no name to go by, or more than %d arguments, variables or paths", MaxWords)
	case len(r.Entry) > MaxPathBytes:
		return invalid("its entry has more than %d bytes", MaxPathBytes)
	}
	for _, arg := range r.Args {
		if !text(arg, 0, MaxPathBytes) {
			return invalid("an argument of its runner is none")
		}
	}
	for _, path := range r.Read {
		if !text(path, 1, MaxPathBytes) {
			return invalid("a path that its runner reads is none")
		}
	}
	for _, v := range r.Env {
		if name, _, ok := strings.Cut(v, "="); !ok || name == "" || !text(v, 1, MaxPathBytes) {
			return invalid("a variable of its runner is none")
		}
	}
	for name := range strings.SplitSeq(r.Entry, "/") {
		if err := root.CheckName(name); err != nil {
			return invalid("its entry: %w", err)
		}
	}
	return nil
}

func (l Limits) check() error {
	for _, d := range []time.Duration{l.Wall, l.CPU} {
		if d <= 0 || d > MaxWall || d%time.Microsecond != 0 {
			return invalid("its time is none, or more than %v", MaxWall)
		}
	}
	if l.Memory < 1 || l.Memory > MaxRunBytes || l.Output < 1 || l.Output > MaxRunBytes || l.Result < 1 || l.Result > MaxResult ||
		l.Processes < 1 || l.Processes > MaxProcesses || l.Parallel < 1 || l.Parallel > MaxParallel {
		return invalid("a limit of it is none, or out of bounds")
	}
	return nil
}

// word tells whether s names a tier.
func word(s string) bool {
	return s != "" && len(s) <= 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}

// text tells whether s is UTF-8 of least to most bytes, without a zero byte.
func text(s string, least, most int) bool {
	return len(s) >= least && len(s) <= most && utf8.ValidString(s) && !strings.Contains(s, "\x00")
}

func (r *Run) append(b []byte) []byte {
	b = append(b, `{"arguments":`...)
	if r.Arguments == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, r.Arguments...)
	}
	b = append(b, `,"code":`...)
	b = form.AppendHex(b, r.Code[:])
	b = append(b, `,"limits":{"cpu_us":`...)
	for _, m := range []struct {
		value int64
		next  string
	}{
		{r.Limits.CPU.Microseconds(), `,"memory":`},
		{r.Limits.Memory, `,"output":`},
		{r.Limits.Output, `,"parallel":`},
		{int64(r.Limits.Parallel), `,"processes":`},
		{int64(r.Limits.Processes), `,"result":`},
		{r.Limits.Result, `,"wall_us":`},
		{r.Limits.Wall.Microseconds(), `},"runner":{"args":`},
	} {
		b = strconv.AppendInt(b, m.value, 10)
		b = append(b, m.next...)
	}
	b = appendWords(b, r.Runner.Args)
	b = append(b, `,"entry":`...)
	b = canon.AppendString(b, r.Runner.Entry)
	b = append(b, `,"env":`...)
	b = appendWords(b, r.Runner.Env)
	b = append(b, `,"name":`...)
	b = canon.AppendString(b, r.Runner.Name)
	b = append(b, `,"path":`...)
	b = canon.AppendString(b, r.Runner.Path)
	b = append(b, `,"read":`...)
	b = appendWords(b, r.Runner.Read)
	b = append(b, `,"sha256":`...)
	b = form.AppendHex(b, r.Runner.SHA256[:])
	b = append(b, `,"worker":`...)
	b = strconv.AppendBool(b, r.Runner.Worker)
	b = append(b, `},"sandbox":`...)
	b = canon.AppendString(b, r.Sandbox)
	b = append(b, `,"scope":`...)
	b = canon.AppendString(b, r.Scope)
	b = append(b, `,"summary":`...)
	b = canon.AppendString(b, r.Summary)
	return append(b, '}')
}

func appendWords(b []byte, words []string) []byte {
	b = append(b, '[')
	for i, w := range words {
		if i > 0 {
			b = append(b, ',')
		}
		b = canon.AppendString(b, w)
	}
	return append(b, ']')
}

func decodeRun(r *canon.Reader, body []byte) *Run {
	run := &Run{}
	form.Object(r, func(key string) {
		switch key {
		case "arguments":
			if !r.Null() {
				run.Arguments = skipped(r, body)
			}
		case "code":
			form.Hex(r, run.Code[:])
		case "limits":
			run.Limits = decodeLimits(r)
		case "runner":
			run.Runner = decodeRunner(r)
		case "sandbox":
			run.Sandbox = r.String(1, maxText)
		case "scope":
			run.Scope = r.String(1, maxText)
		case "summary":
			run.Summary = r.String(0, MaxSummaryBytes)
		default:
			r.UnknownMember()
		}
	})
	return run
}

func decodeLimits(r *canon.Reader) (l Limits) {
	form.Object(r, func(key string) {
		switch key {
		case "cpu_us":
			l.CPU = form.Micros(r, MaxWall)
		case "memory":
			l.Memory = r.Int(1, MaxRunBytes)
		case "output":
			l.Output = r.Int(1, MaxRunBytes)
		case "parallel":
			l.Parallel = int(r.Int(1, MaxParallel))
		case "processes":
			l.Processes = int(r.Int(1, MaxProcesses))
		case "result":
			l.Result = r.Int(1, MaxResult)
		case "wall_us":
			l.Wall = form.Micros(r, MaxWall)
		default:
			r.UnknownMember()
		}
	})
	return l
}

func decodeRunner(r *canon.Reader) (x Runner) {
	form.Object(r, func(key string) {
		switch key {
		case "args":
			x.Args = decodeWords(r)
		case "entry":
			x.Entry = r.String(1, MaxPathBytes)
		case "env":
			x.Env = decodeWords(r)
		case "name":
			x.Name = r.String(1, maxText)
		case "path":
			x.Path = r.String(1, MaxPathBytes)
		case "read":
			x.Read = decodeWords(r)
		case "sha256":
			form.Hex(r, x.SHA256[:])
		case "worker":
			x.Worker = r.Bool()
		default:
			r.UnknownMember()
		}
	})
	return x
}

func decodeWords(r *canon.Reader) (words []string) {
	r.BeginArray(0, MaxWords)
	for r.NextElement() {
		words = append(words, r.String(0, MaxPathBytes))
	}
	return words
}
