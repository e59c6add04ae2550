package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"

	"github.com/capgen/capgen/runtime/govern/cas"
	"github.com/capgen/capgen/runtime/govern/root"
)

// maxLooks bounds how often one Land looks at the disk; without others at work
// it needs five.
const maxLooks = 16

// State is how far a landing has come.
type State string

// The states. Intent and Staged go on; Applied has only the displaced tree to be
// removed; the others are ends.
const (
	Intent   State = "INTENT"   // decided, nothing is visible
	Staged   State = "STAGED"   // post stands beside the target, or has taken its place
	Applied  State = "APPLIED"  // post is the target, what it displaced is beside it
	Cleaned  State = "CLEANED"  // nothing of the landing is left but post
	Aborted  State = "ABORTED"  // nothing visible happened, nor will it
	Conflict State = "CONFLICT" // somebody else wrote the target; their bytes are in place
)

// ErrConflict is the error of a landing that found neither pre nor post.
var ErrConflict = errors.New("change: the target is not what it was when the change was planned")

// Journal keeps the state of one landing. A state is durable when Advance
// returns, and Advance fails unless from is the state kept.
type Journal interface {
	State() (State, error)
	Advance(from, to State) error
}

// Landing replaces one directory by another.
type Landing struct {
	Parent root.Dir
	Name   string // of the target in Parent
	// ID names the landing among all that ever touch Parent: 1 to 64 of a to z,
	// 0 to 9 and _. Its tree stands beside the target under a name made of it.
	ID   string
	Pre  Hash // what the target was when the change was planned
	Post Tree // what it becomes; present, and not Pre
}

var validID = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)

// Check returns nil if the landing is one that could ever be applied.
func (l Landing) Check() error {
	switch {
	case !validID.MatchString(l.ID):
		return fmt.Errorf("change: the id %q is none", l.ID)
	case !l.Post.Present:
		return errors.New("change: a change leaves a directory")
	case l.Post.Hash() == l.Pre:
		return errors.New("change: nothing would change")
	case l.Pre == unreadable:
		return errors.New("change: what was there is not told")
	}
	if err := root.CheckName(l.Name); err != nil {
		return err
	}
	return l.Post.Check()
}

// Beside is the name next to the target under which the landing keeps its
// stage, and from Applied on the tree that it displaced.
func (l Landing) Beside() string { return ".capgen-" + l.ID }

// Land brings the landing from wherever it is to Applied, or to Conflict with
// [ErrConflict]. It may be called again after any error and after any crash.
// While another process lands in the same parent it waits, as long as ctx
// allows; once it has begun, ctx does not stop it.
func (l Landing) Land(ctx context.Context, blobs *cas.Store, journal Journal) (State, error) {
	unlock, err := l.begin(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	for range maxLooks {
		state, err := journal.State()
		if err != nil {
			return "", err
		}
		now, err := l.look()
		if err != nil {
			return state, err
		}
		switch l.decide(state, now) {
		case finished:
			return state, errors.Join(outcome(state), l.sweep())
		case build:
			err = l.build(blobs)
		case staged:
			err = journal.Advance(state, Staged)
		case swap:
			err = l.swap(now)
		case applied:
			if err = l.Parent.Sync(); err == nil {
				err = journal.Advance(state, Applied)
			}
		case swapBack:
			// Durable before anything else: what is moved after it must be ours.
			if err = l.Parent.Exchange(l.Name, l.Beside()); err == nil {
				err = l.Parent.Sync()
			}
		case conflict:
			err = l.giveUp(journal, state, Conflict, now)
		}
		if err != nil {
			return state, err
		}
	}
	return "", errors.New("change: the target changes faster than it can be looked at")
}

func outcome(s State) error {
	switch s {
	case Conflict:
		return ErrConflict
	case Aborted:
		return errors.New("change: the landing was aborted")
	}
	return nil
}

// Abort ends a landing of which nothing is visible yet; one that is further
// stays as it is, and the state returned tells.
func (l Landing) Abort(ctx context.Context, journal Journal) (State, error) {
	return l.alone(ctx, journal, func(state State) (State, error) {
		now, err := l.look()
		if err != nil {
			return state, err
		}
		if state != Intent && (state != Staged || now.target != l.Pre) {
			return state, l.sweep()
		}
		return Aborted, l.giveUp(journal, state, Aborted, now)
	})
}

// Clean removes the tree that an applied landing displaced.
func (l Landing) Clean(ctx context.Context, journal Journal) (State, error) {
	return l.alone(ctx, journal, func(state State) (State, error) {
		if state != Applied {
			return state, nil
		}
		if err := errors.Join(remove(l.Parent, l.Beside(), 0), l.Parent.Sync()); err != nil {
			return state, err
		}
		return Cleaned, journal.Advance(Applied, Cleaned)
	})
}

// begin keeps other landings out of the parent, if this one can be applied.
func (l Landing) begin(ctx context.Context) (unlock func(), err error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	return l.Parent.Lock(ctx)
}

func (l Landing) alone(ctx context.Context, journal Journal, do func(State) (State, error)) (State, error) {
	unlock, err := l.begin(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	state, err := journal.State()
	if err != nil {
		return "", err
	}
	return do(state)
}

// found is what is on disk.
type found struct{ target, beside Hash }

// unreadable is the hash of a tree that cannot be read, or holds what no tree
// may hold: none that was ever planned.
var unreadable = Hash{}

func (l Landing) look() (found, error) {
	target, err := hashOf(l.Parent, l.Name)
	if err != nil {
		return found{}, err
	}
	beside, err := hashOf(l.Parent, l.Beside())
	return found{target, beside}, err
}

// build stages post and reads it back from the disk.
func (l Landing) build(blobs *cas.Store) error {
	if err := stage(l.Parent, l.Beside(), l.Post, blobs); err != nil {
		return err
	}
	got, err := hashOf(l.Parent, l.Beside())
	if err != nil {
		return err
	}
	if got != l.Post.Hash() {
		return errors.New("change: the stage is not what was staged: somebody writes to it, or the disk is broken")
	}
	return nil
}

// swap makes post the target. Until the parent is synced nobody may rely on it.
// A name that came or went since it was looked at is looked at once more.
func (l Landing) swap(now found) error {
	var err error
	if now.target == Absent.Hash() {
		err = l.Parent.Move(l.Beside(), l.Name)
	} else {
		err = l.Parent.Exchange(l.Name, l.Beside())
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// giveUp ends the landing as to. Its own tree goes; what may be somebody else's
// stays, under the name it has. A tree that goes has another name first, so that
// half of it is never taken for anything else.
func (l Landing) giveUp(journal Journal, state, to State, now found) error {
	if state == Intent || now.target == l.Pre || now.beside == l.Post.Hash() {
		if err := l.sweep(); err != nil {
			return err
		}
		if err := l.Parent.Move(l.Beside(), l.gone()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	// What was exchanged back, or moved, must be so before the end is recorded.
	if err := l.Parent.Sync(); err != nil {
		return err
	}
	if err := journal.Advance(state, to); err != nil {
		return err
	}
	return l.sweep()
}

// gone is the name of a tree of the landing that is being removed.
func (l Landing) gone() string { return l.Beside() + "-gone" }

// sweep removes what a crash kept from being removed.
func (l Landing) sweep() error {
	if _, err := l.Parent.Lookup(l.gone()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := remove(l.Parent, l.gone(), 0); err != nil {
		return err
	}
	return l.Parent.Sync()
}
