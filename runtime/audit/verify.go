package audit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"

	"golang.org/x/mod/sumdb/note"
)

// Source is one file of a log.
type Source struct {
	Name string // for messages
	io.Reader
}

// VerifyOptions say what a log is compared with. The zero value compares it
// with nothing but itself.
type VerifyOptions struct {
	// Heads is what a HeadSink kept, nil for none. Keys are then the verifier
	// keys of those who may have signed (<name>+<hash>+<key>), old ones too.
	Heads io.Reader
	Keys  []string
	// From is the number of the first record, where earlier files were
	// removed; zero is 1.
	From uint64
}

// Report is what is known of a log in which nothing is wrong.
type Report struct {
	Log         string // its id
	First, Last uint64 // records
	// Signed is the last record that a signed head vouches for, 0 without
	// heads: all up to it is as it was written.
	Signed uint64
	// Unreadable counts texts among the heads that are no head, or that none
	// of the keys has signed.
	Unreadable int
}

// String is the report in a line.
func (r Report) String() string {
	text := fmt.Sprintf("records %d to %d of log %s: ", r.First, r.Last, r.Log)
	switch r.Signed {
	case 0:
		return text + "consistent, not authenticated"
	case r.Last:
		return text + "authenticated"
	}
	return text + fmt.Sprintf("authenticated up to record %d, and consistent from there", r.Signed)
}

// BadRecord is the error of a log that was changed.
type BadRecord struct {
	// Seq is the first record that is not as it was written: changed, moved,
	// or missing. Where only a signed head tells, it is the first one that the
	// change may have begun at.
	Seq  uint64
	File string
	Line int // of that file, from 1; 0 at the end of all
	What string
}

func (e *BadRecord) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("audit: record %d: %s", e.Seq, e.What)
	}
	return fmt.Sprintf("audit: %s:%d: record %d: %s", e.File, e.Line, e.Seq, e.What)
}

// Verify reads the files of one log, in the order in which they were written,
// in memory that does not depend on their size. Its error is a *BadRecord
// where the log is wrong.
func Verify(files []Source, o VerifyOptions) (Report, error) {
	v, err := newVerification(o)
	if err != nil {
		return Report{}, err
	}
	for _, f := range files {
		if err := v.file(f); err != nil {
			return Report{}, err
		}
	}
	return v.finish()
}

// VerifyLines is Verify for records that a Chain sealed and a database keeps,
// in their order: each is one line, its end included. The chain has the id log.
// An error among them ends it.
func VerifyLines(log string, lines iter.Seq2[[]byte, error], o VerifyOptions) (Report, error) {
	v, err := newVerification(o)
	if err != nil {
		return Report{}, err
	}
	if v.report.Log = log; v.heads != nil && v.heads.log != log {
		return Report{}, fmt.Errorf("audit: the heads are of log %s, and the records of log %s", v.heads.log, log)
	}
	bad := func(what string) error { return &BadRecord{Seq: v.next, What: what} }
	for line, err := range lines {
		if err != nil {
			return Report{}, err
		}
		if len(line) > maxLine {
			return Report{}, bad("it is longer than any record")
		}
		if err := v.line(line, v.next == 1, bad); err != nil {
			return Report{}, err
		}
	}
	return v.finish()
}

func newVerification(o VerifyOptions) (*verification, error) {
	v := &verification{next: max(o.From, 1)}
	v.report.First = v.next
	if o.Heads == nil {
		return v, nil
	}
	var list []note.Verifier
	for _, key := range o.Keys {
		verifier, err := note.NewVerifier(key)
		if err != nil {
			return nil, fmt.Errorf("audit: verifier key: %w", err)
		}
		list = append(list, verifier)
	}
	var err error
	if v.heads, err = readHeads(o.Heads, note.VerifierList(list...)); err != nil {
		return nil, err
	}
	v.report.Unreadable = v.heads.unreadable
	return v, nil
}

// verification is the state between two records.
type verification struct {
	heads  *heads
	next   uint64 // the number that comes next
	prev   digest
	begun  bool
	report Report
}

func (v *verification) file(f Source) error {
	in := bufio.NewReaderSize(f, maxLine)
	for number := 1; ; number++ {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		bad := func(what string) error {
			return &BadRecord{Seq: v.next, File: f.Name, Line: number, What: what}
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return bad("it is longer than any record")
		case errors.Is(err, io.EOF):
			return bad("it is not complete")
		case err != nil:
			return fmt.Errorf("audit: %s: %w", f.Name, err)
		}
		if err := v.line(line, number == 1, bad); err != nil {
			return err
		}
	}
}

// line verifies the next record, which has to say of which log it is if a file
// begins with it.
func (v *verification) line(line []byte, begins bool, bad func(string) error) error {
	r, err := readRecord(line)
	switch {
	case err != nil:
		return bad(err.Error())
	case r.seq > v.next:
		return bad(fmt.Sprintf("it is missing: record %d stands in its place", r.seq))
	case r.seq < v.next:
		return bad(fmt.Sprintf("record %d stands in its place, a second time", r.seq))
	case v.begun && r.prev != v.prev, !v.begun && r.seq == 1 && r.prev != digest{}:
		return bad(fmt.Sprintf("it does not follow record %d as it stands here: one of the two was changed", v.next-1))
	case begins && r.event != eventOpen:
		return bad("a file begins with it, and it does not say of which log")
	case r.log != "" && v.report.Log != "" && r.log != v.report.Log:
		return bad("it is of another log")
	}
	if v.heads != nil && r.log != "" && r.log != v.heads.log {
		return fmt.Errorf("audit: the heads are of log %s, and the records of log %s", v.heads.log, r.log)
	}
	if err := v.signed(r, bad); err != nil {
		return err
	}
	if r.log != "" {
		v.report.Log = r.log
	}
	v.prev, v.begun = r.own, true
	v.next++
	return nil
}

// signed compares a record with what heads say of it, and of the one before
// the first.
func (v *verification) signed(r record, bad func(string) error) error {
	if v.heads == nil {
		return nil
	}
	if before, ok := v.heads.by[r.seq-1]; ok && !v.begun && before != r.prev {
		return bad("it does not follow what was signed")
	}
	known, ok := v.heads.by[r.seq]
	if !ok {
		return nil
	}
	if known != r.own {
		since := max(v.report.Signed+1, v.report.First)
		err := bad(fmt.Sprintf("what was signed of record %d is not what stands there: one of records %d to %d was changed", r.seq, since, r.seq))
		err.(*BadRecord).Seq = since
		return err
	}
	v.report.Signed = r.seq
	return nil
}

func (v *verification) finish() (Report, error) {
	if !v.begun {
		return Report{}, &BadRecord{Seq: v.next, What: "there is no record"}
	}
	v.report.Last = v.next - 1
	if v.heads == nil {
		return v.report, nil
	}
	if v.heads.last > v.report.Last {
		return Report{}, &BadRecord{Seq: v.next, What: fmt.Sprintf("it is missing: %d records were signed", v.heads.last)}
	}
	return v.report, nil
}
