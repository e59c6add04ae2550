package program_test

import (
	"testing"

	"github.com/capgen/capgen/runtime/program"
)

// TestDifferences runs the example of each difference that is kept: one that
// is none any more has to leave the list.
func TestDifferences(t *testing.T) {
	for _, d := range program.Differences() {
		t.Run(d.Construct, func(t *testing.T) {
			if d.CPython == "" || d.Here == "" || d.Reason == "" || d.ExampleCPython == d.ExampleHere {
				t.Error("the difference does not say what differs and why")
			}
			if got := answer(t, d.Example); !sameAnswer(got, d.ExampleHere) {
				t.Errorf("%s\n got  %s\n want %s", d.Example, got, d.ExampleHere)
			}
			if d.ExampleCPython != "" && sameAnswer(d.ExampleHere, d.ExampleCPython) {
				t.Errorf("CPython's answer %s is the same", d.ExampleCPython)
			}
		})
	}
}
