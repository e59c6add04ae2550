package root

import (
	"context"
	"errors"
	"io"
	"io/fs"
)

var (
	// ErrConfined is the error for what a root holds and does not give out:
	// links, devices, sockets, pipes, files with a second name, mount points.
	ErrConfined = errors.New("root: neither a directory nor a regular file of its own")
	// ErrTooMany is the error for a directory of more names than were asked for.
	ErrTooMany = errors.New("root: a directory holds more names")
	// ErrNoExchange is the error where a file system cannot exchange two names
	// at once (renameat2 with RENAME_EXCHANGE, Linux 3.15).
	ErrNoExchange = errors.New("root: this file system cannot exchange two names at once")
)

// Kind tells apart what a name stands for.
type Kind uint8

// The kinds of what a directory holds.
const (
	Other Kind = iota // never opened
	File
	Directory
)

// Entry is what a directory knows of a name in it.
type Entry struct {
	Name string
	Kind Kind
	Mode fs.FileMode // permission bits with setuid, setgid and sticky
	Size int64       // bytes, of a file
	// Links is how many names the file has: content that has a second one can
	// change from outside.
	Links uint64
}

// Dir is an open directory. Names are single segments that [CheckName] takes;
// any other is refused with an error. Errors match [fs.ErrNotExist],
// [fs.ErrExist] and [ErrConfined] where they mean that. It may be used by
// several goroutines at a time.
type Dir interface {
	// Sub opens the directory name.
	Sub(name string) (Dir, error)
	// Make makes the directory name, which must not exist, and opens it.
	Make(name string, mode fs.FileMode) (Dir, error)
	// Open opens the file name to be read.
	Open(name string) (Handle, error)
	// Create makes the file name, which must not exist, to be written.
	Create(name string, mode fs.FileMode) (Handle, error)
	// Lookup tells what name stands for, without opening it.
	Lookup(name string) (Entry, error)
	// Entries are all names, sorted bytewise; with more than max, which is at
	// least 1, [ErrTooMany]. Names that CheckName refuses are among them.
	Entries(max int) ([]Entry, error)
	// Exchange gives a the name b, and b the name a, at once. Both exist.
	Exchange(a, b string) error
	// Move gives what is called from the name to, which must not exist.
	Move(from, to string) error
	// Remove removes the file or the empty directory name; a link is removed,
	// not what it points to.
	Remove(name string) error
	// SetMode sets the permission bits of the directory itself.
	SetMode(mode fs.FileMode) error
	// Mode is the permission bits of the directory itself.
	Mode() (fs.FileMode, error)
	// Sync makes the names in the directory, and its mode, durable.
	Sync() error
	// Lock keeps other holders of the lock out of the directory, in this and in
	// other processes, until unlock is called or the process ends. It waits for
	// them as long as ctx allows; a lock that nobody holds is had even if ctx has
	// ended. It binds only those who ask for it.
	Lock(ctx context.Context) (unlock func(), err error)
	io.Closer
}

// Handle is an open file.
type Handle interface {
	io.Reader
	io.Writer
	// SetMode sets the permission bits.
	SetMode(mode fs.FileMode) error
	// Stat is what the file is now. Its Name is empty.
	Stat() (Entry, error)
	// Sync makes content and mode durable, not the name.
	Sync() error
	io.Closer
}
