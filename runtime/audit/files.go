package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Files are audit-<number of the first record>.jsonl, with so many digits that
// their names sort as they were written.
const (
	namePrefix = "audit-"
	nameSuffix = ".jsonl"
)

func fileName(first uint64) string { return fmt.Sprintf("%s%016d%s", namePrefix, first, nameSuffix) }

// Files returns the paths of the files of the log in dir, in their order.
func Files(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), namePrefix) && strings.HasSuffix(e.Name(), nameSuffix) {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(out)
	return out, nil
}

// resume finds where the log ends, and opens the file to go on with.
func (l *Log) resume() error {
	files, err := Files(l.options.Dir)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return l.beginLog()
	}
	last := files[len(files)-1]
	end, err := readEnd(last)
	if err != nil {
		return err
	}
	if end.whole == 0 { // a crash when the file was begun
		if len(files) == 1 {
			return errors.Join(removeTorn(last), l.beginLog())
		}
		before, err := readEnd(files[len(files)-2])
		if err != nil {
			return err
		}
		if before.whole == 0 || before.whole != before.size {
			return fmt.Errorf("audit: %s is not complete, and is not the last file: see audit verify", files[len(files)-2])
		}
		if err := removeTorn(last); err != nil {
			return err
		}
		l.chain = before.chain
		if err := l.beginFile(); err != nil {
			return err
		}
		return l.tell(end.size)
	}
	l.chain, l.opened, l.size = end.chain, end.opened, end.whole
	if l.file, err = l.open(last, false); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if end.size != end.whole {
		if err := l.file.Truncate(end.whole); err != nil {
			return errors.Join(fmt.Errorf("audit: %s: %w", last, err), l.file.Close())
		}
	}
	l.signed, l.at = 0, time.Now()
	if err := l.append(eventOpen, l.opening); err != nil {
		return errors.Join(err, l.file.Close())
	}
	return l.tell(end.size - end.whole)
}

// tell records that bytes of a line without an end were cut off.
func (l *Log) tell(torn int64) error {
	if torn == 0 {
		return nil
	}
	l.options.Logger.Warn("audit: a line that a crash had left was cut off", "bytes", torn)
	if err := l.append(eventTorn, func(b *body) { b.number("bytes", uint64(torn)) }); err != nil {
		return errors.Join(err, l.file.Close())
	}
	return nil
}

// removeTorn removes a file without a record, so that it can be begun anew.
func removeTorn(path string) error {
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	return nil
}

// beginLog begins a log of its own.
func (l *Log) beginLog() error {
	l.chain = NewChain()
	l.at = time.Now()
	return l.beginFile()
}

// beginFile begins the file whose first record comes next.
func (l *Log) beginFile() error {
	path := filepath.Join(l.options.Dir, fileName(l.chain.Seq+1))
	f, err := l.open(path, true)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	l.file, l.size, l.opened = f, 0, time.Now()
	if err := l.append(eventOpen, l.opening); err != nil {
		return errors.Join(err, f.Close(), removeTorn(path))
	}
	return syncDir(l.options.Dir)
}

// opening is what a file, and each process that opens it, says of itself.
func (l *Log) opening(b *body) {
	b.text("log", l.chain.Log)
	b.text("key", l.options.Key.ID)
	if l.signer != nil {
		b.text("signer", l.signer.Name())
	}
}

// rotate goes on in another file. Where that fails, it goes on in this one.
func (l *Log) rotate() error {
	if err := l.sync(); err != nil {
		return err
	}
	file, size, opened := l.file, l.size, l.opened
	if err := l.beginFile(); err != nil {
		l.file, l.size, l.opened = file, size, opened
		return err
	}
	if err := file.Close(); err != nil {
		l.options.Logger.Error("audit: close", "error", err)
	}
	return nil
}

// fileEnd is what one file says of the chain.
type fileEnd struct {
	chain  Chain
	opened time.Time
	// size of the file, and of the whole lines in it.
	size, whole int64
}

// readEnd reads the first line and the last whole one of a file.
func readEnd(path string) (end fileEnd, err error) {
	wrong := func(err error) error { return fmt.Errorf("audit: %s: %w: see audit verify", path, err) }
	f, err := os.Open(path)
	if err != nil {
		return end, fmt.Errorf("audit: %w", err)
	}
	defer f.Close()
	if end.size, err = f.Seek(0, io.SeekEnd); err != nil {
		return end, wrong(err)
	}
	// A line that was cut off, and the one before it.
	from := max(0, end.size-2*maxLine)
	tail := make([]byte, end.size-from)
	if _, err := f.ReadAt(tail, from); err != nil {
		return end, wrong(err)
	}
	stop := bytes.LastIndexByte(tail, '\n') + 1
	if stop == 0 {
		if from > 0 {
			return end, wrong(errForm)
		}
		return end, nil
	}
	end.whole = from + int64(stop)
	start := bytes.LastIndexByte(tail[:stop-1], '\n') + 1
	last, err := readRecord(tail[start:stop])
	if err != nil {
		return end, wrong(err)
	}
	head := tail
	if from > 0 {
		head = make([]byte, maxLine)
		n, err := f.ReadAt(head, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return end, wrong(err)
		}
		head = head[:n]
	}
	first, err := readRecord(head[:bytes.IndexByte(head, '\n')+1])
	if err != nil || first.event != eventOpen {
		return end, wrong(errors.Join(errors.New("its first record"), err))
	}
	end.chain, end.opened = Chain{Log: first.log, Seq: last.seq, Hash: last.own}, first.at
	return end, nil
}
