package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/worker"
)

// ServerInfo is what a server says of itself to its clients.
type ServerInfo struct{ Name, Title, Version, Instructions string }

// Options configure a server. Only Authorizer has no default.
type Options struct {
	Server ServerInfo
	// Authorizer decides every native call. It is required: a host that wants
	// everything allowed writes authz.AllowAll().
	Authorizer authz.Authorizer
	// Limits; zero fields mean defaults.
	Limits Limits
	// DisabledCapabilities are ids that are compiled in and shall not exist in
	// this server: not in search, description, namespaces or dispatch. An id
	// that is unknown or stands twice is an error.
	DisabledCapabilities []string
	// Deployment is the one that the host means to serve. Build fails when the
	// capabilities were compiled for another; empty takes what they were
	// compiled for, or "default" where nothing says.
	Deployment string
	// RequireMain refuses programs that define no main(), and native calls
	// outside of it. Without it a program may be a script, too.
	RequireMain bool
	// Logger gets what clients must not see. Nil discards it. Arguments,
	// results and source are never logged.
	Logger *slog.Logger
	// Audit gets every decision about a native call, and what came of those
	// that were allowed. A call whose decision it cannot keep is refused. If
	// it has a Close method, Server.Close calls it, after the last call. Nil
	// records nothing.
	Audit audit.Sink
	// Sandbox says what Build and every execution do about layers of the
	// sandbox that the system cannot give; the zero value is SandboxAuto.
	Sandbox Sandbox
	// HostKey, at least MinHostKeyBytes of secret, is what the keys of calls
	// are derived with (see CallKey). Processes that share load share it, and
	// so do those that follow one another, or a repetition at another one has
	// other keys. Empty is a random one for this process.
	HostKey []byte
	// IdleWorkers is how many workers wait, ready, for a program, but never
	// more than MaxConcurrentExecutions; zero means DefaultIdleWorkers, and
	// NoIdleWorkers that each execution starts its own.
	IdleWorkers int
	// Cgroup is the absolute path of a control group (Linux, version 2) that
	// was delegated to this process's user, with the controllers memory and
	// pids and without a process in it. Each worker then lives in a group of
	// its own below it, which bounds its memory a second time, what the kernel
	// keeps for it included, and its threads. Empty uses none.
	Cgroup string
	// WorkerExecutable is the absolute path of the binary that workers run, a
	// cmd/capgen-worker of this version. Build refuses one that somebody else
	// than root and this process's user could change. Empty takes the file
	// capgen-worker beside this executable, if it is there and can be trusted
	// so, and otherwise this executable itself. Only Linux runs another one.
	WorkerExecutable string
	// WorkerSHA256 is the SHA-256 of that binary in hexadecimal, which a build
	// of both sets by the linker. Another file is not run. Empty compares
	// nothing.
	WorkerSHA256 string
}

// Numbers of Options.IdleWorkers.
const (
	DefaultIdleWorkers = 4
	NoIdleWorkers      = -1
)

// Builder collects capabilities for one server. It is used once, by one
// goroutine.
type Builder struct {
	options      Options
	capabilities []Capability
	problems     []error
	built        bool
	deployment   string // what generated code was compiled for
	required     []Requirement
	sources      []CredentialSource
	trial        bool
}

// NewBuilder returns an empty builder.
func NewBuilder(o Options) *Builder { return &Builder{options: o} }

// Register adds a capability. What is wrong with it is reported by Build,
// together with everything else. It panics after Build.
func (b *Builder) Register(c Capability) {
	if b.built {
		panic("runtime: Register after Build")
	}
	b.capabilities = append(b.capabilities, c)
}

// Fail records a problem that keeps Build from succeeding; generated code
// reports missing handlers with it. It panics after Build.
func (b *Builder) Fail(subject, message string) {
	if b.built {
		panic("runtime: Fail after Build")
	}
	b.problems = append(b.problems, fmt.Errorf("%s: %s", subject, message))
}

// Deployment tells for which deployment the capabilities were compiled;
// generated code calls it. It panics after Build.
func (b *Builder) Deployment(name string) {
	if b.built {
		panic("runtime: Deployment after Build")
	}
	if b.deployment != "" && b.deployment != name {
		b.Fail("deployment", fmt.Sprintf("capabilities of %s and of %s in one server", quoted(b.deployment), quoted(name)))
	}
	b.deployment = name
}

// Build checks everything that was registered, starts one worker as a probe,
// begins to start the idle ones and returns the immutable server. All problems are returned together, each
// naming its capability. It succeeds at most once and refuses to run inside a
// worker, where it would start workers without end.
func (b *Builder) Build(ctx context.Context) (*Server, error) {
	if worker.IsWorker() {
		return nil, errors.New("runtime: Build inside a worker: runtime.ServeWorkerAndExit must be the first statement of main")
	}
	if b.built {
		return nil, errors.New("runtime: Build was called before on this builder")
	}
	b.built = true

	problems := b.problems
	limits, err := b.options.Limits.withDefaults()
	if err != nil {
		problems = append(problems, err)
	}
	if isNil(b.options.Authorizer) {
		problems = append(problems, errors.New("no authorizer: set Options.Authorizer, or write authz.AllowAll() to allow everything"))
	}
	switch asked := b.options.Deployment; {
	case asked == "":
		b.options.Deployment = cmp.Or(b.deployment, "default")
	case b.deployment != "" && b.deployment != asked:
		problems = append(problems, fmt.Errorf("Options.Deployment is %s, but the capabilities were compiled for %s", quoted(asked), quoted(b.deployment)))
	}
	required, errs := b.requirements()
	problems = append(problems, errs...)
	credentials, errs := b.credentials()
	problems = append(problems, errs...)
	idle, err := idleWorkers(b.options.IdleWorkers, limits)
	if err != nil {
		problems = append(problems, err)
	}
	key, err := hostKey(b.options.HostKey)
	if err != nil {
		problems = append(problems, err)
	}
	catalog, errs := newCatalog(b.capabilities, b.options.DisabledCapabilities)
	problems = append(problems, errs...)
	if len(errs) == 0 && catalog.byName(string(JobResult)) != nil {
		problems = append(problems, limits.tooLowForJobs()...)
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("runtime: the server cannot be built:\n%w", errors.Join(problems...))
	}

	pool, workers, release, err := newWorkers(ctx, b.options, limits, catalog, idle)
	if err != nil {
		return nil, err
	}
	s := newServer(b.options, limits, catalog, pool)
	s.hostKey, s.workers, s.release = key, workers, release
	s.required, s.dispatcher.credentials = required, credentials
	s.log.InfoContext(ctx, "workers", "deployment", s.deployment, "binary", workers.Binary.String(), "sandbox", workers.Sandbox.String(),
		"layers", workers.Confinement.String(), "missing", workers.Confinement.Missing, "memory", workers.Memory)
	if passed := workers.Binary.Passed; passed != nil {
		s.log.WarnContext(ctx, "a worker binary beside this executable is not used", "error", passed)
	}
	return s, nil
}

func idleWorkers(n int, limits Limits) (int, error) {
	switch {
	case n == NoIdleWorkers:
		return 0, nil
	case n < 0:
		return 0, fmt.Errorf("Options.IdleWorkers is %d: set a number, or NoIdleWorkers for none", n)
	}
	return min(cmp.Or(n, DefaultIdleWorkers), limits.MaxConcurrentExecutions), nil
}

// isNil finds a nil authorizer, also one hidden in a non-nil interface. It
// runs once, at Build.
func isNil(a authz.Authorizer) bool {
	if a == nil {
		return true
	}
	switch v := reflect.ValueOf(a); v.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Slice, reflect.Chan, reflect.Interface:
		return v.IsNil()
	default:
		return false
	}
}

// ServeWorkerAndExit is the first statement of main, and of each TestMain
// whose tests build a server. In the host it returns at once. In a worker
// process it serves one probe or one execution over standard input and output
// and exits; what stands after it never runs there.
func ServeWorkerAndExit() { worker.ServeWorkerAndExit() }

// IsWorker reports whether this process is a worker.
func IsWorker() bool { return worker.IsWorker() }

// quoted shows a hostile or mistaken text in an error.
func quoted(text string) string {
	const max = 80
	if len(text) > max {
		text = strings.ToValidUTF8(text[:max], "") + "…"
	}
	return fmt.Sprintf("%q", text)
}
