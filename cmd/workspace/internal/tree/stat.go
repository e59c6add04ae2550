package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// MaxPaths bounds the paths and ranges of one request.
const MaxPaths = 100

// Stat describes one path of a request.
type Stat struct {
	Path string
	// Error is why nothing is known, or nil.
	Error *Error
	Kind  Kind
	// Size in bytes of a file, otherwise 0.
	Size int64
	// Modified is when the content last changed, zero for the top of several
	// roots.
	Modified time.Time
	// Executable: somebody may execute the file.
	Executable bool
	// Target is what a link leads to, within the root; empty if Kind is not
	// Link or TargetError says why not.
	Target Kind
	// TargetError is why a link cannot be followed, or nil.
	TargetError *Error
}

// Stat describes paths, in their order. An error is an *Error about the
// request or ctx's; what concerns one path is in its Stat.
func (t *Tree) Stat(ctx context.Context, paths []string) ([]Stat, error) {
	if len(paths) > MaxPaths {
		return nil, invalid(fmt.Sprintf("%d paths given, at most %d are allowed", len(paths), MaxPaths))
	}
	stats := make([]Stat, 0, len(paths))
	for _, p := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		stats = append(stats, t.stat(p))
	}
	return stats, nil
}

func (t *Tree) stat(p string) Stat {
	s := Stat{Path: echo(p)}
	if s.Error = t.own(CheckPath(p)); s.Error != nil {
		return s
	}
	if t.top(p) {
		s.Kind = Directory
		return s
	}
	info, err := t.lstat(p)
	if s.Error = t.own(err); s.Error != nil {
		return s
	}
	s.Kind, s.Modified = kindOf(info), info.ModTime().UTC()
	switch s.Kind {
	case File:
		s.Size, s.Executable = info.Size(), info.Mode()&0o111 != 0
	case Link:
		target, err := t.follow(p)
		if s.TargetError = t.own(err); s.TargetError == nil {
			s.Target = kindOf(target)
		}
	}
	return s
}

func (t *Tree) follow(p string) (fs.FileInfo, error) {
	root, rel, err := t.resolve(p)
	if err != nil {
		return nil, err
	}
	return root.Stat(rel)
}

// own is explain for errors that cannot be a context's.
func (t *Tree) own(err error) *Error {
	if err == nil {
		return nil
	}
	var own *Error
	if errors.As(t.explain(err), &own) {
		return own
	}
	return &Error{Unreadable, "the request was ended"}
}

// echo is p as an answer repeats it: refused paths may be of any length.
func echo(p string) string { return clip(p, MaxPathBytes) }
