//go:build !linux

package root

import "errors"

// Open fails: only Linux has openat2 and renameat2, without which nothing is
// confined and nothing exchanged at once.
func Open(string) (Dir, error) {
	return nil, errors.New("root: governed changes need Linux")
}
