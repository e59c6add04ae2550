package tree

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Bounds of walks.
const (
	// MaxDepth is how many directories deep a walk goes.
	MaxDepth = 64
	// maxVisited bounds the entries that one page looks at, reported or not.
	maxVisited = 20_000
	// maxProblems bounds the problems of one page.
	maxProblems = 100
	// maxAnswerBytes bounds the texts of one page, well below what may cross
	// to a program.
	maxAnswerBytes = 512 << 10
	// entryBytes is what an entry, match or problem costs beside its texts.
	entryBytes = 64
)

// versionControl tells whether a walk skips a name unless told otherwise: it
// holds history, not the working tree.
func versionControl(name string) bool {
	switch name {
	case ".git", ".hg", ".jj", ".svn":
		return true
	}
	return false
}

// Scope says which part of the tree a walk sees.
type Scope struct {
	// Path of the directory to begin with; of a search it may be a file, which
	// is then all it sees, whatever its name.
	Path string
	// Include and Exclude are globs over whole paths. An entry is reported if
	// it matches any of Include, or Include is empty, and none of Exclude;
	// nothing below an excluded directory is looked at.
	Include, Exclude []string
	// Depth is how many levels below Path are seen: 1 to MaxDepth. 0 means all
	// of them, and that what lies deeper than MaxDepth is a problem.
	Depth int
	// VersionControl includes .git, .hg, .jj and .svn.
	VersionControl bool
}

// step is what a visitor wants next.
type step int

const (
	goOn step = iota
	// stopBefore ends the page; the entry belongs to the next one.
	stopBefore
)

// walker walks one page.
type walker struct {
	t                *Tree
	scope            Scope
	include, exclude globs
	// after is the last path that was dealt with, on this page or before.
	after   string
	visited int
	// latest is the entry reported last; what lies below it often follows.
	latest Entry
	// stopped: the page ended before the walk did.
	stopped bool

	entry   func(Entry) (step, error)
	problem func(Problem) step
}

func (t *Tree) newWalker(scope Scope, after string) (*walker, error) {
	if err := CheckPath(scope.Path); err != nil {
		return nil, err
	}
	if scope.Depth < 0 || scope.Depth > MaxDepth {
		return nil, invalid(fmt.Sprintf("depth must be between 1 and %d", MaxDepth))
	}
	for _, pattern := range scope.Include {
		if !globReaches(pattern, scope.Path) {
			return nil, invalid(fmt.Sprintf("glob %q matches nothing in the path %q: globs with / are matched from the top, so begin it with the path or **/", clip(pattern, 40), clip(scope.Path, 40)))
		}
	}
	include, err := compileGlobs(scope.Include)
	if err != nil {
		return nil, err
	}
	exclude, err := compileGlobs(scope.Exclude)
	if err != nil {
		return nil, err
	}
	return &walker{t: t, scope: scope, include: include, exclude: exclude, after: after}, nil
}

// walk goes through the scope. An error is about the directory it begins with,
// or ctx's.
func (w *walker) walk(ctx context.Context) error {
	return w.t.explainOrNil(w.directory(ctx, w.scope.Path, 1))
}

func (t *Tree) explainOrNil(err error) error {
	if err == nil {
		return nil
	}
	return t.explain(err)
}

// directory deals with everything in dir. An error other than ctx's means that
// dir itself cannot be read.
func (w *walker) directory(ctx context.Context, dir string, level int) error {
	bound, inclusive := lowerBound(dir, w.after)
	for {
		keys, err := w.t.readWindow(ctx, dir, bound, inclusive, level == w.scope.Depth, windowKeys(level))
		if err != nil {
			return err
		}
		for _, key := range keys.keys {
			if err := ctx.Err(); err != nil {
				return err
			}
			if name, below := strings.CutSuffix(key, "/"); below {
				err = w.below(ctx, join(dir, name), level)
			} else {
				err = w.one(join(dir, name))
			}
			if err != nil || w.stopped {
				return err
			}
		}
		if !keys.more {
			return nil
		}
		bound, inclusive = keys.keys[len(keys.keys)-1], false
	}
}

// one deals with the entry p itself.
func (w *walker) one(p string) error {
	if w.visited++; w.visited > maxVisited {
		w.stopped = true
		return nil
	}
	if w.skipped(p) || len(w.include) > 0 && !w.include.match(p) {
		w.after = p
		return nil
	}
	e, ok, err := w.t.entry(p)
	if err != nil {
		return w.report(p, p, err)
	}
	if !ok {
		w.after = p
		return nil
	}
	w.latest = e
	next, err := w.entry(e)
	if err != nil {
		return err
	}
	w.stopped = next != goOn
	if next != stopBefore {
		w.after = p
	}
	return nil
}

// below deals with what lies below p, if p is a directory.
func (w *walker) below(ctx context.Context, p string, level int) error {
	if w.skipped(p) || !nameable(p) {
		return nil
	}
	if w.latest.Path != p {
		// If p has gone or cannot be looked at, one has dealt with it.
		info, err := w.t.lstat(p)
		if err != nil || !info.IsDir() {
			return nil
		}
	} else if w.latest.Kind != Directory {
		return nil
	}
	if level >= MaxDepth {
		return w.report(p, p+doneSuffix, &Error{TooDeep, fmt.Sprintf("nothing more than %d directories deep is looked at", MaxDepth)})
	}
	err := w.directory(ctx, p, level+1)
	if err == nil || ctx.Err() != nil || w.stopped {
		return err
	}
	return w.report(p, p+doneSuffix, err)
}

// report hands on what is wrong with p and marks the place as dealt with.
func (w *walker) report(p, mark string, err error) error {
	problem, err := w.t.asProblem(p, err)
	if err != nil {
		return err
	}
	next := w.problem(problem)
	w.stopped = next != goOn
	if next != stopBefore {
		w.after = mark
	}
	return nil
}

func (w *walker) skipped(p string) bool {
	if !w.scope.VersionControl && versionControl(path.Base(p)) {
		return true
	}
	return w.exclude.match(p)
}

// WalkRequest asks for entries.
type WalkRequest struct {
	Scope
	// Kinds to report; none means all.
	Kinds []Kind
	// Limit is the most entries of one page: 1 to 5000.
	Limit int
	// Cursor is Next of the page before, "" for the first page.
	Cursor string
}

// MaxEntries bounds WalkRequest.Limit.
const MaxEntries = 5000

// WalkPage is one page of entries.
type WalkPage struct {
	Entries []Entry
	// Problems are places that could not be looked at.
	Problems []Problem
	// Next is the cursor of the next page, "" after the last one. A page may
	// be empty and not be the last.
	Next string
}

// Walk reports what lies below a directory, not itself. An error is an *Error
// or ctx's.
func (t *Tree) Walk(ctx context.Context, r WalkRequest) (WalkPage, error) {
	if r.Limit < 1 || r.Limit > MaxEntries {
		return WalkPage{}, invalid(fmt.Sprintf("limit must be between 1 and %d", MaxEntries))
	}
	request := identity("walk", r.Scope, r.Kinds)
	at, err := parseCursor(r.Cursor, request)
	if err != nil {
		return WalkPage{}, err
	}
	w, err := t.newWalker(r.Scope, at.After)
	if err != nil {
		return WalkPage{}, err
	}
	var page WalkPage
	left := budget(maxAnswerBytes)
	w.entry = func(e Entry) (step, error) {
		if len(r.Kinds) > 0 && !slices.Contains(r.Kinds, e.Kind) {
			return goOn, nil
		}
		if !left.take(len(e.Path)+entryBytes) || len(page.Entries) == r.Limit {
			return stopBefore, nil
		}
		page.Entries = append(page.Entries, e)
		return goOn, nil
	}
	w.problem = left.collect(&page.Problems)
	if err := w.walk(ctx); err != nil {
		return WalkPage{}, err
	}
	if w.stopped {
		page.Next = position{After: w.after}.cursor(request)
	}
	return page, nil
}

// budget is how many bytes a page may still grow by.
type budget int

// take spends n bytes, if they are left.
func (b *budget) take(n int) bool {
	if n > int(*b) {
		return false
	}
	*b -= budget(n)
	return true
}

// collect returns a walker's problem function that fills list.
func (b *budget) collect(list *[]Problem) func(Problem) step {
	return func(p Problem) step {
		if !b.take(len(p.Path)+len(p.Message)+entryBytes) || len(*list) == maxProblems {
			return stopBefore
		}
		*list = append(*list, p)
		return goOn
	}
}
