package tree

import (
	"errors"
	"io/fs"
)

// Kind says what a path names.
type Kind string

// The kinds.
const (
	File      Kind = "file"
	Directory Kind = "directory"
	// Link is a symbolic link, whatever it leads to.
	Link Kind = "link"
	// Other is a device, a FIFO or a socket.
	Other Kind = "other"
	// Unnameable has a path that CheckPath refuses, whatever it is. It is
	// reported, so that nothing is passed over in silence, but cannot be
	// asked for.
	Unnameable Kind = "unnameable"
)

// Entry is one name found in a directory.
type Entry struct {
	// Path is canonical; of an Unnameable it is an escaped form.
	Path string
	Kind Kind
	// Size in bytes of a File, otherwise 0.
	Size int64
}

func kindOf(info fs.FileInfo) Kind {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return File
	case mode.IsDir():
		return Directory
	case mode&fs.ModeSymlink != 0:
		return Link
	default:
		return Other
	}
}

// entry describes the path that a directory listed. ok is false if it is gone
// by now.
func (t *Tree) entry(p string) (e Entry, ok bool, err error) {
	if !nameable(p) {
		return Entry{Path: display(p), Kind: Unnameable}, true, nil
	}
	info, err := t.lstat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return Entry{}, false, nil
	}
	if err != nil {
		return Entry{}, false, err
	}
	e = Entry{Path: p, Kind: kindOf(info)}
	if e.Kind == File {
		e.Size = info.Size()
	}
	return e, true, nil
}
