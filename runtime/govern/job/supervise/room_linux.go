package supervise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/capgen/capgen/runtime/govern/job"
	"github.com/capgen/capgen/runtime/govern/job/confine"
)

const (
	// countEach is how often is counted what a candidate has in its directories,
	// or, where counting takes long, countRest times as long after it.
	countEach = 250 * time.Millisecond
	countRest = 10
	// countPatience is how long it may take to count once.
	countPatience = 30 * time.Second
	// maxDepth is how many directories may be in one another.
	maxDepth = 100
)

// room is the directories that a candidate writes to, open from before it begins,
// and what it may have there. It is counted by one goroutine at a time.
type room struct {
	tops    []int
	disk    int64 // bytes that are allocated
	entries int

	full  chan struct{} // closed when there is too much, or nobody can tell
	why   ending        // of full
	ended chan struct{} // closed when watch has returned
}

// openRoom opens the directories of a box.
func openRoom(box string, l Limits) (*room, error) {
	r := &room{disk: l.Disk, entries: l.Entries, full: make(chan struct{}), ended: make(chan struct{})}
	for _, name := range []string{confine.Out, confine.Tmp} {
		fd, err := unix.Open(filepath.Join(box, name), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			r.close()
			return nil, err
		}
		r.tops = append(r.tops, fd)
	}
	return r, nil
}

func (r *room) close() {
	for _, fd := range r.tops {
		unix.Close(fd)
	}
}

// watch counts until there is too much, or ctx ends.
func (r *room) watch(ctx context.Context, s *supervisor) {
	defer close(r.ended)
	for {
		began := time.Now()
		e, over := r.look(ctx, s)
		if ctx.Err() != nil {
			return
		}
		if over {
			r.why = e
			close(r.full)
			return
		}
		select {
		case <-time.After(max(countEach, countRest*time.Since(began))):
		case <-ctx.Done():
			return
		}
	}
}

// look counts once, and reports whether there is too much, and what the job comes
// to by that. What cannot be counted is too much.
func (r *room) look(ctx context.Context, s *supervisor) (e ending, over bool) {
	ctx, stop := context.WithTimeout(ctx, countPatience)
	defer stop()
	c := count{ctx: ctx, disk: r.disk, entries: r.entries, seen: map[uint64]bool{}}
	var err error
	for _, top := range r.tops {
		if err = c.directory(top, 1); err != nil {
			break
		}
	}
	var exceeded *exceeded
	switch {
	case err == nil:
		return ending{}, false
	case errors.As(err, &exceeded):
		return ending{event: job.EventFail, failure: job.FailLimit, message: exceeded.Error()}, true
	}
	return s.broken("what it wrote could not be counted", err), true
}

// exceeded is a bound that a candidate has passed, in words for whoever asked.
type exceeded struct{ what string }

func (e *exceeded) Error() string { return e.what }

func exceed(format string, args ...any) error { return &exceeded{fmt.Sprintf(format, args...)} }

// count counts trees that may change meanwhile: what goes away is not there, what
// moves may be met twice, or not this time.
type count struct {
	ctx     context.Context
	disk    int64
	entries int

	bytes int64
	names int
	seen  map[uint64]bool // inodes of more than one name
}

// directory counts what is in an open directory, whose offset it moves.
func (c *count) directory(fd, depth int) error {
	if depth > maxDepth {
		return exceed("it made more than %d directories in one another", maxDepth)
	}
	if _, err := unix.Seek(fd, 0, io.SeekStart); err != nil {
		return err
	}
	buffer := make([]byte, 8<<10)
	for {
		n, err := unix.ReadDirent(fd, buffer)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.ENOENT: // it was removed
			return nil
		case err != nil:
			return err
		case n == 0:
			return nil
		}
		_, _, names := unix.ParseDirent(buffer[:n], -1, nil)
		for _, name := range names {
			if err := c.entry(fd, name, depth); err != nil {
				return err
			}
		}
	}
}

// entry counts one name, and what is below it.
func (c *count) entry(dir int, name string, depth int) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if c.names++; c.names > c.entries {
		return exceed("it made more than %d files and directories in out and tmp", c.entries)
	}
	var s unix.Stat_t
	err := unix.Fstatat(dir, name, &s, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.EACCES) { // of this account, and its mode forbids it: that is mended
		if err = unix.Fchmod(dir, 0o700); err == nil {
			err = unix.Fstatat(dir, name, &s, unix.AT_SYMLINK_NOFOLLOW)
		}
	}
	if err != nil {
		return uncountable(err)
	}
	directory := s.Mode&unix.S_IFMT == unix.S_IFDIR
	if !directory && s.Nlink > 1 {
		if c.seen[s.Ino] {
			return nil
		}
		c.seen[s.Ino] = true
	}
	// In units of 512, whatever the block size; holes are not among them.
	if c.bytes += s.Blocks * 512; c.bytes > c.disk {
		return exceed("it wrote more than %d bytes to out and tmp", c.disk)
	}
	if !directory {
		return nil
	}
	const resolve = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV
	fd, err := unix.Openat2(dir, name, &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: resolve})
	if errors.Is(err, unix.EACCES) {
		fd, err = enter(dir, name)
	}
	if err != nil {
		return uncountable(err)
	}
	defer unix.Close(fd)
	return c.directory(fd, depth+1)
}

// uncountable is what an error says about an entry: nil where it has gone, has
// become something else, or was moved while it was opened (EXDEV).
func uncountable(err error) error {
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP), errors.Is(err, unix.EXDEV):
		return nil
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return exceed("it made a directory that cannot be counted")
	}
	return err
}
