package worker

import (
	"github.com/capgen/capgen/runtime/binding"
	"github.com/capgen/capgen/runtime/fault"
	"github.com/capgen/capgen/runtime/program"
)

// warmUp is a program that takes the usual ways of the front end and the
// interpreter. A larger one takes longer, and the first program after it is no
// faster.
const warmUp = `def main():
    rows = [{"n": i} for i in range(2)]
    for row in rows:
        warm.up(text = "x")
    return {"n": len(rows), "text": str(rows)}
`

// warm runs that program, so that pages and tables are there before anybody
// waits for them. It answers as program.Run does, for a test: what went wrong
// here goes wrong again where it can be told.
func warm() (program.Result, *fault.Fault) {
	text := binding.Shape{Kind: binding.String, MaxLength: 100}
	c := binding.Capability{ID: "warm.up", Name: "warm.up", Output: text, Input: []binding.Field{{Name: "text", Shape: text, Required: true}}}
	table, err := binding.ParseTable(binding.EncodeTable([]binding.Entry{{Name: c.Name, ID: c.ID, Binding: string(c.AppendJSON(nil))}}))
	if err != nil {
		return program.Result{}, &fault.Fault{Class: fault.Internal, Message: err.Error()}
	}
	limits := program.Limits{Steps: 10_000, Calls: 10, Depth: 10, ValueBytes: 1 << 10, ResultBytes: 1 << 10, SourceBytes: 1 << 10, Parallel: 1}
	return program.Run(program.Program{Source: warmUp, Limits: limits}, table, warmCaller{})
}

// warmCaller answers what it is asked for: a text.
type warmCaller struct{}

func (warmCaller) Call(string, []uint32, []byte) (uint32, *fault.Fault) { return 1, nil }
func (warmCaller) Answer() (uint32, []byte, *fault.Fault)               { return 1, []byte{0xA1, 'x'}, nil }
func (warmCaller) Refused(string) *fault.Fault                          { return nil }
