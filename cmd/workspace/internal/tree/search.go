package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// Bounds of searches.
const (
	// MaxMatches bounds SearchRequest.Limit and PerFile.
	MaxMatches = 1000
	// MaxContext bounds SearchRequest.Context, in lines.
	MaxContext = 10
	// MaxPatternBytes bounds a pattern.
	MaxPatternBytes = 1000
	// maxInstructions bounds what a pattern compiles to: matching takes time
	// in proportion to it, and cannot be interrupted.
	maxInstructions = 2000
	// maxLine is how much of a line is searched, in bytes.
	maxLine = 16 << 10
	// maxSearchFile is the largest file that is searched.
	maxSearchFile = 8 << 20
	// maxSearchBytes bounds the files of one page; at least maxSearchFile.
	maxSearchBytes = 16 << 20
	// maxExcerpt bounds a line in an answer, in bytes.
	maxExcerpt = 400
)

// SearchRequest asks for lines that match an expression.
type SearchRequest struct {
	Scope
	// Pattern is an RE2 expression, matched against each line without its
	// line break; or a plain text if Literal.
	Pattern    string
	Literal    bool
	IgnoreCase bool
	// Context is how many lines are shown before and after: 0 to MaxContext.
	Context int
	// Limit is the most matches of one page, PerFile the most of one file on
	// all pages together: both 1 to MaxMatches.
	Limit, PerFile int
	// Cursor is Next of the page before, "" for the first page.
	Cursor string
}

// Match is one line that matches.
type Match struct {
	Path string
	// Line counts from 1. Column is where the first match in it begins,
	// counting characters from 1.
	Line, Column int64
	// Text is the line; of a long line an excerpt around the match. Before and
	// After are the lines around it, cut where they are long.
	Text          string
	Before, After []string
	// Cut: Text is an excerpt.
	Cut bool
}

// SearchPage is one page of matches, by path and line.
type SearchPage struct {
	Matches []Match
	// Problems are places that could not be searched, or not wholly.
	Problems []Problem
	// Files were searched, Binary ones passed over, on this page.
	Files, Binary int64
	// Next is the cursor of the next page, "" after the last one. A page may
	// be empty and not be the last.
	Next string
}

// searcher fills one page.
type searcher struct {
	t    *Tree
	r    SearchRequest
	re   *regexp.Regexp
	page SearchPage
	left budget
	// bytes that this page may still search.
	bytes int64
	// at is where the page before stopped within a file.
	at position
	// end is where this page stops within a file.
	end position
}

// Search searches files in the order of their paths. Links are not followed.
// An error is an *Error or ctx's.
func (t *Tree) Search(ctx context.Context, r SearchRequest) (SearchPage, error) {
	if err := r.check(); err != nil {
		return SearchPage{}, err
	}
	re, err := compilePattern(r.Pattern, r.Literal, r.IgnoreCase)
	if err != nil {
		return SearchPage{}, err
	}
	request := identity("search", r.Scope, r.Pattern, r.Literal, r.IgnoreCase, r.Context, r.PerFile)
	at, err := parseCursor(r.Cursor, request)
	if err != nil {
		return SearchPage{}, err
	}
	w, err := t.newWalker(r.Scope, at.After)
	if err != nil {
		return SearchPage{}, err
	}
	s := &searcher{t: t, r: r, re: re, left: maxAnswerBytes, bytes: maxSearchBytes, at: at}
	w.entry = func(e Entry) (step, error) { return s.entry(ctx, e) }
	w.problem = s.left.collect(&s.page.Problems)
	if err := s.walk(ctx, w); err != nil {
		return SearchPage{}, err
	}
	if w.stopped {
		s.end.After = w.after
		s.page.Next = s.end.cursor(request)
	}
	return s.page, nil
}

// walk goes through a directory, or the one file that the request names.
func (s *searcher) walk(ctx context.Context, w *walker) error {
	p := s.r.Path
	if s.t.top(p) {
		return w.walk(ctx)
	}
	info, err := s.t.follow(p)
	if err != nil {
		return s.t.explain(err)
	}
	if !info.Mode().IsRegular() {
		return w.walk(ctx)
	}
	if w.exclude.match(p) || len(w.include) > 0 && !w.include.match(p) {
		return nil
	}
	next, err := s.entry(ctx, Entry{Path: p, Kind: File, Size: info.Size()})
	w.stopped = next != goOn
	return err
}

func (r SearchRequest) check() error {
	switch {
	case r.Context < 0 || r.Context > MaxContext:
		return invalid(fmt.Sprintf("context must be between 0 and %d", MaxContext))
	case r.Limit < 1 || r.Limit > MaxMatches:
		return invalid(fmt.Sprintf("the limit of matches must be between 1 and %d", MaxMatches))
	case r.PerFile < 1 || r.PerFile > MaxMatches:
		return invalid(fmt.Sprintf("the limit of matches per file must be between 1 and %d", MaxMatches))
	}
	return nil
}

func compilePattern(pattern string, literal, ignoreCase bool) (*regexp.Regexp, error) {
	switch {
	case pattern == "":
		return nil, invalid("the pattern is empty")
	case len(pattern) > MaxPatternBytes:
		return nil, invalid(fmt.Sprintf("the pattern is longer than %d bytes", MaxPatternBytes))
	}
	if literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	if ignoreCase {
		pattern = "(?i:" + pattern + ")"
	}
	tooLarge := invalid(fmt.Sprintf("the pattern compiles to more than %d instructions; make its repetitions smaller", maxInstructions))
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		var bad *syntax.Error
		if errors.As(err, &bad) {
			message := fmt.Sprintf("the pattern is no RE2 expression: %s: %q", bad.Code, clip(bad.Expr, 60))
			if bad.Code == syntax.ErrInvalidPerlOp || bad.Code == syntax.ErrInvalidEscape {
				message += "; RE2 has no lookaround and no backreferences"
			}
			return nil, invalid(message)
		}
		return nil, invalid("the pattern is no RE2 expression")
	}
	if needsNewline(tree) {
		return nil, invalid("the pattern holds a line break, and each line is matched alone; search for one line with context, or read the files")
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil || len(program.Inst) > maxInstructions {
		return nil, tooLarge
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, tooLarge
	}
	return re, nil
}

// needsNewline tells whether nothing without a line break can match: an answer
// without matches would be misleading.
func needsNewline(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpCharClass:
		return len(re.Rune) == 2 && re.Rune[0] == '\n' && re.Rune[1] == '\n'
	case syntax.OpConcat:
		return slices.ContainsFunc(re.Sub, needsNewline)
	case syntax.OpCapture, syntax.OpPlus:
		return needsNewline(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !needsNewline(sub) {
				return false
			}
		}
		return true
	case syntax.OpRepeat:
		return re.Min > 0 && needsNewline(re.Sub[0])
	}
	return false
}

// entry searches one entry of the walk.
func (s *searcher) entry(ctx context.Context, e Entry) (step, error) {
	if e.Kind == Unnameable {
		return s.problem(e.Path, Unreadable, "the path cannot be named, so it is not searched"), nil
	}
	if e.Kind != File {
		return goOn, nil
	}
	if s.bytes < maxSearchBytes && s.bytes < min(e.Size, maxSearchFile) {
		return stopBefore, nil
	}
	data, err := s.load(e.Path)
	if err != nil {
		problem, err := s.t.asProblem(e.Path, err)
		if err != nil {
			return goOn, err
		}
		return s.problem(problem.Path, problem.Code, problem.Message), nil
	}
	s.bytes -= int64(len(data))
	if binaryData(data) {
		s.page.Binary++
		return goOn, nil
	}
	var done int64
	if s.at.File == e.Path {
		done = s.at.Line
	}
	next, err := s.file(ctx, e.Path, data, done)
	if next == goOn {
		s.page.Files++
	}
	return next, err
}

func (s *searcher) load(p string) (data []byte, err error) {
	f, info, err := s.t.openFile(p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, more, err := readAll(f, info.Size(), maxSearchFile)
	if more {
		return nil, &Error{TooLarge, fmt.Sprintf("files of more than %d bytes are not searched", maxSearchFile)}
	}
	return data, err
}

func (s *searcher) problem(path string, code Code, message string) step {
	return s.left.collect(&s.page.Problems)(Problem{Path: path, Error: Error{code, message}})
}

// file searches the lines of a text, of which those up to done are on pages
// before. stopBefore means that the page is full; the file goes on with the
// next one.
func (s *searcher) file(ctx context.Context, p string, data []byte, done int64) (step, error) {
	lines := lineReader{data: data, context: s.r.Context}
	matches, long := 0, int64(0)
	for lines.next() {
		if err := ctx.Err(); err != nil {
			return goOn, err
		}
		line := lines.line
		if len(line) > maxLine {
			if long == 0 {
				long = lines.number
			}
			line = line[:wholeRunes(line[:maxLine])]
		}
		found := s.re.FindIndex(line)
		if found == nil {
			continue
		}
		if matches++; matches > s.r.PerFile {
			message := fmt.Sprintf("only the first %d matches in this file are listed", s.r.PerFile)
			if s.problem(p, MoreMatches, message) != goOn {
				return s.stop(p, lines.number-1), nil
			}
			break
		}
		if lines.number <= done {
			continue
		}
		match := lines.match(p, found[0])
		if len(s.page.Matches) == s.r.Limit || !s.left.take(match.bytes()) {
			return s.stop(p, lines.number-1), nil
		}
		s.page.Matches = append(s.page.Matches, match)
	}
	if long > 0 {
		message := fmt.Sprintf("only the first %d bytes of line %d and other long lines were searched", maxLine, long)
		if s.problem(p, LongLine, message) != goOn {
			return s.stop(p, lines.number), nil
		}
	}
	return goOn, nil
}

// stop ends the page within the file p, of which the lines up to done are
// dealt with.
func (s *searcher) stop(p string, done int64) step {
	s.end.File, s.end.Line = p, done
	return stopBefore
}

func (m Match) bytes() int {
	n := len(m.Path) + len(m.Text) + entryBytes
	for _, around := range [...][]string{m.Before, m.After} {
		for _, line := range around {
			n += len(line) + 8
		}
	}
	return n
}

// lineReader goes through the lines of a text.
type lineReader struct {
	data    []byte
	context int
	// number of the line, from 1.
	number int64
	line   []byte
	// start of the line and of the one after it, in data.
	start, end int
}

func (l *lineReader) next() bool {
	if l.end == len(l.data) {
		return false
	}
	l.number++
	l.start = l.end
	l.line, l.end = cutLine(l.data, l.start)
	return true
}

// cutLine returns the line at start without its line break, and where the
// next one begins.
func cutLine(data []byte, start int) (line []byte, end int) {
	end = len(data)
	line = data[start:]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line, end = line[:i], start+i+1
	}
	return bytes.TrimSuffix(line, []byte{'\r'}), end
}

// match describes a match at a byte of the line.
func (l *lineReader) match(p string, at int) Match {
	m := Match{Path: p, Line: l.number, Column: int64(utf8.RuneCount(l.line[:at])) + 1}
	m.Text, m.Cut = excerpt(l.line, at)
	for start := l.start; start > 0 && len(m.Before) < l.context; {
		start = bytes.LastIndexByte(l.data[:start-1], '\n') + 1
		line, _ := cutLine(l.data, start)
		m.Before = append(m.Before, clip(string(line[:min(len(line), maxExcerpt+utf8.UTFMax)]), maxExcerpt))
	}
	slices.Reverse(m.Before)
	for end := l.end; end < len(l.data) && len(m.After) < l.context; {
		var line []byte
		line, end = cutLine(l.data, end)
		m.After = append(m.After, clip(string(line[:min(len(line), maxExcerpt+utf8.UTFMax)]), maxExcerpt))
	}
	return m
}

// excerpt is line, or at most maxExcerpt bytes of it that begin a little
// before at.
func excerpt(line []byte, at int) (text string, cut bool) {
	if len(line) <= maxExcerpt {
		return string(line), false
	}
	if at > maxExcerpt/2 {
		line = line[at-maxExcerpt/4:]
		line = line[continuation(line):]
	}
	return clip(string(line[:min(len(line), maxExcerpt+utf8.UTFMax)]), maxExcerpt), true
}
