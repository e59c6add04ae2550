package change

import (
	"errors"
	"io/fs"

	"github.com/capgen/capgen/runtime/govern/root"
)

// step is what a landing does next.
type step uint8

const (
	finished step = iota
	build         // stage post
	staged        // record that the stage is complete
	swap          // give post the target's name
	applied       // record that it has it
	swapBack      // somebody wrote what was displaced after it was read: give it back
	conflict      // end: somebody else was here
)

// decide is what to do in a state, by what is on disk: it needs to remember
// nothing. Before Staged is recorded no swap can have happened; from then on the
// stage is complete unless a swap has put something else there.
func (l Landing) decide(state State, now found) step {
	post, absent := l.Post.Hash(), Absent.Hash()
	switch state {
	case Intent:
		switch {
		case now.target != l.Pre:
			return conflict
		case now.beside == post:
			return staged
		default:
			return build
		}
	case Staged:
		switch {
		case now.target == l.Pre && now.beside == post:
			return swap
		case now.target == l.Pre:
			return build
		case now.target != post:
			return conflict
		case now.beside == l.Pre || l.Pre == absent: // nothing is displaced then
			return applied
		case now.beside == absent:
			return conflict // displaced, and then removed by somebody; or never ours
		default:
			return swapBack
		}
	}
	return finished
}

// hashOf is the hash of the directory name in parent, or unreadable.
func hashOf(parent root.Dir, name string) (Hash, error) {
	t, err := Read(parent, name)
	switch {
	case err == nil:
		return t.Hash(), nil
	case errors.Is(err, ErrNoTree), errors.Is(err, root.ErrConfined), errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
		return unreadable, nil
	}
	return Hash{}, err
}
