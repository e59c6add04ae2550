package confine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Tier is how much is taken from a candidate.
type Tier string

// The tiers, the strongest first.
const (
	// Namespaces gives a candidate a root of its own with nothing in it but what
	// it needs, no network, and all that Landlock is.
	Namespaces Tier = "namespaces"
	// Landlock leaves it in the host's root and refuses it the use of what it does
	// not need, under an account of its own.
	Landlock Tier = "landlock"
	// Worker is for a process of ours that confines itself further before it reads
	// a byte of the candidate (runtime/worker/sandbox), which is no native code. It
	// has the rights of who started it until then.
	Worker Tier = "worker"
	// None takes nothing: there are the limits of each process, and the scope that
	// ends all of them.
	None Tier = "none"
)

// Tiers are all of them, the strongest for native code first.
func Tiers() []Tier { return []Tier{Namespaces, Landlock, Worker, None} }

// AtLeast reports whether a tier is enough where another one is asked for. Worker
// is enough for all and only itself for itself: what it is for is another kind of
// candidate. What is no tier is never enough.
func (t Tier) AtLeast(least Tier) bool {
	order := []Tier{None, Landlock, Namespaces, Worker}
	have, want := slices.Index(order, t), slices.Index(order, least)
	return have >= 0 && want >= 0 && have >= want
}

var (
	// ErrUnsupported is the error for a tier that this system does not have.
	ErrUnsupported = errors.New("confine: not on this system")
	// ErrAccount is the error for a tier that needs an account of its own for the
	// candidate, and was given none.
	ErrAccount = errors.New("no account of its own for the candidate, neither root's nor the server's")
)

// Spec is how one candidate is confined.
type Spec struct {
	Tier Tier `json:"tier"`
	// Box is the candidate's current directory, absolute: with code,
	// arguments.json, out and tmp in it.
	Box string `json:"box"`
	// Read is what its interpreter needs, to be read and executed: absolute paths
	// that hold no box, wherever links lead.
	Read []string `json:"read,omitempty"`
	// Apart is a directory, absolute, that nothing of Read may hold or be in, such as
	// one that all boxes and the server's keys are in.
	Apart string `json:"apart,omitempty"`
	// UID and GID are an account of its own, which no other process has. Only root
	// can give one. 0 leaves it the one that starts it, of which tier namespaces
	// counts the candidate's processes alone.
	UID int `json:"uid,omitempty"`
	GID int `json:"gid,omitempty"`
}

// confined reports whether the tier takes files and the network.
func (s Spec) confined() bool { return s.Tier == Namespaces || s.Tier == Landlock }

// valid reports what is wrong with a spec for a process of an account.
func (s Spec) valid(uid int) error {
	switch {
	case !slices.Contains(Tiers(), s.Tier):
		return fmt.Errorf("%q is no tier", s.Tier)
	case s.UID < 0 || s.GID < 0 || (s.UID == 0) != (s.GID == 0):
		return fmt.Errorf("account %d, group %d: both or neither", s.UID, s.GID)
	case s.UID == 0 && (s.Tier == Landlock || s.Tier == Namespaces && uid == 0), s.UID != 0 && s.UID == uid:
		return ErrAccount
	case s.UID != 0 && uid != 0:
		return fmt.Errorf("only root gives a candidate an account of its own: %w", os.ErrPermission)
	case !s.confined():
		return nil
	case s.Box != "" && !clean(s.Box):
		return fmt.Errorf("box %q: not a clean absolute path", s.Box)
	case s.Apart != "" && !clean(s.Apart):
		return fmt.Errorf("apart %q: not a clean absolute path", s.Apart)
	}
	for _, p := range s.Read {
		if !clean(p) {
			return fmt.Errorf("read %q: not a clean absolute path", p)
		}
		if err := readable(p, s.Box, s.Apart); err != nil {
			return fmt.Errorf("read %q: %w", p, err)
		}
	}
	return nil
}

// readable refuses a path that is not for candidates to read: box and apart are
// theirs, or "".
func readable(p, box, apart string) error {
	for _, not := range []string{"/proc", "/sys", "/dev", insideBox} {
		if within(p, not) || within(not, p) {
			return errors.New("that is not for candidates")
		}
	}
	switch {
	case box != "" && (within(box, p) || within(p, box)):
		return errors.New("it holds the box, and may hold others")
	case apart != "" && (within(apart, p) || within(p, apart)):
		return errors.New("it holds, or is in, what is kept from candidates")
	}
	return nil
}

// Reads reports what is wrong with Read as it is now, wherever links lead. [Spec.Enter]
// looks by itself; this is for who wants to know before. For tiers that leave a
// candidate all files it is nil.
func (s Spec) Reads() (err error) {
	if !s.confined() {
		return nil
	}
	apart := s.Apart
	if apart != "" {
		if apart, err = filepath.EvalSymlinks(apart); err != nil {
			return fmt.Errorf("confine: %w", err)
		}
	}
	for _, p := range s.Read {
		real, err := filepath.EvalSymlinks(p)
		if err == nil {
			err = readable(real, "", apart)
		}
		if err != nil {
			return fmt.Errorf("confine: read %q: %w", p, err)
		}
	}
	return nil
}

func clean(p string) bool { return path.IsAbs(p) && path.Clean(p) == p }

// within reports whether a clean path is another one or below it.
func within(p, above string) bool {
	return p == above || strings.HasPrefix(p, strings.TrimSuffix(above, "/")+"/")
}

// What a box has in it, the directory that a candidate works in. Its supervisor
// makes it, and runners know it.
const (
	Code      = "code"           // a directory of what runs, read-only
	Arguments = "arguments.json" // what it is given, read-only
	Tmp       = "tmp"            // a directory to work in
	Out       = "out"            // a directory of what it leaves: Result and Progress
	Result    = "result.json"    // what it has to make
	Progress  = "progress"       // what it may say of how far it is
)

// MaxProgress is how many bytes of Progress count.
const MaxProgress = 200

// insideBox is the box of who has a root of its own.
const insideBox = "/box"

// Own makes what the candidate may write its own and the rest of the box readable
// for its account, whatever the umask that it was made with. It is for who has
// just made the box, before anything runs in it.
func (s Spec) Own() error {
	for _, name := range []string{Out, Tmp} {
		dir := filepath.Join(s.Box, name)
		if err := os.Chmod(dir, 0o700); err != nil {
			return fmt.Errorf("confine: %w", err)
		}
		if s.UID == 0 {
			continue
		}
		if err := os.Lchown(dir, s.UID, s.GID); err != nil {
			return fmt.Errorf("confine: %w", err)
		}
	}
	if s.UID == 0 {
		return nil
	}
	if err := os.Chmod(s.Box, 0o711); err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	if err := os.Chmod(filepath.Join(s.Box, Arguments), 0o644); err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	return filepath.WalkDir(filepath.Join(s.Box, Code), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o755)
		} else if err == nil && d.Type().IsRegular() {
			err = os.Chmod(path, 0o644)
		}
		if err != nil {
			return fmt.Errorf("confine: %w", err)
		}
		return nil
	})
}

// Mark is the variable that makes a process one of a scope, or one that tries a
// tier. Nobody sets it but those two packages.
const Mark = "CAPGEN_RUN"

// Options are what a host has to offer candidates.
type Options struct {
	// UID and GID are an account for candidates; 0 is none.
	UID, GID int
	// Patience bounds the trial of one tier; 0 is 3 s.
	Patience time.Duration
}

// Available is a tier with why it cannot be had here, or nil.
type Available struct {
	Tier Tier
	Err  error
}

// Probe tells which tiers this host can offer, in the order of [Tiers]: each is
// entered by a process that then tries what the tier has to refuse. It writes
// nothing. The process is one of this executable, whose main has to begin with
// scope.ServeKeeperAndExit.
func Probe(ctx context.Context, o Options) []Available {
	var list []Available
	for _, t := range Tiers() {
		list = append(list, Available{t, try(ctx, t, o)})
	}
	return list
}
