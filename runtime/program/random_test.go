package program_test

import (
	"flag"
	"os"
	"testing"
)

// programs is a file that generate.py wrote; empty is the one that is kept.
var programs = flag.String("programs", "testdata/differential/random/programs.txt", "the random programs to compare with CPython's answers")

// TestRandomProgramsAnswerAsCPython runs what generate.py made: `make
// differential` makes more.
func TestRandomProgramsAnswerAsCPython(t *testing.T) {
	text, err := os.ReadFile(*programs)
	if err != nil {
		t.Fatal(err)
	}
	n := sameAnswers(t, string(text))
	t.Logf("%d programs", n)
}
