//go:build amd64 || arm64

package runner

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/govern/job/confine"
	"github.com/capgen/capgen/runtime/program"
	"github.com/capgen/capgen/runtime/worker/sandbox"
)

// Bounds of a Starlark candidate. Processor time and the time on the clock are its
// supervisor's.
const (
	maxSource    = 512 << 10 // bytes
	maxArguments = 1 << 20   // bytes
	maxResult    = 16 << 20  // bytes, and no more than a file may have
	maxDepth     = 64        // containers within each other, of arguments and result
	maxSteps     = 1 << 40   // hours of them
	maxComplaint = 4 << 10   // bytes of what went wrong

	defaultMemory = 256 << 20 // bytes
	leastMemory   = 128 << 20 // of addresses: the runtime takes them by the 64 MiB
	gcPercent     = 400       // the process is short-lived, and mostly garbage
)

// Starlark is this program itself, which runs a candidate in a process of its own.
// Its main must call [ServeStarlarkAndExit].
func Starlark() (Runner, error) {
	path, err := os.Executable()
	if err != nil {
		return Runner{}, fmt.Errorf("runner %s: %w", StarlarkName, err)
	}
	return Runner{
		Name:   StarlarkName,
		Path:   path,
		Args:   []string{"candidate", confine.Code + "/" + starlarkEntry},
		Env:    []string{starlarkMark + "=" + StarlarkName, "GOMAXPROCS=1", "GOTRACEBACK=none"},
		Entry:  starlarkEntry,
		Worker: true,
		Note:   "Starlark in a process that can only compute",
	}, nil
}

// serveStarlark runs the candidate whose box is the working directory.
func serveStarlark() {
	endStarlark(runStarlark(sandbox.Layers()))
}

// endStarlark ends the process, and says why.
func endStarlark(code int, err error) {
	if err != nil {
		text := strings.ToValidUTF8(err.Error(), "?")
		writeAll(unix.Stderr, text[:min(len(text), maxComplaint)]+"\n")
	}
	// os.Exit would run hooks first, of which this process needs none.
	syscall.Exit(code)
}

// runStarlark opens what it needs, enters the layers, and only then looks at the
// candidate.
func runStarlark(layers []sandbox.Layer) (exit int, err error) {
	b, err := openBox()
	if err != nil {
		return ExitBox, err
	}
	memory, err := memoryBudget()
	if err != nil {
		return ExitBox, err
	}
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memory / 2)
	runtime.GOMAXPROCS(1)
	table, err := binding.ParseTable(binding.EncodeTable(nil))
	if err != nil {
		return ExitBox, err
	}
	held, missing := sandbox.Enter(sandbox.Options{Memory: max(memory, leastMemory), Keep: []int{b.source, b.arguments, b.result}, File: b.most}, layers...)
	switch {
	case len(missing) > 0:
		return ExitBox, fmt.Errorf("the layer %s of the sandbox does not hold: %w", missing[0].Layer, missing[0].Err)
	case !slices.Equal(held, sandbox.Layers()):
		return ExitBox, fmt.Errorf("of the sandbox only the layers %v hold", held)
	}

	source, err := readAll(b.source, maxSource)
	if err != nil {
		return ExitBox, fmt.Errorf("%s: %w", starlarkEntry, err)
	}
	arguments, err := readAll(b.arguments, maxArguments)
	if err != nil {
		return ExitBox, fmt.Errorf("arguments: %w", err)
	}
	result, failure := program.Run(program.Program{
		Source: string(source), Data: string(arguments), Print: b.print, Memory: memory,
		Limits: program.Limits{Steps: maxSteps, Calls: 1, Depth: maxDepth, ValueBytes: maxResult, ResultBytes: 1, SourceBytes: maxSource, Parallel: 1},
	}, table, nobody{})
	switch {
	case failure != nil && failure.Class == fault.Limit:
		return ExitLimit, errors.New(complaint(failure))
	case failure != nil:
		return ExitProgram, errors.New(complaint(failure))
	case result.NoValue:
		return ExitProgram, errors.New(starlarkEntry + ": it has no result: return one from main()")
	}
	text, _, err := canon.WireToJSON(nil, result.Value, maxDepth+1)
	if err != nil {
		return ExitProgram, fmt.Errorf("%s: the result cannot be written: %w", starlarkEntry, err)
	}
	if int64(len(text)) > b.most {
		return ExitLimit, fmt.Errorf("%s: the result has %d bytes, at most %d", starlarkEntry, len(text), b.most)
	}
	if err := writeAll(b.result, string(text)); err != nil {
		return ExitBox, fmt.Errorf("result: %w", err)
	}
	return 0, nil
}

// complaint is a fault as its author reads it: the position first, then what to do.
func complaint(f *fault.Fault) string {
	text := starlarkEntry
	if f.Line > 0 {
		text += ":" + strconv.Itoa(f.Line)
	}
	if f.Line > 0 && f.Column > 0 {
		text += ":" + strconv.Itoa(f.Column)
	}
	text += ": " + told(f)
	// Hints are for programs, some of which say to call a capability: here is none.
	if f.Hint != "" && !strings.Contains(f.Hint, "capabilit") {
		text += "\nhint: " + f.Hint
	}
	for _, frame := range f.Trace {
		text += "\n  " + frame
	}
	return text
}

// told is the message of f. Of memory it speaks as of a run's: nobody here knows
// of workers, and of their limit.
func told(f *fault.Fault) string {
	if f.Limit != fault.WorkerMemory {
		return f.Message
	}
	text := strings.TrimSuffix(f.Message, fmt.Sprintf(" (%s is %d)", f.Limit, f.Bound))
	return fmt.Sprintf("%s (limits.memory is %d bytes)", strings.Replace(text, "the memory of a worker", "the memory that the run may have", 1), f.Bound)
}

// memoryBudget is what the supervisor gives. Values are held to it; the process may
// have more addresses than that.
func memoryBudget() (int64, error) {
	text, ok := os.LookupEnv(MemoryVariable)
	if !ok {
		return defaultMemory, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/4 {
		return 0, fmt.Errorf("%s is %q, which is no number of bytes", MemoryVariable, text)
	}
	return n, nil
}

// nobody answers native calls, of which there are none.
type nobody struct{}

func (nobody) Call(string, []uint32, []byte) (uint32, *fault.Fault) { return 0, nobody{}.Refused("") }
func (nobody) Answer() (uint32, []byte, *fault.Fault)               { return 0, nil, nobody{}.Refused("") }
func (nobody) Refused(string) *fault.Fault {
	return &fault.Fault{Class: fault.Internal, Message: "a candidate has no capabilities"}
}

// box is what a candidate was given, opened.
type box struct {
	source, arguments, result int // descriptors
	most                      int64
	progress                  []byte // shared with the file; of that many bytes
	line                      []byte // what was printed since the last end of a line, cut
}

func openBox() (b *box, err error) {
	b = new(box)
	for _, file := range []struct {
		fd   *int
		path string
		mode int
	}{
		{&b.source, confine.Code + "/" + starlarkEntry, unix.O_RDONLY},
		{&b.arguments, confine.Arguments, unix.O_RDONLY},
		{&b.result, confine.Out + "/" + confine.Result, unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL},
	} {
		if *file.fd, err = unix.Open(file.path, file.mode|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600); err != nil {
			return nil, fmt.Errorf("%s: %w", file.path, err)
		}
	}
	var size unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &size); err != nil {
		return nil, err
	}
	b.most = int64(min(size.Cur, maxResult))
	if b.progress, err = openProgress(); err != nil {
		return nil, fmt.Errorf("progress: %w", err)
	}
	return b, nil
}

// openProgress makes the file of progress, and maps it: the sandbox leaves no way
// to write a file from its start again.
func openProgress() ([]byte, error) {
	fd, err := unix.Open(confine.Out+"/"+confine.Progress, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if err := writeAll(fd, strings.Repeat(" ", confine.MaxProgress)); err != nil {
		return nil, err
	}
	return unix.Mmap(fd, 0, confine.MaxProgress, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

const progressMark = "progress: "

// print hands on what the program prints, and keeps its progress. What cannot be
// written is lost, as with any pipe that nobody reads.
func (b *box) print(text string) {
	writeAll(unix.Stdout, text)
	for text != "" {
		part, rest, ended := strings.Cut(text, "\n")
		b.line = append(b.line, part[:min(len(part), len(progressMark)+confine.MaxProgress-len(b.line))]...)
		if ended {
			if said, ok := strings.CutPrefix(string(b.line), progressMark); ok {
				said = strings.ToValidUTF8(said, "")
				n := copy(b.progress, said)
				for i := n; i < len(b.progress); i++ {
					b.progress[i] = ' '
				}
			}
			b.line = b.line[:0]
		}
		text = rest
	}
}

// readAll reads what is left of fd, at most so many bytes.
func readAll(fd, most int) ([]byte, error) {
	var text []byte
	buf := make([]byte, 32<<10)
	for {
		n, err := unix.Read(fd, buf)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, err
		case n == 0:
			return text, nil
		case len(text)+n > most:
			return nil, fmt.Errorf("it has more than %d bytes", most)
		default:
			text = append(text, buf[:n]...)
		}
	}
}

func writeAll(fd int, text string) error {
	for text != "" {
		n, err := unix.Write(fd, []byte(text[:min(len(text), 32<<10)]))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n == 0:
			return io.ErrShortWrite
		default:
			text = text[n:]
		}
	}
	return nil
}
