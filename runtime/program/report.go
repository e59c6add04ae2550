package program

import (
	"fmt"
	"math"

	"github.com/capgen/capgen/runtime/canon"
	"github.com/capgen/capgen/runtime/fault"
)

// Bounds of a Report.
const (
	MaxProblems = 20
	MaxReached  = 1000
	// MaxReportBytes and ReportDepth bound its wire encoding.
	MaxReportBytes = 1 << 20
	ReportDepth    = 2 + fault.Depth
)

// Report is what a check found in a program that did not run.
type Report struct {
	// Problems that would end the program, in the order of the source where
	// they have a place in it; at most MaxProblems.
	Problems []*fault.Fault
	// Reached are the capabilities that the program names, each at the first
	// place, in the order of the source; at most MaxReached.
	Reached []Reached
}

// Reached is a capability, by its id, that a program names.
type Reached struct {
	ID           string
	Line, Column int
}

// Wire is the report's encoding.
func (r *Report) Wire() []byte {
	w := canon.NewWireWriter(nil)
	w.BeginArray(2, 2, 2)
	w.Element(0)
	w.BeginArray(len(r.Problems), 0, MaxProblems)
	for i, f := range r.Problems {
		w.Element(i)
		f.Encode(w)
	}
	w.EndArray()
	w.Element(1)
	w.BeginArray(len(r.Reached), 0, MaxReached)
	for i, u := range r.Reached {
		w.Element(i)
		w.BeginArray(3, 3, 3)
		w.Element(0).String(u.ID, 0, math.MaxInt)
		w.Element(1).Int(int64(u.Line), 0, math.MaxInt32)
		w.Element(2).Int(int64(u.Column), 0, math.MaxInt32)
		w.EndArray()
	}
	w.EndArray()
	w.EndArray()
	return w.Bytes()
}

// ReadReport reads what Wire wrote, or a hostile worker.
func ReadReport(wire []byte) (*Report, error) {
	if len(wire) > MaxReportBytes {
		return nil, fmt.Errorf("program: a report of %d bytes", len(wire))
	}
	r := canon.NewWireReader(wire, ReportDepth)
	out := &Report{}
	r.BeginArray(2, 2)
	if r.NextElement() {
		r.BeginArray(0, MaxProblems)
		for r.NextElement() {
			f := new(fault.Fault)
			if f.Decode(r) != nil {
				break
			}
			out.Problems = append(out.Problems, f)
		}
	}
	if r.NextElement() {
		r.BeginArray(0, MaxReached)
		for r.NextElement() {
			out.Reached = append(out.Reached, readReached(r))
		}
	}
	r.NextElement()
	if err := r.End(); err != nil {
		return nil, fmt.Errorf("program: a report: %w", err)
	}
	return out, nil
}

func readReached(r *canon.Reader) (u Reached) {
	r.BeginArray(3, 3)
	for i := 0; r.NextElement(); i++ {
		switch i {
		case 0:
			u.ID = r.String(0, 256)
		case 1:
			u.Line = int(r.Int(0, math.MaxInt32))
		default:
			u.Column = int(r.Int(0, math.MaxInt32))
		}
	}
	return u
}
