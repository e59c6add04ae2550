package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
)

// Bounds of reading.
const (
	// MaxTextBytes bounds ReadRequest.MaxBytes.
	MaxTextBytes = 512 << 10
	// maxLineScan bounds the bytes that one page reads to find lines by their
	// number.
	maxLineScan = 64 << 20
	// minRoom is the least room for a page's first text: enough for one whole
	// character behind the rest of another, so that every page gets on.
	minRoom = 8
)

// Range is a part of a file, in lines or in bytes, or all of it.
type Range struct {
	Path string
	// FirstLine and LastLine count from 1 and are both part of the range;
	// 0 means from the start, or to the end.
	FirstLine, LastLine int64
	// Offset is the first byte, counting from 0; Length is how many bytes,
	// 0 meaning all. A character that lies across an end is left out.
	Offset, Length int64
}

func (r Range) lines() bool { return r.FirstLine != 0 || r.LastLine != 0 }
func (r Range) bytes() bool { return r.Offset != 0 || r.Length != 0 }

func (r Range) check() error {
	if err := CheckPath(r.Path); err != nil {
		return err
	}
	switch {
	case r.FirstLine < 0 || r.LastLine < 0 || r.Offset < 0 || r.Length < 0:
		return invalid("a range may not be negative")
	case r.lines() && r.bytes():
		return invalid("a range is given in lines or in bytes, not in both")
	case r.LastLine != 0 && r.LastLine < r.FirstLine:
		return invalid("the last line of a range lies before its first")
	}
	return nil
}

// ReadRequest asks for texts.
type ReadRequest struct {
	// Ranges, at most MaxPaths.
	Ranges []Range
	// MaxBytes is the most bytes of text on one page: 1 to MaxTextBytes.
	MaxBytes int
	// Cursor is Next of the page before, "" for the first page.
	Cursor string
}

// Text is a range, or a piece of it that fitted a page.
type Text struct {
	Path string
	// Error is why there is no text, or nil.
	Error *Error
	// Binary: what was read holds a NUL byte or is not UTF-8; there is no
	// text.
	Binary bool
	Text   string
	// Size of the whole file, in bytes.
	Size int64
	// Offset of Text in the file, in bytes.
	Offset int64
	// FirstLine is the number of the line that Text begins in, counting from
	// 1; 0 if the range was given in bytes.
	FirstLine int64
	// Lines in Text; an unfinished last line counts.
	Lines int64
	// Complete: the range ends here. Otherwise the next page begins with the
	// piece that follows.
	Complete bool
}

// ReadPage is one page of texts, in the order of the request.
type ReadPage struct {
	Texts []Text
	// Next is the cursor of the next page, "" after the last one.
	Next string
}

// Read reads files. A range that does not fit what is left of a page begins
// the next one; only a range that does not fit a whole page is split, between
// lines where possible. An error is an *Error about the request or ctx's; what
// concerns one range is in its Text.
func (t *Tree) Read(ctx context.Context, r ReadRequest) (ReadPage, error) {
	if len(r.Ranges) > MaxPaths {
		return ReadPage{}, invalid(fmt.Sprintf("%d paths and ranges given, at most %d are allowed", len(r.Ranges), MaxPaths))
	}
	if r.MaxBytes < 1 || r.MaxBytes > MaxTextBytes {
		return ReadPage{}, invalid(fmt.Sprintf("max_bytes must be between 1 and %d", MaxTextBytes))
	}
	request := identity("read", r.Ranges)
	at, err := parseCursor(r.Cursor, request)
	if err != nil {
		return ReadPage{}, err
	}
	if at.Index > int64(len(r.Ranges)) {
		return ReadPage{}, invalid("the cursor lies behind the last range")
	}
	var page ReadPage
	left := &room{text: max(r.MaxBytes, minRoom), scan: maxLineScan, first: true}
	for i := int(at.Index); i < len(r.Ranges); i++ {
		if err := ctx.Err(); err != nil {
			return ReadPage{}, err
		}
		piece, fits, err := t.readPiece(ctx, r.Ranges[i], at, left)
		if err != nil {
			return ReadPage{}, err
		}
		if !fits {
			page.Next = position{Index: int64(i)}.cursor(request)
			return page, nil
		}
		page.Texts = append(page.Texts, piece.Text)
		if !piece.Complete {
			piece.next.Index = int64(i)
			page.Next = piece.next.cursor(request)
			return page, nil
		}
		left.text -= len(piece.Text.Text)
		left.first = false
		at = position{}
	}
	return page, nil
}

// room is what is left of a page.
type room struct {
	// text and scan are bytes to return, and to read in search of a line.
	text int
	scan int64
	// first: the page is still empty.
	first bool
}

// errFull says that a range should begin the next page.
var errFull = errors.New("tree: the page is full")

// piece is a Text and where the one after it begins.
type piece struct {
	Text
	next position
}

// readPiece reads what a page has room for. fits is false if the range should
// begin the next page; a page's first range always fits, in part.
func (t *Tree) readPiece(ctx context.Context, r Range, at position, left *room) (p piece, fits bool, err error) {
	p.Path, p.Complete = echo(r.Path), true
	if err = r.check(); err == nil {
		err = t.readRange(ctx, r, at, left, &p)
	}
	if err == nil {
		return p, true, nil
	}
	if errors.Is(err, errFull) {
		return piece{}, false, nil
	}
	problem, err := t.asProblem(r.Path, err)
	if err != nil {
		return piece{}, false, err
	}
	return piece{Text: Text{Path: p.Path, Error: &problem.Error, Complete: true}}, true, nil
}

func (t *Tree) readRange(ctx context.Context, r Range, at position, left *room, p *piece) (err error) {
	f, info, err := t.openFile(r.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	p.Size = info.Size()
	modified := info.ModTime().UnixNano()
	if at.Offset > 0 && (at.Size != p.Size || at.Modified != modified) {
		return &Error{Changed, "the file changed since the page before; read it again from its start"}
	}
	if at.Offset == 0 {
		if at, err = begin(ctx, f, r, left); err != nil {
			return err
		}
	}
	if _, err := f.Seek(at.Offset, io.SeekStart); err != nil {
		if at.Offset > p.Size {
			// Too far for the operating system is behind the end, too.
			p.fill(nil, false, r, at)
			return nil
		}
		return err
	}
	limit := int64(math.MaxInt64)
	if r.Length > 0 {
		limit = r.Length - (at.Offset - r.Offset)
	}
	data, more, err := readAll(io.LimitReader(f, limit), min(p.Size-at.Offset, limit), left.text)
	if err != nil {
		return err
	}
	if r.LastLine > 0 {
		if end, found := lineEnd(data, r.LastLine-at.Line+1); found {
			data, more = data[:end], false
		}
	}
	if more && !left.first {
		return errFull
	}
	p.fill(data, more, r, at)
	p.next.Size, p.next.Modified = p.Size, modified
	return nil
}

// begin is the position of the first byte of r.
func begin(ctx context.Context, f io.Reader, r Range, left *room) (position, error) {
	switch {
	case r.bytes():
		return position{Offset: r.Offset}, nil
	case r.FirstLine <= 1:
		return position{Line: 1}, nil
	}
	at := position{Line: 1}
	buffer := make([]byte, 64<<10)
	for left.scan > 0 {
		if err := ctx.Err(); err != nil {
			return position{}, err
		}
		n, err := f.Read(buffer)
		left.scan -= int64(n)
		end, found := lineEnd(buffer[:n], r.FirstLine-at.Line)
		at.Line += countNewlines(buffer[:end])
		at.Offset += int64(end)
		if found || err == io.EOF {
			return at, nil
		}
		if err != nil {
			return position{}, err
		}
	}
	if !left.first {
		return position{}, errFull
	}
	return position{}, &Error{TooLarge, fmt.Sprintf("the first line of the range lies more than %d bytes into the file; give the range in bytes", maxLineScan)}
}

// fill makes a Text of the bytes at a position.
func (p *piece) fill(data []byte, more bool, r Range, at position) {
	if r.bytes() && at.Offset == r.Offset && r.Offset > 0 {
		skip := continuation(data)
		data = data[skip:]
		at.Offset += int64(skip)
	}
	switch {
	case more:
		data = data[:cutPiece(data)]
	case r.Length > 0:
		data = data[:wholeRunes(data)]
	}
	p.Offset = at.Offset
	if p.Binary = binaryData(data) || more && len(data) == 0; p.Binary {
		return
	}
	p.Text.Text = string(data)
	p.FirstLine = at.Line
	p.Lines = countLines(data)
	p.Complete = !more
	if more {
		p.next = position{Offset: at.Offset + int64(len(data))}
		if at.Line > 0 {
			p.next.Line = at.Line + countNewlines(data)
		}
	}
}
