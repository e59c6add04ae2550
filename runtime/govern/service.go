package govern

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/capgen/capgen/authz"
	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/runner"
	"github.com/capgen/capgen/runtime/govern/job/supervise"
	"github.com/capgen/capgen/runtime/govern/root"
	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/token"
)

// Options are what a service is made of. Store and State have no default.
type Options struct {
	// Store holds the rows; it stays the caller's to close.
	Store *store.Store
	// State is the state directory, for the server's account alone: objects,
	// keys of tokens, and locks of running calls are in it. It stays the
	// caller's to close, and so do Roots.
	State root.Dir
	// Roots are the directories below which changes land, by name.
	Roots map[string]root.Dir
	// Trust reads the trust root, anew for each decision, so that a revocation
	// holds at once. One that does not exist trusts nobody. Nil does not either.
	Trust func() (*approve.TrustRoot, error)
	// Sources keep approvals beside the store, as an approval daemon does.
	Sources []approve.Source
	// Peer is the user id of the account that a request comes from, where the
	// transport tells. Nil is never.
	Peer func(context.Context) (uid uint32, ok bool)
	// Command is what operators type to run this server's binary.
	Command string
	// Now is the moment by both clocks; nil asks the system.
	Now func() token.Instant
	// Logger gets what goes wrong and programs do not see; nil discards it.
	Logger *slog.Logger
	// NoRecovery has Open leave alone what was interrupted, for who is about to
	// cancel or to recover.
	NoRecovery bool

	// What runs take. Path is the absolute path of State, and Supervisor what is
	// started for each job, with one more argument: a program that calls [Supervise]
	// with that.
	Path       string
	Supervisor []string
	// Runners are what candidates are executed with.
	Runners []runner.Runner
	// Tiers are what this host has to confine candidates with, and to hold their
	// processes. Nil is to try.
	Tiers func(context.Context) Tiers
	// Results check what candidates have come to, and return it in canonical form,
	// by the ids of capabilities.
	Results map[string]func([]byte) ([]byte, error)
	// MaxJobs is how many runs there may be at a time; 0 is DefaultMaxJobs.
	MaxJobs int
	// JobUIDs are accounts for candidates, one for each at a time; none are the
	// server's own.
	JobUIDs UIDs
	// Cgroup is a control group that was delegated to the server, to hold jobs; empty
	// is none.
	Cgroup string
}

// UIDs are N accounts, from First on.
type UIDs struct{ First, N int }

func (u UIDs) has(uid int64) bool { return uid >= int64(u.First) && uid-int64(u.First) < int64(u.N) }

// Service holds plans and lands them. It may be used by several goroutines at a
// time, and several processes may have one over the same state.
type Service struct {
	o       Options
	uid     uint32
	objects root.Dir // what blobs are kept in
	blobs   *cas.Store
	running root.Dir // a directory, locked, for each call that runs
	keys    root.Dir
	// step is called before each commit: tests stop there.
	step func() error
	jobs root.Dir // the directories of jobs; nil where nothing runs
	host string   // the id of this state directory, for runs
	// What starts supervisors and looks after jobs: tests have others.
	launch, settleJob func(context.Context, supervise.Job, supervise.Journal) (job.State, error)
	jobsThere         func() error
	tiers             tierCache
	// rehearsal is nil in a service that does what it says.
	rehearsal *rehearsal
}

// The directories in the state directory, all but the database's file.
const (
	objectsDir = "cas"
	keysDir    = "keys"
	runningDir = "running"
	jobsDir    = "jobs"
)

// The modes that directories have at most. Who may pass the state directory may
// look at objects: so its group is that of approvers who have accounts of their
// own, if it has one.
const (
	stateMode   fs.FileMode = 0o750
	objectsMode fs.FileMode = 0o755
)

// private refuses a directory that lets others in than mode does.
func private(d root.Dir, mode fs.FileMode) error {
	has, err := d.Mode()
	if err != nil {
		return err
	}
	if has.Perm()&^mode != 0 {
		return fmt.Errorf("is open to others (mode %04o): it is to have %04o at most", has.Perm(), mode)
	}
	return nil
}

var validRoot = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

// Open makes what is missing in the state directory, and brings every landing to
// its end that a crash has interrupted. One that cannot be ended now is logged,
// and tried again by Recover.
func Open(ctx context.Context, o Options) (*Service, error) {
	s, err := open(o, func() error { return nil })
	if err != nil {
		return nil, err
	}
	if o.NoRecovery {
		return s, nil
	}
	const patience = 5 * time.Second // with others who are landing
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if _, err := s.Recover(ctx); err != nil {
		s.o.Logger.ErrorContext(ctx, "not everything that was interrupted could be brought to its end", "error", err)
	}
	return s, nil
}

// prepared is a service of which no directory is open yet.
func prepared(o Options, step func() error) (*Service, error) {
	if o.Store == nil || o.State == nil {
		return nil, errors.New("govern: a service needs a store and a state directory")
	}
	for name := range o.Roots {
		if !validRoot.MatchString(name) {
			return nil, fmt.Errorf("govern: the name of a root, %q, is not 1 to 64 of a to z, 0 to 9, _ and -", name)
		}
	}
	if o.Now == nil {
		o.Now = now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Roots = maps.Clone(o.Roots)
	if len(o.Runners) > 0 && !filepath.IsAbs(o.Path) {
		return nil, errors.New("govern: runs need the absolute path of the state directory")
	}
	o.Runners = slices.Clone(o.Runners)
	s := &Service{o: o, uid: uint32(os.Geteuid()), step: step, launch: supervise.Launch, settleJob: supervise.Settle}
	s.jobsThere = s.tryJobs
	return s, nil
}

func open(o Options, step func() error) (*Service, error) {
	s, err := prepared(o, step)
	if err != nil {
		return nil, err
	}
	if err := private(o.State, stateMode); err != nil {
		return nil, fmt.Errorf("govern: the state directory %w", err)
	}
	for name, d := range map[string]*root.Dir{objectsDir: &s.objects, keysDir: &s.keys, runningDir: &s.running} {
		mode := fs.FileMode(0o700)
		if name == objectsDir {
			mode = objectsMode
		}
		var err error
		if *d, err = sub(o.State, name, mode); err != nil {
			return nil, fmt.Errorf("govern: the state directory: %w", err)
		}
		if err := private(*d, mode); err != nil {
			return nil, fmt.Errorf("govern: %s in the state directory %w", name, err)
		}
	}
	// Whatever the umask left of its mode.
	has, err := s.objects.Mode()
	if err == nil && has.Perm() != objectsMode {
		err = s.objects.SetMode(objectsMode)
	}
	if err != nil {
		return nil, fmt.Errorf("govern: the state directory: %w", err)
	}
	if o.Path != "" {
		if err := s.openJobs(); err != nil {
			return nil, err
		}
	}
	if err := o.State.Sync(); err != nil {
		return nil, fmt.Errorf("govern: the state directory: %w", err)
	}
	s.blobs = cas.New(s.objects)
	_, err = s.ring()
	return s, err
}

// sub is the directory name in d, which is made if it is missing.
func sub(d root.Dir, name string, mode fs.FileMode) (root.Dir, error) {
	made, err := d.Make(name, mode)
	if errors.Is(err, fs.ErrExist) {
		return d.Sub(name)
	}
	return made, err
}

// Close lets go of the directories that Open opened.
func (s *Service) Close() error {
	if s.rehearsal != nil {
		return nil
	}
	err := errors.Join(s.objects.Close(), s.keys.Close(), s.running.Close())
	if s.jobs != nil {
		err = errors.Join(err, s.jobs.Close())
	}
	return err
}

// Roots are the names of the roots, sorted.
func (s *Service) Roots() []string { return slices.Sorted(maps.Keys(s.o.Roots)) }

// update is a write transaction of the store.
func (s *Service) update(ctx context.Context, fn func(*store.Tx) error) error {
	return s.o.Store.Update(ctx, func(tx *store.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		return s.step()
	})
}

// Keep puts contents among the objects and then runs fn, which pins them, in a
// write transaction. No sweep comes between.
func (s *Service) Keep(ctx context.Context, contents [][]byte, fn func(*store.Tx) error) error {
	unlock, err := s.objects.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.blobs.PutAll(contents); err != nil {
		return err
	}
	return s.update(ctx, fn)
}

// Object is the object with a digest, of at most max bytes.
func (s *Service) Object(d cas.Digest, max int64) ([]byte, error) { return s.blobs.Get(d, max) }

// subject is the flat form of who calls.
func subject(ctx context.Context) (string, error) {
	who, ok := authz.SubjectFromContext(ctx)
	if !ok {
		return "", refuse(Forbidden, "nobody is known to ask")
	}
	return who.String(), nil
}

// actor is the server's account, that acts for a program.
func (s *Service) actor() audit.Actor {
	return audit.Actor{Kind: audit.ByMCP, UID: int(s.uid), PID: os.Getpid()}
}

// system is the server's account, that acts by itself.
func (s *Service) system() audit.Actor {
	return audit.Actor{Kind: audit.BySystem, UID: int(s.uid), PID: os.Getpid()}
}

// trust is the trust root as it is now.
func (s *Service) trust() (*approve.TrustRoot, error) {
	if s.o.Trust == nil {
		return approve.ParseTrustRoot(nil)
	}
	t, err := s.o.Trust()
	if errors.Is(err, fs.ErrNotExist) {
		return approve.ParseTrustRoot(nil)
	}
	if err != nil {
		return nil, refuse(Forbidden, "the trust root cannot be relied on").suggest("an operator runs: %s", s.command("doctor", "")).because(err)
	}
	return t, nil
}

// command is a line that an operator types.
func (s *Service) command(verb, plan string) string {
	line := verb
	if s.o.Command != "" {
		line = s.o.Command + " " + verb
	}
	if plan != "" {
		line += " " + plan
	}
	return line
}
