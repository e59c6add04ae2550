package operate

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/capgen/capgen/runtime/audit"
	"github.com/capgen/capgen/runtime/govern"
	"github.com/capgen/capgen/runtime/govern/approve"
	"github.com/capgen/capgen/runtime/govern/approve/daemon"
	"github.com/capgen/capgen/runtime/govern/job/runner"
	"github.com/capgen/capgen/runtime/govern/root"
	"github.com/capgen/capgen/runtime/govern/store"
	"github.com/capgen/capgen/runtime/govern/store/sqlite"
	"github.com/capgen/capgen/runtime/host"
)

// Setup is where the state of a server's governed changes is, from its flags.
// The zero value is ready for use, by one goroutine.
type Setup struct {
	// Roots are the directories below which changes land, by name. It is called
	// after flags have been parsed; nil is none.
	Roots func() (map[string]string, error)

	// Store opens the store of processes on several hosts, such as
	// postgres.Open does; nil is a file in the state directory. It finds where that
	// is in the environment, not in flags of its own: the processes that supervise
	// jobs have the server's variables, and none of its flags.
	Store func(context.Context, store.Options) (*store.Store, error)
	// ReadStore opens the same store for commands that only read, such as
	// postgres.OpenReadOnly does. It is needed where Store is set.
	ReadStore func(context.Context) (*store.Store, error)

	// Runners are what this host executes candidates with. It is called after
	// flags have been parsed, and nothing of it is started; nil is none.
	Runners func() ([]runner.Runner, error)

	// Results check what candidates have come to, by the ids of capabilities: the
	// generated catalog.Results().
	Results map[string]func([]byte) ([]byte, error)

	// MaxJobs is how many runs there may be at a time, of all capabilities; zero
	// is [govern.DefaultMaxJobs]. --max-jobs asks for fewer.
	MaxJobs int

	state, trust string
	socket       string // of the approval daemon
	approver     int    // its account
	accounts     accountRange
	maxJobs      int
	cgroup       string
	flags        flags
}

// flags are those of the commands.
type flags struct {
	key, agentKey, agent, reason, status, name, log, heads, gone string
	keep                                                         time.Duration
	agentUID, newest                                             int
	tail                                                         int64
	signers                                                      signers
	servers                                                      numbers
}

// Flags declares the flags that every command has, for host.Options.Flags.
func (s *Setup) Flags(f *flag.FlagSet) {
	f.StringVar(&s.state, "state", "", "`directory` for plans, approvals and their audit trail; nothing is changed without it")
	f.StringVar(&s.trust, "trust-root", "", "`file` of the keys whose approvals count; it lies outside of the state directory")
	f.StringVar(&s.socket, "approval-daemon", "", "`socket` of the process that keeps approvers' keys and approvals")
	f.IntVar(&s.approver, "approval-daemon-uid", -1, "`number` of the account that it runs as: no other is believed")
	f.Var(&s.accounts, "job-uids", "accounts that candidates may have, `FIRST-LAST`, one each at a time: numbers that are nobody's")
	f.IntVar(&s.maxJobs, "max-jobs", 0, "run at most this `number` of candidates at a time, fewer than the program allows")
	f.StringVar(&s.cgroup, "job-cgroup", "", "a control group that was delegated to the server, `path`: each run gets one below it")
}

// Given tells whether there is a state directory.
func (s *Setup) Given() bool { return s.state != "" }

// Open opens the state directory, which is made if its parent is there, and
// brings interrupted landings and jobs to their end. In a command that serves it
// looks after jobs until it is closed, or ctx ends. Without --state it is an error, and
// so is a directory of another account, or one that others may write or anybody
// may read. For commands that call no capability, such as doctor, the service is
// one that lands nothing, and nothing is opened or written.
func (s *Setup) Open(ctx context.Context, env host.Env) (_ *Service, err error) {
	switch env.Command {
	case "search", "describe", "doctor":
		if s.state == "" {
			return nil, errNoState()
		}
		return &Service{Service: govern.Rehearse(nil)}, nil
	}
	service, err := s.service(ctx, env.Logger, func(*govern.Options) {})
	if err == nil && serving(env.Command) {
		service.watch(ctx, env.Logger)
	}
	return service, err
}

// service opens the state directory, with the options that change makes of them.
func (s *Setup) service(ctx context.Context, log *slog.Logger, change func(*govern.Options)) (_ *Service, err error) {
	o, service, err := s.options(ctx, log, false)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, service.Close())
		}
	}()
	change(&o)
	service.Service, err = govern.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	service.close = append(service.close, service.Service.Close)
	return service, nil
}

func errNoState() error {
	return &host.ExitError{Code: host.ExitUsage, Err: errors.New("no state directory given: say where plans are kept with --state DIR, or CAPGEN_STATE")}
}

// options are those of a service over the state directory, and what has to be
// closed after it.
func (s *Setup) options(ctx context.Context, log *slog.Logger, readOnly bool) (o govern.Options, opened *Service, err error) {
	if s.state == "" {
		return o, nil, errNoState()
	}
	// The store, and whoever compares paths, take absolute ones.
	if s.state, err = filepath.Abs(s.state); err != nil {
		return o, nil, fmt.Errorf("the state directory: %w", err)
	}
	roots := map[string]string{}
	if s.Roots != nil {
		if roots, err = s.Roots(); err != nil {
			return o, nil, err
		}
	}
	trust := s.trust
	if trust != "" {
		if trust, err = filepath.Abs(trust); err != nil {
			return o, nil, fmt.Errorf("the trust root: %w", err)
		}
	}
	if err := apart(s.state, trust, roots); err != nil {
		return o, nil, err
	}
	opened = new(Service)
	defer func() {
		if err != nil {
			err = errors.Join(err, opened.Close())
		}
	}()
	if !readOnly {
		err := os.Mkdir(s.state, 0o700)
		if errors.Is(err, fs.ErrNotExist) {
			return o, opened, fmt.Errorf("the state directory: %w; make %s first", err, filepath.Dir(s.state))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return o, opened, fmt.Errorf("the state directory: %w", err)
		}
		owner, err := ownerOf(s.state)
		if err != nil {
			return o, opened, fmt.Errorf("the state directory: %w", err)
		}
		if owner != uint32(os.Geteuid()) {
			return o, opened, fmt.Errorf("the state directory belongs to account %d: this is done as that account, not as %d", owner, os.Geteuid())
		}
	}
	state, err := root.Open(s.state)
	if err != nil {
		return o, opened, fmt.Errorf("the state directory: %w", err)
	}
	opened.close = append(opened.close, state.Close)
	o = govern.Options{State: state, Roots: map[string]root.Dir{}, Command: filepath.Base(os.Args[0]), Logger: log}
	for name, path := range roots {
		d, err := root.Open(path)
		if err != nil {
			return o, opened, fmt.Errorf("the root %s: %w", name, err)
		}
		opened.close = append(opened.close, d.Close)
		o.Roots[name] = d
	}
	if trust != "" {
		o.Trust = func() (*approve.TrustRoot, error) { return approve.OpenTrustRoot(trust) }
	}
	if s.socket != "" {
		client, err := s.daemon()
		if err != nil {
			return o, opened, err
		}
		o.Sources = []approve.Source{client}
	}
	if o.Store, err = s.open(ctx, log, state, readOnly); err != nil {
		return o, opened, err
	}
	opened.close = append(opened.close, o.Store.Close)
	return o, opened, s.jobOptions(&o)
}

// open opens the store. Who only reads needs no key of the audit trail, and makes
// none.
func (s *Setup) open(ctx context.Context, log *slog.Logger, state root.Dir, readOnly bool) (*store.Store, error) {
	switch {
	case readOnly && s.Store == nil:
		return sqlite.OpenReadOnly(ctx, s.state)
	case readOnly && s.ReadStore == nil:
		return nil, errors.New("this program cannot open its store to read alone: its operate.Setup has a Store and no ReadStore")
	case readOnly:
		return s.ReadStore(ctx)
	}
	key, err := auditKey(state)
	if err != nil {
		return nil, err
	}
	o := store.Options{AuditKey: key, Logger: log}
	if s.Store == nil {
		return sqlite.Open(ctx, s.state, o)
	}
	return s.Store(ctx, o)
}

// daemon is the client of the approval daemon.
func (s *Setup) daemon() (*daemon.Client, error) {
	if s.approver < 0 || int64(s.approver) >= math.MaxUint32 {
		return nil, errors.New("--approval-daemon needs the account that it runs as: --approval-daemon-uid N")
	}
	return daemon.Dial(s.socket, uint32(s.approver)), nil
}

// auditKeyFile holds the key of the fingerprints in the audit trail: its name
// and its secret in hexadecimal.
const (
	auditKeyFile  = "audit.key"
	maxAuditBytes = 4 << 10
)

// auditKey reads the key, which is made if there is none.
func auditKey(state root.Dir) (audit.Key, error) {
	text, err := readAuditKey(state)
	if errors.Is(err, fs.ErrNotExist) {
		if err = writeAuditKey(state); err == nil {
			text, err = readAuditKey(state)
		}
	}
	if err != nil {
		return audit.Key{}, fmt.Errorf("the key of the audit trail: %w", err)
	}
	name, secret, ok := strings.Cut(strings.TrimSuffix(string(text), "\n"), " ")
	raw, err := hex.DecodeString(secret)
	if !ok || err != nil {
		return audit.Key{}, errors.New("the key of the audit trail: not a name and a secret in hexadecimal")
	}
	return audit.Key{ID: name, Secret: raw}, nil
}

// readAuditKey reads a file of the directory's own, through no link, which
// nobody else can read.
func readAuditKey(state root.Dir) (text []byte, err error) {
	f, err := state.Open(auditKeyFile)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	e, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case e.Mode&0o077 != 0:
		return nil, fmt.Errorf("others can read it (mode %04o): chmod 600", e.Mode)
	case e.Size > maxAuditBytes:
		return nil, fmt.Errorf("it has more than %d bytes", maxAuditBytes)
	}
	return io.ReadAll(io.LimitReader(f, maxAuditBytes))
}

// writeAuditKey makes the file, whole and durable; where another process was
// first, its key stays.
func writeAuditKey(state root.Dir) (err error) {
	secret := make([]byte, audit.MinSecretBytes)
	rand.Read(secret)
	name := "new-" + strings.ToLower(rand.Text())
	f, err := state.Create(name, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %s\n", time.Now().UTC().Format("2006-01-02"), hex.EncodeToString(secret))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		if err = state.Move(name, auditKeyFile); err == nil {
			return state.Sync()
		}
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	return errors.Join(err, state.Remove(name), state.Sync())
}
