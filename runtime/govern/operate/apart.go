package operate

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// apart refuses a state directory, or a trust root, that lies below a root, and
// a root below the state directory. A program reads what is below a root, and
// asks for changes there: the keys of tokens, plans, and whose approvals count
// are not for it. Directories are compared as the system tells them apart, so
// that a link or a second mount of one is no way round.
func apart(state, trust string, roots map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(roots)) {
		for _, c := range []struct{ what, inner, outer, hint string }{
			{"the state directory lies below the root " + name, state, roots[name], "programs could read its keys"},
			{"the root " + name + " lies below the state directory", roots[name], state, "programs could read its keys"},
			{"the trust root lies below the root " + name, trust, roots[name], "a change of it would say whose approvals count"},
		} {
			below, err := isBelow(c.inner, c.outer)
			if err != nil {
				return err
			}
			if below {
				return fmt.Errorf("%s: %s; put it elsewhere", c.what, c.hint)
			}
		}
	}
	return nil
}

// isBelow tells whether inner is outer or below it, or would be once it is made.
// An empty inner is not, and nothing is below an outer that is not there.
func isBelow(inner, outer string) (bool, error) {
	if inner == "" {
		return false, nil
	}
	top, err := os.Stat(outer)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if inner, err = filepath.Abs(inner); err != nil {
		return false, err
	}
	real, err := filepath.EvalSymlinks(inner)
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(inner) != inner {
		inner = filepath.Dir(inner)
		real, err = filepath.EvalSymlinks(inner)
	}
	if err != nil {
		return false, err
	}
	for {
		here, err := os.Stat(real)
		if err != nil {
			return false, err
		}
		if os.SameFile(here, top) {
			return true, nil
		}
		if filepath.Dir(real) == real {
			return false, nil
		}
		real = filepath.Dir(real)
	}
}
